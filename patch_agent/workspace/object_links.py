"""Sharing git objects by hard links: the private store owns what it has, at no cost."""

import contextlib
import os
from pathlib import Path


def link_objects(source: Path, target: Path) -> None:
    """Link packs and loose objects that `target` lacks. Where links cannot be made, none are.

    Objects never change once written, so a shared inode is safe; git removes only names. What is
    not linked is simply written again by the next snapshot.
    """
    with contextlib.suppress(OSError):
        _link_packs(source / "pack", target / "pack")
        for folder in source.iterdir():
            if len(folder.name) == 2 and folder.is_dir():
                _link_folder(folder, target / folder.name)


def _link_packs(source: Path, target: Path) -> None:
    if not source.is_dir():
        return
    target.mkdir(exist_ok=True)
    for pack in source.glob("*.pack"):
        index = pack.with_suffix(".idx")
        # The index last: a pack counts only once its index is there.
        if index.exists() and not (target / index.name).exists():
            _link(pack, target / pack.name)
            _link(index, target / index.name)


def _link_folder(source: Path, target: Path) -> None:
    target.mkdir(exist_ok=True)
    have = {entry.name for entry in os.scandir(target)}
    for entry in os.scandir(source):
        # An empty one is what a power cut leaves: linked, it would stand for bytes it has not.
        if entry.name not in have and _is_object(entry) and entry.stat().st_size:
            _link(Path(entry.path), target / entry.name)


def _is_object(entry: os.DirEntry[str]) -> bool:
    return len(entry.name) in (38, 62)  # the rest of a SHA-1 or a SHA-256


def _link(source: Path, target: Path) -> None:
    with contextlib.suppress(FileExistsError):
        os.link(source, target)
