"""The edit guard: a file may be changed only in the version that the model has seen, and whole
files are not replaced by texts that leave parts of them out."""

import re

from patch_agent.core.errors import ToolError
from patch_agent.core.state import FileSeen, State
from patch_agent.workspace.files import content_hash

_COMMENT = re.compile(r"\s*(#|//|/\*|\{/\*|<!--|--|;|%|\.\.\.|\u2026)")
_PART = re.compile(r"\b(rest|remaining|remainder|existing|previous|other|unchanged)\b", re.I)
_LEFT_OUT = re.compile(
    r"\.\.\.|\u2026|\b(unchanged|remains?|stays?|the same|as before|omitted)\b", re.I
)


def check_seen(state: State, relative: str, data: bytes) -> FileSeen:
    """What the model knows of the file. Raises ToolError when it never read it or it changed."""
    seen = state.files_read.get(relative)
    if seen is None:
        raise ToolError(
            f"{relative} was not read in this session, so nothing was changed. "
            f"Read it first with read_file, then edit it."
        )
    if seen.sha256 != content_hash(data):
        raise ToolError(
            f"{relative} changed on disk since you read it, so nothing was changed. "
            f"Read it again with read_file, then send the edit for the new text."
        )
    return seen


def check_omissions(before: str, after: str) -> None:
    """Raises ToolError when a shorter text has a new comment such as `# ... rest unchanged`."""
    if after.count("\n") >= before.count("\n"):
        return
    known = {line.strip() for line in before.split("\n")}
    for number, line in enumerate(after.split("\n"), 1):
        marks = (_COMMENT.match(line), _PART.search(line), _LEFT_OUT.search(line))
        if all(marks) and line.strip() not in known:
            raise ToolError(
                f"Line {number} of the content ({line.strip()[:80]!r}) seems to stand for text "
                "that is left out, so nothing was written: it would be lost. Use edit_file for a "
                "part of the file, or send the whole text."
            )
