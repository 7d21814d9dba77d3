"""Trees of the working tree in a private git store: what evidence compares and undo restores.

One bare store per working tree, under the state directory; an index per session and process. It
borrows nothing: the user's packs and objects are hard-linked in once (they only spare writing), so
a `gc --prune=now`, an amend or a removed reflog in the user's repository changes nothing here.
"""

import os
import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path

from patch_agent.core.errors import StoreError
from patch_agent.core.protocols import Snapshot
from patch_agent.core.values import FileChange
from patch_agent.workspace.changes import parse_raw
from patch_agent.workspace.coverage_rules import by_product_of
from patch_agent.workspace.git import GitCall, git, git_result
from patch_agent.workspace.index_files import drop_older_indexes
from patch_agent.workspace.private_store import PrivateStore, add_paths, names_of
from patch_agent.workspace.repository import Repository

MAX_LISTED = 200
MAX_ERRORS = 20
MAX_ARGUMENT_BYTES = 100_000
_ADD = {
    "core.autocrlf": "false",
    "core.safecrlf": "false",
    "core.fsync": "loose-object",
    "core.fsyncMethod": "batch",
    "core.compression": "1",
    "advice.addEmbeddedRepo": "false",
}


class GitSnapshots:
    """Implements `core.protocols.Snapshots`."""

    def __init__(self, repository: Repository, store: Path, session_id: str) -> None:
        self._repository = repository
        self._store = store
        # A name of this process's own: a git that outlived a killed one may still write to its.
        self._index = store / f"index-{session_id}.{secrets.token_hex(4)}"
        self._call = GitCall(repository.root, store, repository.root, self._index, _ADD)
        self._private = PrivateStore(repository, store, self._index, self._call)
        self._ready = False

    def take(self, touched: Sequence[str] | None = None) -> Snapshot:
        """The tree as it is now; with `touched`, only these paths are looked at again."""
        notes: list[str] = []
        # Nobody else writes this index: a lock that is there is of a git that had to be ended.
        self._index.with_name(self._index.name + ".lock").unlink(missing_ok=True)
        if not self._ready:
            notes = [*self._private.prepare(), *self._add_all()]
            drop_older_indexes(self._index)
            self._ready = True
        elif touched is None:
            notes = self._add_all()
        else:
            add_paths(self._call, touched)
        return Snapshot(git(self._call, "write-tree").decode().strip(), tuple(notes))

    def _add_all(self) -> list[str]:
        words = self._add()
        notes: list[str] = []
        if any(sign in line for line in words for sign in _NESTED):
            notes = self._private.draw_borders()
            words = self._add()
        errors = [line.removeprefix("error: ") for line in words if line.startswith("error: ")]
        return notes + [f"not covered by snapshots: {line}" for line in errors][:MAX_ERRORS]

    def _add(self) -> list[str]:
        result = git_result(self._call, "add", "--all", "--ignore-errors", "--", ".")
        words = result.stderr.decode("utf-8", "replace").splitlines()
        fatal = [line for line in words if line.startswith("fatal:")]
        # Single files that cannot be read are exit code 1; else the index is as it was before,
        # and a tree made of it would be an old one.
        if result.ending != "exit" or result.exit_code not in (0, 1) or fatal:
            why = fatal[0] if fatal else result.problem or f"git add: {result.ending}"
            raise StoreError(f"the working tree cannot be looked at: {why}")
        return words

    def changes(self, before: str, after: str) -> tuple[FileChange, ...]:
        """What differs between two trees, by path. Raises StoreError when a tree is missing."""
        raw = git(self._call, "diff-tree", "-r", "-z", "--raw", "--no-renames", before, after)
        return parse_raw(raw)

    def by_products(self) -> tuple[str, ...]:
        """Untracked files of by-product patterns that the user's own rules do not ignore."""
        listed = (by_product_of(name) for name in self._private.untracked_by_products())
        return tuple(dict.fromkeys(listed))[:MAX_LISTED]

    def read(self, blob: str) -> bytes:
        """The bytes of a file in a snapshot. Raises StoreError when they are missing."""
        return git(self._call, "cat-file", "blob", blob)

    def diff(self, before: str, after: str, paths: Sequence[str]) -> bytes:
        """The difference as a git diff that `git apply` takes; only of these paths."""
        form = ("-p", "--full-index", "--binary", before, after, "--")
        return b"".join(git(self._call, *_DIFF, *form, *part) for part in _portions(paths))

    def diff_stat(self, before: str, after: str, paths: Sequence[str]) -> dict[str, int]:
        """How many files, lines added and lines removed; binary files count as files only."""
        stat = {"files": 0, "insertions": 0, "deletions": 0}
        form = ("--numstat", "-z", before, after, "--")
        for part in _portions(paths):
            for line in names_of(git(self._call, *_DIFF, *form, *part)):
                added, removed, _name = line.split("\t", 2)
                stat["files"] += 1
                stat["insertions"] += int(added) if added.isdigit() else 0
                stat["deletions"] += int(removed) if removed.isdigit() else 0
        return stat

    def materialise(self, tree: str, into: Path) -> None:
        """Write a tree's files into an empty folder."""
        index = into.parent / f".{into.name}.index"
        call = GitCall(self._repository.root, self._store, into, index, _ADD)
        try:
            git(call, "read-tree", tree)
            git(call, "checkout-index", "--all", "--force", f"--prefix={into}/")
        finally:
            index.unlink(missing_ok=True)


_DIFF = (
    "--literal-pathspecs", "diff-tree", "-r", "--no-renames", "--no-color", "--no-ext-diff",
    "--no-textconv",
)  # fmt: skip
_NESTED = ("adding embedded git repository", "does not have a commit checked out")
"""How git says that a repository has appeared inside of this one."""


def _portions(paths: Sequence[str]) -> Iterator[list[str]]:
    """The paths, in lists that a command line can take."""
    part: list[str] = []
    size = 0
    for path in paths:
        length = len(os.fsencode(path)) + 1
        if part and size + length > MAX_ARGUMENT_BYTES:
            yield part
            part, size = [], 0
        part.append(path)
        size += length
    if part:
        yield part
