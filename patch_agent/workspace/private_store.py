"""The private git store of a working tree, made ready once a session before its first snapshot."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from patch_agent.core.errors import UserError
from patch_agent.workspace.coverage_rules import BY_PRODUCTS, user_excludes
from patch_agent.workspace.git import GitCall, git
from patch_agent.workspace.object_links import link_objects
from patch_agent.workspace.repository import Repository

MAX_FILE_BYTES = 50 * 1024 * 1024
_ATTRIBUTES = "* -text -filter -ident -working-tree-encoding !eol !diff !merge\n"


class PrivateStore:
    """Objects, ignore rules and an index that has everything that snapshots cover."""

    def __init__(self, repository: Repository, store: Path, call: GitCall) -> None:
        self._repository = repository
        self._store = store
        self._call = call

    def prepare(self) -> list[str]:
        """Make it ready; returns a line on everything that snapshots do not cover."""
        root = self._repository.root
        if str(root) in (root.anchor, os.path.realpath(os.environ.get("HOME") or "/")):
            raise UserError(f"{root} is too large a place to work in; use a project's folder")
        self._make()
        rules = user_excludes(self._repository)
        (self._store / "info" / "user-exclude").write_text(rules, errors="surrogateescape")
        self._exclude(rules, {})
        self._seed_index()
        borders = self._find_borders()
        self._exclude(rules, borders)
        self._force_tracked()
        return [f"not covered by snapshots: {path} ({why})" for path, why in borders.items()]

    def _make(self) -> None:
        if not (self._store / "HEAD").exists():
            self._store.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            form = f"--object-format={self._repository.object_format}"
            git(GitCall(self._repository.root, self._store), "init", "--quiet", "--template=", form)
            os.chmod(self._store, 0o700)
        link_objects(self._repository.common_dir / "objects", self._store / "objects")
        (self._store / "info").mkdir(exist_ok=True)
        (self._store / "info" / "attributes").write_text(_ATTRIBUTES)

    def _exclude(self, rules: str, borders: dict[str, str]) -> None:
        lines = [*BY_PRODUCTS, *(_escaped(path) for path in borders)]
        text = rules + "\n".join(lines) + "\n"
        (self._store / "info" / "exclude").write_text(text, errors="surrogateescape")

    def _seed_index(self) -> None:
        # The newest index of another session spares hashing: git compares times and sizes.
        index = self._call.index
        if index is None or index.exists():
            return
        others = [path for path in self._store.glob("index-*") if path.suffix != ".lock"]
        if others:
            shutil.copy2(max(others, key=lambda path: path.stat().st_mtime), index)

    def _find_borders(self) -> dict[str, str]:
        listed = git(self._call, "ls-files", "-z", "-o", "--exclude-standard", "--directory")
        borders: dict[str, str] = {}
        for name in names_of(listed):
            path = self._repository.root / name
            if name.endswith("/"):
                borders |= _nested(self._repository.root, path)
            elif is_there(path) and not path.is_symlink() and _is_large(path):
                borders[name] = f"larger than {MAX_FILE_BYTES // 2**20} MB"
        return borders

    def _force_tracked(self) -> None:
        # What the user tracks is covered, though ignored or of a by-product's name.
        tracked = names_of(git(self._repository.call, "ls-files", "-z", "--cached"))
        if not tracked:
            return
        listed = b"\x00".join(os.fsencode(name) for name in tracked) + b"\x00"
        ignored = git(
            self._call, "check-ignore", "--no-index", "-z", "--stdin", stdin=listed, ok=(0, 1)
        )
        add_paths(self._call, [n for n in names_of(ignored) if is_there(self._repository.root / n)])


def add_paths(call: GitCall, paths: Sequence[str]) -> None:
    """Bring the index up to date for these paths, whatever the ignore rules say."""
    if paths:
        listed = b"\x00".join(os.fsencode(path) for path in paths) + b"\x00"
        git(call, "update-index", "--add", "--remove", "-z", "--stdin", stdin=listed)


def names_of(listed: bytes) -> list[str]:
    """The names of a list that NULs separate."""
    return [os.fsdecode(name) for name in listed.split(b"\x00") if name]


def is_there(path: Path) -> bool:
    """Whether something that git can hold is there: a file or a link."""
    return path.is_symlink() or path.is_file()


def _is_large(path: Path) -> bool:
    return path.stat().st_size > MAX_FILE_BYTES


def _escaped(path: str) -> str:
    special = "".join("\\" + char if char in "\\*?[ !#" else char for char in path)
    return f"/{special}"


def _nested(root: Path, folder: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for here, folders, files in os.walk(folder):
        if ".git" in folders or ".git" in files:
            found[os.path.relpath(here, root) + "/"] = "a repository of its own"
            folders[:] = []
        found |= {
            os.path.relpath(path, root): f"larger than {MAX_FILE_BYTES // 2**20} MB"
            for path in (Path(here) / name for name in files)
            if is_there(path) and not path.is_symlink() and _is_large(path)
        }
    return found
