"""Trees of the working tree in a private git store: what evidence compares and undo restores.

One bare store per working tree, under the state directory; an index per session. It borrows
nothing: the user's packs and objects are hard-linked in once (they only spare writing), so a
`gc --prune=now`, an amend or a removed reflog in the user's repository changes nothing here.
"""

from collections.abc import Sequence
from pathlib import Path

from patch_agent.core.protocols import Snapshot
from patch_agent.core.values import FileChange
from patch_agent.workspace.changes import parse_raw
from patch_agent.workspace.coverage_rules import by_product_of
from patch_agent.workspace.git import GitCall, git, git_result
from patch_agent.workspace.private_store import PrivateStore, add_paths, names_of
from patch_agent.workspace.repository import Repository

MAX_LISTED = 200
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
        self._index = store / f"index-{session_id}"
        self._call = GitCall(repository.root, store, repository.root, self._index, _ADD)
        self._ready = False

    def take(self, touched: Sequence[str] | None = None) -> Snapshot:
        """The tree as it is now; with `touched`, only these paths are looked at again."""
        notes: list[str] = []
        if not self._ready:
            notes = PrivateStore(self._repository, self._store, self._call).prepare()
            self._ready = True
            touched = None
        if touched is None:
            notes += self._add_all()
        else:
            add_paths(self._call, touched)
        return Snapshot(git(self._call, "write-tree").decode().strip(), tuple(notes))

    def _add_all(self) -> list[str]:
        result = git_result(self._call, "add", "--all", "--ignore-errors", "--", ".")
        if result.ending == "exit" and result.exit_code == 0:
            return []
        words = result.stderr.decode("utf-8", "replace").splitlines()
        return [f"not covered by snapshots: {line}" for line in words if "error:" in line][:20]

    def changes(self, before: str, after: str) -> tuple[FileChange, ...]:
        """What differs between two trees, by path. Raises StoreError when a tree is missing."""
        raw = git(self._call, "diff-tree", "-r", "-z", "--raw", "--no-renames", before, after)
        return parse_raw(raw)

    def by_products(self) -> tuple[str, ...]:
        """Untracked files of by-product patterns that the user's own rules do not ignore."""
        rule_file = self._store / "info" / "user-exclude"
        found = git(
            self._call, "ls-files", "-z", "-o",
            "--exclude-per-directory=.gitignore", f"--exclude-from={rule_file}",
        )  # fmt: skip
        listed = (by_product_of(name) for name in names_of(found))
        return tuple(dict.fromkeys(name for name in listed if name))[:MAX_LISTED]

    def read(self, blob: str) -> bytes:
        """The bytes of a file in a snapshot. Raises StoreError when they are missing."""
        return git(self._call, "cat-file", "blob", blob)

    def diff(self, before: str, after: str, paths: Sequence[str]) -> bytes:
        """The difference as a git diff that `git apply` takes; only of these paths."""
        if not paths:
            return b""
        return git(
            self._call, *_DIFF, "-p", "--full-index", "--binary", before, after, "--", *paths
        )

    def diff_stat(self, before: str, after: str, paths: Sequence[str]) -> dict[str, int]:
        """How many files, lines added and lines removed; binary files count as files only."""
        stat = {"files": 0, "insertions": 0, "deletions": 0}
        if not paths:
            return stat
        listed = git(self._call, *_DIFF, "--numstat", "-z", before, after, "--", *paths)
        for line in names_of(listed):
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
