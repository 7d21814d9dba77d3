"""Walking a working tree by name and stat, without a process: what is there of what is covered."""

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

Signature = tuple[int, int, int, int, int]
"""Inode, modification and change time in ns, size, mode."""

IgnoredAmong = Callable[[list[str]], set[str]]
"""Which of these folders (relative, without a slash at the end) git ignores."""


@dataclass(slots=True)
class Look:
    """What was found: covered files, folders, and file names that nobody has classified yet.

    recent: covered files that were written just before the look -> their digest then.
    """

    files: dict[str, Signature] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    strangers: set[str] = field(default_factory=set)
    recent: dict[str, str] = field(default_factory=dict)


class Scanner:
    """Knows which names are covered, which are not, and which folders need no look."""

    def __init__(self, root: Path, ignored_among: IgnoredAmong) -> None:
        self._root = os.fspath(root)
        self._ignored_among = ignored_among
        self.covered: set[str] = set()
        self.foreign: set[str] = set()
        self._ancestors: set[str] = set()
        self._skipped: set[str] = set()
        self._classified: set[str] = set()

    def cover(self, paths: Iterable[str]) -> None:
        """These are all the covered paths."""
        self.covered = set(paths)
        self._ancestors = {folder for path in self.covered for folder in ancestors(path)}

    def cover_also(self, path: str) -> None:
        """One more path is covered."""
        self.covered.add(path)
        self._ancestors.update(ancestors(path))

    def forget(self) -> None:
        """The ignore rules are other ones: ask again."""
        self._skipped.clear()
        self._classified.clear()
        self.foreign.clear()

    def walk(self) -> Look:
        """Every folder that is not ignored, and what in it is or may be covered."""
        found = Look()
        pending = [""]
        while pending:
            unknown: list[str] = []
            for folder in pending:
                self._scan(folder, found, unknown)
            pending = self._classify(unknown)
        return found

    def _scan(self, top: str, found: Look, unknown: list[str]) -> None:
        stack = [top]
        while stack:
            folder = stack.pop()
            entries = self._entries(folder)
            if folder and any(entry.name == ".git" for entry in entries):
                self._skipped.add(folder)  # a repository of its own
                continue
            if folder:
                found.folders.add(folder)
            prefix = folder + "/" if folder else ""
            for entry in entries:
                path = prefix + entry.name
                if not entry.is_dir(follow_symlinks=False):
                    self._take_file(entry, path, found)
                elif path not in self._skipped and path != ".git":
                    is_known = path in self._ancestors or path in self._classified
                    (stack if is_known else unknown).append(path)

    def _entries(self, folder: str) -> "list[os.DirEntry[str]]":
        try:
            with os.scandir(os.path.join(self._root, folder)) as entries:
                return list(entries)
        except OSError:
            return []

    def _take_file(self, entry: "os.DirEntry[str]", path: str, found: Look) -> None:
        if path in self.covered:
            try:
                found.files[path] = sign(entry.stat(follow_symlinks=False))
            except OSError:
                return
        elif path not in self.foreign:
            found.strangers.add(path)

    def _classify(self, unknown: list[str]) -> list[str]:
        if not unknown:
            return []
        ignored = self._ignored_among(unknown)
        self._skipped |= ignored
        usable = [folder for folder in unknown if folder not in ignored]
        self._classified.update(usable)
        return usable


def sign(info: os.stat_result) -> Signature:
    """The signature of a stat."""
    return info.st_ino, info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_mode


def signature_at(root: Path, path: str) -> Signature | None:
    """The signature of what is at a path now; None where no file or link is."""
    try:
        info = os.lstat(root / path)
    except (OSError, ValueError):
        return None
    return None if stat.S_ISDIR(info.st_mode) else sign(info)


def ancestors(path: str) -> Iterator[str]:
    """The folders above a path, the topmost first, without the root."""
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)
