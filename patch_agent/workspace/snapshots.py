"""Trees of the working tree in a private git store: what evidence compares and undo restores.

One bare store per working tree, under the state directory; an index per session. It borrows
nothing: the user's packs and objects are hard-linked in once (they only spare writing), so a
`gc --prune=now`, an amend or a removed reflog in the user's repository changes nothing here.
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from patch_agent.core.errors import UserError
from patch_agent.core.protocols import Snapshot
from patch_agent.core.values import FileChange
from patch_agent.workspace.changes import parse_raw
from patch_agent.workspace.coverage_rules import BY_PRODUCTS, is_by_product, user_excludes
from patch_agent.workspace.git import GitCall, git, git_result
from patch_agent.workspace.object_links import link_objects
from patch_agent.workspace.repository import Repository

MAX_FILE_BYTES = 50 * 1024 * 1024
MAX_LISTED = 200
_ATTRIBUTES = "* -text -filter -ident -working-tree-encoding !eol !diff !merge\n"
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
            notes = self._prepare()
            touched = None
        if touched is None:
            notes += self._add_all()
        else:
            self._add(touched)
        return Snapshot(git(self._call, "write-tree").decode().strip(), tuple(notes))

    def _add(self, paths: Sequence[str]) -> None:
        listed = b"\x00".join(os.fsencode(path) for path in paths) + b"\x00"
        git(self._call, "update-index", "--add", "--remove", "-z", "--stdin", stdin=listed)

    def _add_all(self) -> list[str]:
        result = git_result(self._call, "add", "--all", "--ignore-errors", "--", ".")
        if result.ending == "exit" and result.exit_code == 0:
            return []
        words = result.stderr.decode("utf-8", "replace").splitlines()
        return [f"not covered by snapshots: {line}" for line in words if "error:" in line][:20]

    def _prepare(self) -> list[str]:
        root = self._repository.root
        if str(root) in (root.anchor, os.path.realpath(os.environ.get("HOME") or "/")):
            raise UserError(f"{root} is too large a place to work in; use a project's folder")
        if not (self._store / "HEAD").exists():
            self._store.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            git(GitCall(root, self._store), "init", "--quiet", "--template=")
            os.chmod(self._store, 0o700)
        link_objects(self._repository.common_dir / "objects", self._store / "objects")
        info = self._store / "info"
        info.mkdir(exist_ok=True)
        (info / "attributes").write_text(_ATTRIBUTES)
        rules = user_excludes(self._repository)
        (info / "exclude").write_text(
            rules + "\n".join(BY_PRODUCTS) + "\n", errors="surrogateescape"
        )
        self._seed_index()
        borders = self._find_borders()
        with (info / "exclude").open("a", errors="surrogateescape") as file:
            file.writelines(f"{_escaped(path)}\n" for path in borders)
        self._force_what_was_there(rules)
        self._ready = True
        return [f"not covered by snapshots: {path} ({why})" for path, why in borders.items()]

    def _seed_index(self) -> None:
        # The newest index of another session spares hashing: git compares times and sizes.
        if self._index.exists():
            return
        others = sorted(self._store.glob("index-*"), key=lambda path: path.stat().st_mtime)
        others = [path for path in others if path.suffix != ".lock"]
        if others:
            shutil.copy2(others[-1], self._index)

    def _find_borders(self) -> dict[str, str]:
        listed = git(self._call, "ls-files", "-z", "-o", "--exclude-standard", "--directory")
        borders: dict[str, str] = {}
        for name in _names(listed):
            path = self._repository.root / name
            if name.endswith("/"):
                borders |= _nested(self._repository.root, path)
            elif not path.is_symlink() and path.is_file() and path.stat().st_size > MAX_FILE_BYTES:
                borders[name] = f"larger than {MAX_FILE_BYTES // 2**20} MB"
        return borders

    def _force_what_was_there(self, rules: str) -> None:
        # Tracked by the user although ignored, or there before us though it looks like a
        # by-product: a change of these is a change.
        user = self._repository.call
        tracked = _names(git(user, "ls-files", "-z", "--cached"))
        rule_file = self._store / "info" / "user-exclude"
        rule_file.write_text(rules, errors="surrogateescape")
        rule_args = ("--exclude-per-directory=.gitignore", f"--exclude-from={rule_file}")
        seen = _names(git(user, "ls-files", "-z", "-o", *rule_args))
        ignored = self._ignored(tracked)
        forced = [name for name in seen if is_by_product(name)] + ignored
        self._add([name for name in forced if _is_there(self._repository.root / name)])

    def _ignored(self, names: Sequence[str]) -> list[str]:
        if not names:
            return []
        listed = b"\x00".join(os.fsencode(name) for name in names) + b"\x00"
        found = git(
            self._call, "check-ignore", "--no-index", "-z", "--stdin", stdin=listed, ok=(0, 1)
        )
        return _names(found)

    def changes(self, before: str, after: str) -> tuple[FileChange, ...]:
        """What differs between two trees, by path. Raises StoreError when a tree is missing."""
        raw = git(self._call, "diff-tree", "-r", "-z", "--raw", "--no-renames", before, after)
        return parse_raw(raw)

    def by_products(self) -> tuple[str, ...]:
        """Untracked files of by-product patterns that the user's own rules do not ignore."""
        rule_file = self._store / "info" / "user-exclude"
        found = git(
            self._call, "ls-files", "-z", "-o", "--directory",
            "--exclude-per-directory=.gitignore", f"--exclude-from={rule_file}",
        )  # fmt: skip
        return tuple(name for name in _names(found) if is_by_product(name))[:MAX_LISTED]

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
        for line in _names(listed):
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


def _names(listed: bytes) -> list[str]:
    return [os.fsdecode(name) for name in listed.split(b"\x00") if name]


def _is_there(path: Path) -> bool:
    return path.is_symlink() or path.is_file()


def _escaped(path: str) -> str:
    special = "".join("\\" + char if char in "\\*?[ !#" else char for char in path)
    return f"/{special}"


def _nested(root: Path, folder: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for here, folders, files in os.walk(folder):
        if ".git" in folders or ".git" in files:
            found[os.path.relpath(here, root) + "/"] = "a repository of its own"
            folders[:] = []
    return found
