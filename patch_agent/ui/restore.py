"""What undo and redo say: one line a file."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from patch_agent.core.messages import Json
from patch_agent.core.values import FileChange
from patch_agent.ui.safe import visible

_WORDS = {"added": "made again", "deleted": "removed", "modified": "restored"}


def _word(change: FileChange, merged: Collection[str]) -> str:
    if change.path in merged:
        return "merged with later edits"
    return _WORDS[change.kind]


@dataclass(frozen=True, slots=True)
class Shown:
    """What is said of an undo or redo. conflicts: (path, why)."""

    kind: str
    session_id: str
    changes: Sequence[FileChange]
    merged: Collection[str]
    conflicts: Sequence[tuple[str, str]]
    left_alone: Sequence[str]
    dry_run: bool


def restored_text(shown: Shown) -> str:
    """The list for people."""
    dry_run = " (dry run, nothing was written)" if shown.dry_run else ""
    lines = [f"{_word(c, shown.merged):<24} {visible(c.path)}" for c in shown.changes]
    lines += [f"{'CONFLICT':<24} {visible(path)}: {why}" for path, why in shown.conflicts]
    lines += [f"{'left alone (test output)':<24} {visible(path)}" for path in shown.left_alone]
    return "\n".join(
        [f"{shown.kind} {shown.session_id}{dry_run}", *(lines or ["the files are already so"])]
    )


def restored_object(shown: Shown) -> dict[str, Json]:
    """The same as JSON."""
    return {
        "schema_version": 1,
        "kind": shown.kind,
        "session": shown.session_id,
        "dry_run": shown.dry_run,
        "files": [{"path": c.path, "action": _word(c, shown.merged)} for c in shown.changes],
        "conflicts": [{"path": path, "why": why} for path, why in shown.conflicts],
        "left_alone": list(shown.left_alone),
    }
