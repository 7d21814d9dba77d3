"""Carrying out a plan of undo or redo: each path by a careful write; all else stays."""

import contextlib
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from patch_agent.core.values import FileChange
from patch_agent.workspace.files import content_hash, link_hash
from patch_agent.workspace.restore_plan import LINK
from patch_agent.workspace.trees import Trees
from patch_agent.workspace.writing import atomic_write, remove_file


def carry_out(
    trees: Trees, root: Path, changes: Sequence[FileChange], folders: Iterable[str] = ()
) -> None:
    """Make every change; then remove those of `folders` (made by the run) that are empty.

    Raises ToolError or OSError when a file is not what the plan says it is, or cannot be written:
    then that one is untouched.
    """
    blobs = trees.read_all(
        blob for change in changes for blob in (change.before, change.after) if blob is not None
    )
    for change in sorted(changes, key=lambda c: c.path, reverse=True):
        if change.after is None or (change.before and _is_other_kind(change)):
            remove_file(root / change.path, expect_sha256=_expected(change, blobs) or "")
    for folder in sorted(set(folders), reverse=True):
        with contextlib.suppress(OSError):
            (root / folder).rmdir()
    for change in sorted(changes, key=lambda c: c.path):
        if change.after is not None:
            _write(root / change.path, change, blobs)


def _is_other_kind(change: FileChange) -> bool:
    return LINK in (change.before_mode, change.after_mode)


def _expected(change: FileChange, blobs: Mapping[str, bytes]) -> str | None:
    if change.before is None:
        return None
    data = blobs[change.before]
    return link_hash(os.fsdecode(data)) if change.before_mode == LINK else content_hash(data)


def _write(path: Path, change: FileChange, blobs: Mapping[str, bytes]) -> None:
    data = blobs[change.after or ""]
    if path.is_dir() and not path.is_symlink():
        # The files in it are gone by now; rmdir takes nothing but empty folders.
        for folder, _, _ in os.walk(path, topdown=False):
            os.rmdir(folder)
    if change.after_mode == LINK:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.symlink(os.fsdecode(data), path)
        return
    expected = None if change.before_mode == LINK else _expected(change, blobs)
    if change.before != change.after or expected is None:
        atomic_write(path, data, expect_sha256=expected)
    if expected is None and change.permissions is not None:
        path.chmod(change.permissions)
    _set_executable(path, change.after_mode == "100755")


def _set_executable(path: Path, wanted: bool) -> None:
    mode = stat.S_IMODE(path.lstat().st_mode)
    if bool(mode & 0o100) != wanted:
        readable = (mode & 0o444) >> 2
        path.chmod(mode | readable if wanted else mode & ~0o111)
