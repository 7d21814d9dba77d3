"""Trees of the working tree in a private git store: what evidence compares and undo restores.

One bare store per working tree, under the state directory; an index per session and process. It
borrows nothing: the user's packs and objects are hard-linked in once (they only spare writing), so
a `gc --prune=now`, an amend or a removed reflog in the user's repository changes nothing here.
"""

import stat
from collections.abc import Sequence
from pathlib import Path

from patch_agent.core.errors import StoreError
from patch_agent.core.protocols import Snapshot
from patch_agent.core.values import FileChange
from patch_agent.workspace.coverage_rules import by_product_of
from patch_agent.workspace.private_index import private_index
from patch_agent.workspace.private_store import PrivateStore, is_there
from patch_agent.workspace.repository import Repository
from patch_agent.workspace.scan import Look, Signature, ancestors, signature_at
from patch_agent.workspace.trees import Trees
from patch_agent.workspace.watch import TreeWatch

MAX_LISTED = 200
MAX_SINGLE_PATHS = 200


class GitSnapshots:
    """Implements `core.protocols.Snapshots`; `trees` reads what was taken."""

    def __init__(self, repository: Repository, store: Path, session_id: str) -> None:
        self._root = repository.root
        self._index = private_index(repository.root, store, session_id)
        self._private = PrivateStore(repository, store, self._index)
        self._watch = TreeWatch(repository.root, self._private.ignored_among)
        self._expected = ""
        self._tree = ""
        self.trees = Trees(repository, store)

    def expect(self, tree: str) -> None:
        """Cover, from the first snapshot on, what this earlier tree of the session covered."""
        self._expected = tree

    def take(self, touched: Sequence[str] | None = None) -> Snapshot:
        """The tree as it is now; with `touched`, only these paths are looked at again."""
        self._index.unlock()
        if not self._tree:
            return self._take_first()
        return self._take_whole() if touched is None else self._take_paths(touched)

    def cover(self, paths: Sequence[str]) -> Snapshot | None:
        """The tree with these files too, which an ignore rule may have kept out; None: it has
        them. Before a tool changes a file, its bytes have to be kept."""
        missing = [p for p in paths if not self._watch.covers(p) and is_there(self._root / p)]
        return self.take(missing) if missing else None

    def looks_unchanged(self) -> bool:
        """Whether nothing differs from the last snapshot, by names and stats; costs no process."""
        return bool(self._tree) and self._watch.is_same(self._watch.look())

    def _take_first(self) -> Snapshot:
        notes = self._private.prepare()
        if self._expected:
            names = set(self.trees.entries(self._expected)) - set(self._index.names())
            self._index.add([name for name in names if is_there(self._root / name)])
        self._watch.cover(self._index.names())
        look = self._watch.look()
        notes += self._private.add_all()
        self._index.drop_older()
        self._watch.keep(look, self._index.names())
        self._tree = self._index.write_tree()
        return Snapshot(self._tree, tuple(notes))

    def _take_whole(self) -> Snapshot:
        look = self._watch.look()
        if self._watch.is_same(look):
            return Snapshot(self._tree)
        before = self._watch.kept
        notes: list[str] = []
        if not self._add_differing(look):
            notes = self._private.add_all()
            self._watch.keep(look, self._index.names())
        gone = {path: sign for path, sign in before.files.items() if path not in look.files}
        return self._snapshot(notes, gone, look.folders - before.folders)

    def _add_differing(self, look: Look) -> bool:
        paths = self._watch.differing(look)
        if paths is None or len(paths) > MAX_SINGLE_PATHS:
            return False
        try:
            self._index.add(paths)
        except StoreError:
            # One that cannot be read, for example: `git add` goes on with the others.
            return False
        self._watch.keep(look)
        return True

    def _take_paths(self, paths: Sequence[str]) -> Snapshot:
        kept = self._watch.kept
        signatures = {path: signature_at(self._root, path) for path in paths}
        gone = {p: kept.files[p] for p, s in signatures.items() if s is None and p in kept.files}
        there = [path for path, signature in signatures.items() if signature is not None]
        made = {folder for path in there for folder in ancestors(path)} - kept.folders
        self._index.add(paths)
        self._watch.keep_paths(signatures)
        return self._snapshot([], gone, made)

    def _snapshot(
        self, notes: Sequence[str], gone: dict[str, Signature], folders: set[str]
    ) -> Snapshot:
        self._tree = self._index.write_tree()
        permissions = {path: stat.S_IMODE(signature[4]) for path, signature in gone.items()}
        return Snapshot(self._tree, tuple(notes), permissions, tuple(sorted(folders)))

    def changes(self, before: str, after: str) -> tuple[FileChange, ...]:
        """What differs between two trees, by path. Raises StoreError when a tree is missing."""
        return self.trees.changes(before, after)

    def by_products(self) -> tuple[str, ...]:
        """Untracked files of by-product patterns that the user's own rules do not ignore."""
        listed = (by_product_of(name) for name in self._private.untracked_by_products())
        return tuple(dict.fromkeys(listed))[:MAX_LISTED]
