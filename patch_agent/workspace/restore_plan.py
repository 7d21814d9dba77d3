"""What undo or redo would do to each path: exact where the file is as the run left it, else a
three-way merge that is clean, else a conflict with a name. Nothing is written here."""

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from patch_agent.core.values import ChangeKind, FileChange
from patch_agent.workspace.git import GitCall, git_result
from patch_agent.workspace.trees import Entry, Trees

LINK, REPOSITORY = "120000", "160000"


@dataclass(frozen=True, slots=True)
class Conflict:
    """A path that cannot be restored without loss, and why."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """changes: from what is there to what will be there. merged: paths that keep later edits."""

    changes: tuple[FileChange, ...] = ()
    merged: frozenset[str] = frozenset()
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True, slots=True)
class _Value:
    """What a path has: (mode, blob), or nothing; `merged`: it is the outcome of a merge."""

    entry: Entry | None
    merged: bool = False


class _Refused(Exception):
    """The path is a conflict; the text says why."""


def plan_restore(
    trees: Trees,
    root: Path,
    current: str,
    taken: Sequence[FileChange],
    *,
    finishing: bool = False,
) -> Plan:
    """Take the changes back, the last one first, from what the tree `current` has.

    finishing: after a cut, when a path with nothing there may be half-way (a link is removed
    before a file takes its place), or was set aside by the user: it is no conflict then. Raises
    StoreError when bytes that are needed are missing.
    """
    there = trees.entries(current)
    changes: list[FileChange] = []
    merged: set[str] = set()
    conflicts: list[Conflict] = []
    for path, steps in _by_path(taken).items():
        before = there.get(path)
        try:
            value = _Value(before)
            for step in steps:
                if finishing and value.entry is None:
                    value = _Value(_entry(step.before_mode, step.before))
                else:
                    value = _take_back(trees, value, step)
            if value.entry == before:
                continue
            permissions = next((s.permissions for s in steps if s.permissions is not None), None)
            changes.append(_change(path, before, value.entry, permissions))
            if value.merged:
                merged.add(path)
        except _Refused as refused:
            conflicts.append(Conflict(path, str(refused)))
    # Missing bytes are an error now, before anything is listed, recorded or written.
    trees.read_all(c.after for c in changes if c.after is not None)
    removed = {change.path for change in changes if change.after is None}
    for change in changes:
        why = _in_the_way(root, change, removed)
        if why:
            conflicts.append(Conflict(change.path, why))
    return Plan(tuple(changes), frozenset(merged), tuple(conflicts))


def reversed_changes(changes: Sequence[FileChange]) -> tuple[FileChange, ...]:
    """The same changes in the other direction."""
    return tuple(
        _change(c.path, _entry(c.after_mode, c.after), _entry(c.before_mode, c.before), None)
        for c in changes
    )


def _by_path(taken: Sequence[FileChange]) -> dict[str, list[FileChange]]:
    steps: dict[str, list[FileChange]] = {}
    for change in reversed(taken):
        known = steps.setdefault(change.path, [])
        newer = known[-1] if known else None
        if newer is not None and _same(newer.before, newer.before_mode, change):
            known[-1] = _change(
                change.path,
                _entry(change.before_mode, change.before),
                _entry(newer.after_mode, newer.after),
                newer.permissions if newer.permissions is not None else change.permissions,
            )
        else:
            known.append(change)
    return steps


def _same(blob: str | None, mode: str, older: FileChange) -> bool:
    return (blob, mode) == (older.after, older.after_mode)


def _entry(mode: str, blob: str | None) -> Entry | None:
    return None if blob is None else (mode, blob)


def _change(
    path: str, before: Entry | None, after: Entry | None, permissions: int | None
) -> FileChange:
    kind: ChangeKind = "added" if before is None else "deleted" if after is None else "modified"
    return FileChange(
        path=path,
        kind=kind,
        before=before[1] if before else None,
        after=after[1] if after else None,
        before_mode=before[0] if before else "",
        after_mode=after[0] if after else "",
        permissions=permissions,
    )


def _take_back(trees: Trees, value: _Value, step: FileChange) -> _Value:
    base, target = _entry(step.after_mode, step.after), _entry(step.before_mode, step.before)
    now = value.entry
    if REPOSITORY in (step.before_mode, step.after_mode):
        raise _Refused("it is a repository of its own")
    if now == base:
        return _Value(target, value.merged)
    if now == target:
        return value
    if now is None:
        raise _Refused("it was removed since")
    if base is None:
        raise _Refused("it was made anew since")
    if target is None:
        raise _Refused("it was edited since, and would be removed")
    if LINK in (now[0], base[0], target[0]):
        raise _Refused("it was changed since, and is or was a link")
    mode = target[0] if now[0] == base[0] else now[0]
    if now[1] in (base[1], target[1]):
        return _Value((mode, target[1]), value.merged)
    merged = _merge(trees, now[1], base[1], target[1])
    return _Value((mode, merged), True)


def _merge(trees: Trees, now: str, base: str, target: str) -> str:
    if base == target:
        return now
    blobs = trees.read_all((now, base, target))
    with tempfile.TemporaryDirectory(prefix="patch-merge-") as folder:
        for name, blob in (("now", now), ("base", base), ("target", target)):
            Path(folder, name).write_bytes(blobs[blob])
        call = GitCall(Path(folder))
        result = git_result(call, "merge-file", "-p", "-q", "now", "base", "target")
    if result.ending != "exit" or result.exit_code != 0:
        raise _Refused("the same lines were changed since")
    return trees.write(result.output)


def _in_the_way(root: Path, change: FileChange, removed: set[str]) -> str:
    """What on disk, outside of the snapshots, keeps the path from being written; "" for nothing."""
    if change.after is None:
        return ""
    parts = change.path.split("/")
    for end in range(1, len(parts)):
        folder = "/".join(parts[:end])
        at = root / folder
        if os.path.lexists(at) and (at.is_symlink() or not at.is_dir()) and folder not in removed:
            return f"{folder} is no folder any more"
    at = root / change.path
    if change.before is not None or not os.path.lexists(at):
        return ""
    if at.is_dir() and not at.is_symlink() and _files_in(root, at) <= removed:
        return ""
    return "something that is not the run's is there"


def _files_in(root: Path, folder: Path) -> set[str]:
    return {
        os.path.relpath(os.path.join(here, name), root)
        for here, folders, names in os.walk(folder)
        for name in (*names, *(f for f in folders if os.path.islink(os.path.join(here, f))))
    }
