"""Who has to be asked before a call acts. A pure function; text of a command never grants anything.

First form: reading and editing inside the repository is free (edits are snapshotted, hashed and
shown), the repository's code runs only on a person's word, and what plainly destroys or leaves the
machine needs a word of its own that no flag gives.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Literal

from patch_agent.core.messages import Json, ToolCall
from patch_agent.core.state import State
from patch_agent.core.values import EffectClass


@dataclass(frozen=True, slots=True)
class Ruling:
    """`ask`: a person's word is needed for exactly the content with this hash."""

    kind: Literal["allow", "ask", "denied"]
    about: Literal["tests", "command"] = "command"
    subject_hash: str = ""
    dangerous: bool = False
    why: str = ""


ALLOWED = Ruling("allow")


def subject_hash(*parts: Json) -> str:
    """SHA-256 of what a question is about, so that a yes covers this content only."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def rule_for_tests(state: State) -> Ruling:
    """Whether the test command of this session may run."""
    subject = subject_hash("tests", state.root, [list(argv) for argv in state.test_commands])
    return _unless_decided(state, "tests", Ruling("ask", "tests", subject))


def rule_for_call(state: State, call: ToolCall, effect: EffectClass, runs_tests: bool) -> Ruling:
    """Whether a valid call may act; `runs_tests`: it only runs the test command, or parts."""
    if runs_tests:
        return rule_for_tests(state)
    if effect in ("read", "probe"):
        return ALLOWED
    danger = find_danger(str((call.arguments or {}).get("command", "")))
    subject = subject_hash("call", call.id, call.name, call.arguments)
    ruling = Ruling("ask", "command", subject, dangerous=bool(danger), why=danger)
    return _unless_decided(state, call.id, ruling)


def _unless_decided(state: State, call_id: str, ruling: Ruling) -> Ruling:
    for decision in reversed(state.approvals):
        if decision.call_id == call_id and decision.subject_hash == ruling.subject_hash:
            return ALLOWED if decision.approved else Ruling("denied", ruling.about)
    return ruling


_START = r"(?:^|[\s;&|(`'\"/])"
_DANGERS: tuple[tuple[str, str], ...] = (
    (r"rm\s+(?:-\S*\s+)*-\S*[rR]\S*", "removes folders recursively"),
    (r"rm\s+(?:-\S*\s+)*--recursive", "removes folders recursively"),
    (r"find\b.*\s-delete\b", "deletes each file found"),
    (
        r"find\b.*\s-(?:exec|execdir|ok)\s+(?!(?:grep|head|wc|ls|cat|file|stat)\b)",
        "runs something for each file found",
    ),
    (r"xargs\b.*\brm\b", "deletes each file named"),
    (r"(?:\S*\.)?rmtree\b", "removes folders recursively"),
    (r"git\b.*\brm\b.*\s-\w*r", "removes folders recursively"),
    (r"rsync\b.*--delete", "deletes what is not in a copy"),
    (r"\s*(?:\S*/)?(?:ba|da|z|k)?sh\s*$", "runs a text as a program"),
    (r"mv\b.*\s/dev/null", "throws files away"),
    (r"git\b.*\bpush\b", "sends commits to another machine"),
    (r"git\b.*\b(?:reset\s+.*--(?:hard|merge|keep)|clean|stash|restore)\b", "drops work in git"),
    (r"git\b.*\bcheckout\b.*(?:\s--\s|\s-f\b|\s\.(?:\s|$))", "drops work in git"),
    (r"git\b.*\b(?:filter-branch|reflog\s+(?:expire|delete)|gc|prune)\b", "drops history in git"),
    (r"git\b.*\b(?:branch|tag)\b.*\s-\w*[dD]", "drops history in git"),
    (r"git\b.*\bupdate-ref\b.*\s-d", "drops history in git"),
    (r"git\b.*\bcommit\b.*(?:--no-verify|\s-\w*n)", "skips commit hooks"),
    (r"(?:sudo|doas|su)\b", "takes another user's rights"),
    (r"(?:curl|wget|nc|ncat|netcat|telnet|ftp|sftp|ssh|scp|rsync)\b", "reaches other machines"),
    (r"(?:npm|pnpm|yarn|cargo|poetry|uv|flit|hatch)\s+publish\b", "publishes a package"),
    (r"twine\s+upload\b", "publishes a package"),
    (r"(?:docker|podman)\s+(?:push|login)\b", "publishes an image"),
    (r"gh\b", "acts on a code forge"),
    (r"(?:pkill|killall)\b", "ends processes by name"),
    (r"kill\s+(?:-\S+\s+)*-1\b", "ends all processes"),
    (r"(?:mkfs\S*|shutdown|reboot|halt|poweroff|wipefs|shred)\b", "harms the system"),
    (r"dd\b.*\bof=", "writes raw data"),
    (r"(?:chmod|chown)\s+(?:-\S+\s+)*-\S*R", "changes rights recursively"),
)
_COMPILED = tuple((re.compile(_START + text, re.DOTALL), why) for text, why in _DANGERS)


def find_danger(command: str) -> str:
    """What a shell command plainly destroys or sends away; "" when nothing is recognised.

    A recognised danger only adds a question. Nothing is ever allowed because none was recognised.
    """
    flat = " ".join(command.replace("\\\n", " ").split())
    # `\rm`, `"rm"` and `r''m` are rm to a shell.
    bare = re.sub(r"[\\'\"]", "", flat)
    for pattern, why in _COMPILED:
        if pattern.search(flat) or pattern.search(bare):
            return why
    return ""
