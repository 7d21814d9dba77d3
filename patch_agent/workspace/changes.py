"""Reading what git says of two trees."""

import os

from patch_agent.core.values import ChangeKind, FileChange

_KINDS: dict[str, ChangeKind] = {"A": "added", "D": "deleted"}


def parse_raw(raw: bytes) -> tuple[FileChange, ...]:
    """The changes of a NUL-separated `diff-tree --raw` without renames."""
    parts = raw.split(b"\x00")
    changes = []
    for head, name in zip(parts[::2], parts[1::2], strict=False):
        if head.startswith(b":"):
            changes.append(_change(head[1:].decode().split(), os.fsdecode(name)))
    return tuple(changes)


def _change(head: list[str], path: str) -> FileChange:
    before_mode, after_mode, before, after, status = head
    kind = _KINDS.get(status[:1], "modified")
    return FileChange(
        path=path,
        kind=kind,
        before=None if kind == "added" else before,
        after=None if kind == "deleted" else after,
        before_mode="" if kind == "added" else before_mode,
        after_mode="" if kind == "deleted" else after_mode,
    )
