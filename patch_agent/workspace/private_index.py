"""The index files of a private store: one per session and process, begun with a copy of another."""

import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from patch_agent.core.errors import StoreError
from patch_agent.workspace.git import WRITE, GitCall, git, git_result, names_of


class PrivateIndex:
    """The index that one process works with; `call` is a call on it."""

    def __init__(self, path: Path, call: GitCall) -> None:
        self._path = path
        self.call = call

    def seed(self) -> bool:
        """Begin it with the newest copy of another; returns whether the session had none yet."""
        own = _indexes(self._path.parent, f"{self._path.stem}.*")
        # Another session's index spares hashing at least: git compares times and sizes.
        found = own or _indexes(self._path.parent, "index-*")
        if found and not self._path.exists():
            shutil.copy2(max(found, key=lambda path: path.stat().st_mtime), self._path)
            # It is only a cache: one that was torn by a power cut is made again.
            if git_result(self.call, "ls-files", "-z", "--cached").exit_code != 0:
                self._path.unlink()
        return not own

    def drop_older(self) -> None:
        """Remove what earlier processes of the session left; their git may have been killed."""
        for path in self._path.parent.glob(f"{self._path.stem}.*"):
            if path != self._path:
                path.unlink(missing_ok=True)

    def unlock(self) -> None:
        """Nobody else writes this index: a lock that is there is of a git that had to be ended."""
        self._path.with_name(self._path.name + ".lock").unlink(missing_ok=True)

    def names(self) -> list[str]:
        """Every path in it."""
        return names_of(git(self.call, "ls-files", "-z", "--cached"))

    def nested(self) -> list[str]:
        """The paths that stand for repositories inside of this one."""
        listed = names_of(git(self.call, "ls-files", "-z", "--stage"))
        return [line.split("\t", 1)[1] for line in listed if line.startswith("160000 ")]

    def add(self, paths: Sequence[str]) -> None:
        """Bring it up to date for these paths, whatever the ignore rules say."""
        # Replace: where a folder stands now, a file may have stood, and the other way round.
        self._update(paths, "--add", "--remove", "--replace")

    def remove(self, paths: Sequence[str]) -> None:
        """Take these paths out; the files stay."""
        self._update(paths, "--force-remove")

    def _update(self, paths: Sequence[str], *options: str) -> None:
        if paths:
            listed = b"\x00".join(os.fsencode(path) for path in paths) + b"\x00"
            git(self.call, "update-index", *options, "-z", "--stdin", stdin=listed)

    def add_all(self) -> list[str]:
        """Bring it up to date for the whole working tree; returns git's words, line by line."""
        result = git_result(self.call, "add", "--all", "--ignore-errors", "--", ".")
        words = result.stderr.decode("utf-8", "replace").splitlines()
        fatal = [line for line in words if line.startswith("fatal:")]
        # Single files that cannot be read are exit code 1; else the index is as it was before,
        # and a tree made of it would be an old one.
        if result.ending != "exit" or result.exit_code not in (0, 1) or fatal:
            why = fatal[0] if fatal else result.problem or f"git add: {result.ending}"
            raise StoreError(f"the working tree cannot be looked at: {why}")
        return words

    def write_tree(self) -> str:
        """The tree of everything in it."""
        return git(self.call, "write-tree").decode("ascii").strip()


def private_index(root: Path, store: Path, session_id: str) -> PrivateIndex:
    """An index of this process's own: a git that outlived a killed process may still write to
    that process's."""
    path = store / f"index-{session_id}.{secrets.token_hex(4)}"
    return PrivateIndex(path, GitCall(root, store, root, path, WRITE))


def _indexes(store: Path, pattern: str) -> list[Path]:
    return [path for path in store.glob(pattern) if path.suffix != ".lock"]


@contextmanager
def scratch_index(store: Path) -> Iterator[Path]:
    """A name for an index that is thrown away at the end of the block."""
    index = store / f"scratch.{secrets.token_hex(4)}"
    try:
        yield index
    finally:
        index.unlink(missing_ok=True)
        index.with_name(index.name + ".lock").unlink(missing_ok=True)
