"""Looking at sessions: the text of `show`, `log`, `diff` and `sessions`."""

import json
from collections.abc import Mapping, Sequence
from typing import TextIO

from patch_agent.core import events as ev
from patch_agent.core.evidence import (
    FileRead,
    FilesChanged,
    FilesRestored,
    FileWritten,
    RestoreBegun,
    TestsRan,
    TreeObserved,
)
from patch_agent.core.messages import Json
from patch_agent.core.protocols import SessionInfo
from patch_agent.core.state import State, TestRun
from patch_agent.core.state_view import encode_state
from patch_agent.ui.safe import one_line, visible
from patch_agent.ui.summary import summary_text

_RESET, _BOLD, _RED, _GREEN, _CYAN = "\x1b[0m", "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[36m"
MAX_FIELD = 400


def show_text(state: State, result: Mapping[str, Json]) -> str:
    """The run in short."""
    parts = [f"task     {one_line(state.task, 300)}", f"model    {visible(state.model)}"]
    if state.baseline is not None:
        parts.append(f"before   {state.baseline.summary}")
    parts += [
        f"command  {one_line(item['command'], 200)}  ({one_line(item['summary'])})"
        for item in result["commands"]
    ]
    parts += [f"todo     [{item.status}] {one_line(item.text)}" for item in state.todo]
    parts += [
        f"undone   {one_line(', '.join(change.path for change in undone.changes), 300)}: "
        "taken back after the end below; patch redo makes it again"
        for undone in state.undone
    ]
    return "\n".join([*parts, summary_text(result)])


def log_text(records: Sequence[ev.Record]) -> str:
    """One line an event: its position, the step, what happened."""
    return "\n".join(
        f"e{record.seq:<4} s{record.step:<3} {record.node or '-':<4} {record.at[11:19]} "
        f"{type(record.event).__name__:<18} {describe(record.event)}".rstrip()
        for record in records
    )


def describe(event: ev.Event) -> str:
    """What an event says, in one line."""
    match event:
        case ev.SessionStarted(root=root, model=model):
            return f"{visible(model)} in {visible(root)}"
        case ev.UserPrompted(message=message) | ev.ModelReplied(message=message):
            return _message(message.text, [call.name for call in message.calls])
        case ev.DoneRefused(reasons=reasons):
            return one_line(" ".join(reasons))
        case ev.DecisionCompleted(trigger=trigger, actions=actions):
            taken = ", ".join(action.type for action in actions) or "nothing"
            return f"{trigger.type} {trigger.subject}: {taken}"
        case ev.ModelFailed(text=text):
            return one_line(text)
        case ev.TurnEnded(reason=reason, exit_code=code, text=text):
            return f"{reason} (exit {code}): {one_line(text)}"
        case _:
            return _describe_call(event) or _describe_evidence(event)


def _describe_call(event: ev.Event) -> str:
    match event:
        case ev.EffectIntended(tool=tool, call_id=call_id):
            return f"{call_id} {tool}"
        case ev.EffectSettled(tool=tool, call_id=call_id, summary=summary):
            return f"{call_id} {tool}: {one_line(summary)}"
        case ev.EffectUnknown(tool=tool, call_id=call_id, found=found):
            return f"{call_id} {tool}: {one_line(found)}"
        case ev.CallRejected(tool=tool, call_id=call_id, content=content):
            return f"{call_id} {tool}: {one_line(content)}"
        case ev.ApprovalRequested(question=question, preview=preview):
            return f"{one_line(question)} {one_line(preview)}"
        case ev.ApprovalDecided(approved=approved, by=by):
            return f"{'yes' if approved else 'no'}, by {one_line(by)}"
        case _:
            return ""


def _describe_evidence(event: ev.Event) -> str:
    match event:
        case FileRead(path=path, ranges=ranges) | FileWritten(path=path, ranges=ranges):
            spans = ", ".join(f"{span.first}-{span.last}" for span in ranges)
            return f"{visible(path)} lines {spans}"
        case FilesChanged(changes=changes, tree=tree):
            names = ", ".join(visible(change.path) for change in changes[:5])
            return f"{names} -> tree {tree[:12]}"
        case TreeObserved(tree=tree, moment=moment, changes=changes):
            by_others = f", {len(changes)} changed by someone else" if changes else ""
            return f"{moment}: tree {tree[:12]}{by_others}"
        case RestoreBegun(kind=kind, changes=changes) | FilesRestored(kind=kind, changes=changes):
            return f"{kind}: {one_line(', '.join(change.path for change in changes))}"
        case TestsRan(kind=kind):
            return f"{kind}: {TestRun(kind, event.step, event.tree, event.reports).summary}"
        case _:
            return ""


def _message(text: str, calls: Sequence[str]) -> str:
    return " ".join(
        part for part in (one_line(text), f"[{', '.join(calls)}]" if calls else "") if part
    )


def state_text(state: State) -> str:
    """Every field of a state on one line, long ones cut (the JSON form has them whole)."""
    lines = []
    for name, value in encode_state(state).items():
        text = visible(json.dumps(value, ensure_ascii=False))
        if len(text) > MAX_FIELD:
            text = f"{text[:MAX_FIELD]} [... {len(text) - MAX_FIELD} more characters]"
        lines.append(f"{name}: {text}")
    return "\n".join(lines)


def sessions_text(infos: Sequence[SessionInfo]) -> str:
    """One line a session, newest first."""
    return "\n".join(
        f"{info.session_id:<10} {info.started_at[:16].replace('T', ' ')}  "
        f"{_end_of(info):<22} {one_line(info.task, 80)}"
        for info in infos
    )


def _end_of(info: SessionInfo) -> str:
    if info.status == "running":
        return "running or cut off"
    return info.reason or info.status


def session_object(info: SessionInfo) -> dict[str, Json]:
    """A session as JSON."""
    return {
        "session": info.session_id,
        "root": info.root,
        "started_at": info.started_at,
        "task": info.task,
        "status": info.status,
        "reason": info.reason or None,
        "events": info.events,
    }


def wants_colour(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether a stream is a terminal that shows colours and nobody said no."""
    return stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def print_diff(data: bytes, stream: TextIO, colour: bool) -> None:
    """A diff: the bytes themselves in a pipe, made safe (and coloured) in a terminal."""
    if not stream.isatty():
        stream.flush()
        stream.buffer.write(data)
        stream.buffer.flush()
        return
    for line in visible(data.decode("utf-8", "replace").replace("\r\n", "\n")).splitlines():
        stream.write(f"{_coloured(line) if colour else line}\n")


def _coloured(line: str) -> str:
    if line.startswith(("diff ", "+++", "---", "index ")):
        return f"{_BOLD}{line}{_RESET}"
    for sign, code in (("+", _GREEN), ("-", _RED), ("@@", _CYAN)):
        if line.startswith(sign):
            return f"{code}{line}{_RESET}"
    return line
