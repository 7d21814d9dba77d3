"""Reading the private store's trees: what differs between two of them, and the bytes in them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import fsencode
from pathlib import Path

from patch_agent.core.errors import StoreError
from patch_agent.core.values import FileChange
from patch_agent.workspace.changes import parse_raw
from patch_agent.workspace.git import WRITE, GitCall, git, names_of
from patch_agent.workspace.private_index import scratch_index
from patch_agent.workspace.repository import Repository

MAX_ARGUMENT_BYTES = 100_000
BATCH = 200
Entry = tuple[str, str]
"""Git mode and blob id."""


class Trees:
    """The trees and blobs of one private store."""

    def __init__(self, repository: Repository, store: Path) -> None:
        self._root = repository.root
        self._store = store
        self._call = GitCall(repository.root, store, repository.root, None, WRITE)

    def changes(self, before: str, after: str) -> tuple[FileChange, ...]:
        """What differs between two trees, by path. Raises StoreError when a tree is missing."""
        raw = git(self._call, "diff-tree", "-r", "-z", "--raw", "--no-renames", before, after)
        return parse_raw(raw)

    def entries(self, tree: str) -> dict[str, Entry]:
        """Every path of a tree, with its mode and blob id."""
        lines = (name.split("\t", 1) for name in names_of(self._listed(tree)))
        return {path: (head.split()[0], head.split()[2]) for head, path in lines}

    def _listed(self, tree: str) -> bytes:
        return git(self._call, "ls-tree", "-r", "-z", tree)

    def read(self, blob: str) -> bytes:
        """The bytes of a file in a snapshot. Raises StoreError when they are missing."""
        return git(self._call, "cat-file", "blob", blob)

    def read_all(self, blobs: Iterable[str]) -> dict[str, bytes]:
        """Blob id -> bytes, all of them. Raises StoreError when one is missing or damaged."""
        wanted = list(dict.fromkeys(blobs))
        found: dict[str, bytes] = {}
        for at in range(0, len(wanted), BATCH):
            part = wanted[at : at + BATCH]
            asked = "".join(f"{blob}\n" for blob in part).encode("ascii")
            found |= _parse_batch(part, git(self._call, "cat-file", "--batch", stdin=asked))
        return found

    def find_blob(self, tree: str, path: str) -> str | None:
        """The blob id of a path in a tree; None when the tree has no such file."""
        listed = git(self._call, "--literal-pathspecs", "ls-tree", "-z", tree, "--", path)
        for line in names_of(listed):
            head, name = line.split("\t", 1)
            if name == path and head.split()[1] == "blob":
                return head.split()[2]
        return None

    def write(self, data: bytes) -> str:
        """Keep bytes as a blob; returns its id."""
        stored = git(self._call, "hash-object", "-w", "--no-filters", "--stdin", stdin=data)
        return stored.decode("ascii").strip()

    def tree_of(self, entries: Mapping[str, Entry]) -> str:
        """A tree that has just these files."""
        lines = [f"{mode} {blob}\t{path}" for path, (mode, blob) in entries.items()]
        listed = b"".join(fsencode(line) + b"\x00" for line in lines)
        with scratch_index(self._store) as index:
            call = GitCall(self._root, self._store, self._root, index, WRITE)
            git(call, "update-index", "-z", "--add", "--index-info", stdin=listed)
            return git(call, "write-tree").decode("ascii").strip()

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
        with scratch_index(self._store) as index:
            call = GitCall(self._root, self._store, into, index, WRITE)
            git(call, "read-tree", tree)
            git(call, "checkout-index", "--all", "--force", f"--prefix={into}/")


_DIFF = (
    "--literal-pathspecs", "diff-tree", "-r", "--no-renames", "--no-color", "--no-ext-diff",
    "--no-textconv",
)  # fmt: skip


def _parse_batch(wanted: Sequence[str], printed: bytes) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    at = 0
    for blob in wanted:
        end = printed.find(b"\n", at)
        words = printed[at:end].decode("ascii", "replace").split()
        if len(words) != 3 or words[1] != "blob":
            raise StoreError(f"the snapshot is not complete: the bytes {blob} are missing")
        size = int(words[2])
        found[blob] = printed[end + 1 : end + 1 + size]
        at = end + 1 + size + 1
    return found


def _portions(paths: Sequence[str]) -> Iterator[list[str]]:
    """The paths, in lists that a command line can take."""
    part: list[str] = []
    size = 0
    for path in paths:
        length = len(fsencode(path)) + 1
        if part and size + length > MAX_ARGUMENT_BYTES:
            yield part
            part, size = [], 0
        part.append(path)
        size += length
    if part:
        yield part
