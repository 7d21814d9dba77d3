"""Whether the working tree may have changed since the last snapshot: a look, without a process.

A signature is taken before git looks, so that a change in between shows at the next look. A file
that was written within the clock's resolution before a look could be written again without a trace
in its stat; such files are compared by content once more.
"""

import hashlib
import os
import stat
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from patch_agent.workspace.scan import (
    IgnoredAmong,
    Look,
    Scanner,
    Signature,
    ancestors,
    signature_at,
)

_FINE_NS, _COARSE_NS = 50_000_000, 2_000_000_000
_MAX_HASHED_BYTES = 1_000_000
_MAX_RECENT = 50
_UNSURE = "unsure"


class TreeWatch:
    """The looks at one working tree."""

    def __init__(self, root: Path, ignored_among: IgnoredAmong) -> None:
        self._root = root
        self._scanner = Scanner(root, ignored_among)
        self.kept = Look()
        """The look that belongs to the last snapshot."""

    def cover(self, paths: Iterable[str]) -> None:
        """Say what snapshots cover, before the first look."""
        self._scanner.cover(paths)

    def covers(self, path: str) -> bool:
        """Whether snapshots have this path."""
        return path in self._scanner.covered

    def look(self) -> Look:
        """Look at every folder that is not ignored; ignore rules that changed are asked anew."""
        found = self._scanner.walk()
        if _rules(found) != _rules(self.kept):
            self._scanner.forget()
            found = self._scanner.walk()
        found.recent = self._recent(found.files)
        return found

    def is_same(self, look: Look) -> bool:
        """Whether nothing that snapshots cover differs from the kept look."""
        kept = self.kept
        if look.strangers or look.files != kept.files or look.folders != kept.folders:
            return False
        if not all(self._is_as(path, digest) for path, digest in kept.recent.items()):
            return False
        kept.recent = look.recent
        return True

    def _is_as(self, path: str, digest: str) -> bool:
        return digest != _UNSURE and _digest(self._root / path) == digest

    def differing(self, look: Look) -> list[str] | None:
        """The covered paths that differ; None when there are names that have to be classified."""
        if look.strangers or look.folders - self.kept.folders:
            return None
        before, now = self.kept.files, look.files
        differ = {path for path, signature in before.items() if now.get(path) != signature}
        return sorted(differ | (now.keys() - before.keys()) | self.kept.recent.keys())

    def keep(self, look: Look, covered: Iterable[str] | None = None) -> None:
        """This look belongs to the snapshot that was taken after it; `covered`: all its paths,
        when they may be others than before."""
        if covered is not None:
            self._scanner.cover(covered)
            for path in look.strangers:
                signature = signature_at(self._root, path) if self.covers(path) else None
                if signature is None:
                    self._scanner.foreign.add(path)
                else:
                    # Its stat is of after the snapshot: only the next one is sure of it.
                    look.files[path] = signature
                    look.recent[path] = _UNSURE
            look.strangers = set()
            look.files = {path: s for path, s in look.files.items() if self.covers(path)}
        self.kept = look

    def keep_paths(self, signatures: Mapping[str, Signature | None]) -> None:
        """These paths alone are in the snapshot anew, as they were; None: nothing was there."""
        kept = self.kept
        for path, signature in signatures.items():
            kept.recent.pop(path, None)
            if signature is None:
                kept.files.pop(path, None)
                gone = [a for a in ancestors(path) if not os.path.isdir(self._root / a)]
                kept.folders.difference_update(gone)
            else:
                self._scanner.foreign.discard(path)
                self._scanner.cover_also(path)
                kept.files[path] = signature
                kept.folders.update(ancestors(path))
        kept.recent |= self._recent({p: s for p, s in signatures.items() if s is not None})

    def _recent(self, files: Mapping[str, Signature]) -> dict[str, str]:
        now = time.time_ns()
        fresh = [path for path, signature in files.items() if now - signature[2] < _COARSE_NS]
        fresh = [path for path in fresh if now - files[path][2] < _window(files[path])]
        # Many at once is a checkout or a build: then git itself looks again next time.
        if len(fresh) > _MAX_RECENT:
            return dict.fromkeys(fresh, _UNSURE)
        return {path: _digest(self._root / path) for path in fresh}


def _rules(look: Look) -> dict[str, Signature]:
    return {path: sign for path, sign in look.files.items() if path.endswith(".gitignore")}


def _window(signature: Signature) -> int:
    # A file system that keeps whole seconds hides more.
    return _COARSE_NS if signature[2] % 1_000_000_000 == 0 else _FINE_NS


def _digest(path: Path) -> str:
    try:
        info = os.lstat(path)
        if stat.S_ISLNK(info.st_mode):
            return "link " + os.readlink(path)
        if not stat.S_ISREG(info.st_mode) or info.st_size > _MAX_HASHED_BYTES:
            return _UNSURE
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return _UNSURE
