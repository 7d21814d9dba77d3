"""The private git store of a working tree, made ready once a session before its first snapshot."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from patch_agent.core.errors import UserError
from patch_agent.workspace.coverage_rules import BY_PRODUCTS, by_product_of, user_excludes
from patch_agent.workspace.git import GitCall, git
from patch_agent.workspace.index_files import seed_index
from patch_agent.workspace.object_links import link_objects
from patch_agent.workspace.repository import Repository

MAX_FILE_BYTES = 50 * 1024 * 1024
_ATTRIBUTES = "* -text -filter -ident -working-tree-encoding !eol !diff !merge\n"


class PrivateStore:
    """Objects, ignore rules and an index that has everything that snapshots cover."""

    def __init__(self, repository: Repository, store: Path, index: Path, call: GitCall) -> None:
        self._repository = repository
        self._store = store
        self._index = index
        self._call = call
        self._borders: dict[str, str] = {}

    def prepare(self) -> list[str]:
        """Make it ready; returns a line on everything that snapshots do not cover."""
        root = self._repository.root
        if str(root) in (root.anchor, os.path.realpath(os.environ.get("HOME") or "/")):
            raise UserError(f"{root} is too large a place to work in; use a project's folder")
        self._make()
        self._write_rules("user-exclude", user_excludes(self._repository))
        self._exclude()
        is_new = seed_index(self._call, self._index)
        notes = self.draw_borders()
        self._force_tracked()
        if is_new:
            # What was there before the first step is the user's, whatever its name.
            found = self.untracked_by_products()
            add_paths(self._call, [name for name in found if name not in self._borders])
        return notes

    def draw_borders(self) -> list[str]:
        """Leave out nested repositories and large files that are new; a line on each."""
        listed = names_of(git(self._call, "ls-files", "-z", "--stage"))
        inner = [line.split("\t", 1)[1] for line in listed if line.startswith("160000 ")]
        remove_paths(self._call, inner)
        borders = self._find_borders()
        self._borders |= borders
        self._exclude()
        return [f"not covered by snapshots: {path} ({why})" for path, why in borders.items()]

    def untracked_by_products(self) -> list[str]:
        """Files of by-product patterns that the index has not and the user does not ignore."""
        rule_file = self._store / "info" / "user-exclude"
        found = git(
            self._call, "ls-files", "-z", "-o",
            "--exclude-per-directory=.gitignore", f"--exclude-from={rule_file}",
        )  # fmt: skip
        return [name for name in names_of(found) if by_product_of(name) and name[-1] != "/"]

    def _make(self) -> None:
        # Written last: without it, an earlier start may have been killed half-way.
        attributes = self._store / "info" / "attributes"
        if not attributes.exists():
            self._store.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            form = f"--object-format={self._repository.object_format}"
            git(GitCall(self._repository.root, self._store), "init", "--quiet", "--template=", form)
            os.chmod(self._store, 0o700)
        link_objects(self._repository.common_dir / "objects", self._store / "objects")
        (self._store / "info").mkdir(exist_ok=True)
        attributes.write_text(_ATTRIBUTES)

    def _write_rules(self, name: str, text: str) -> None:
        (self._store / "info" / name).write_bytes(os.fsencode(text))

    def _exclude(self) -> None:
        rules = os.fsdecode((self._store / "info" / "user-exclude").read_bytes())
        lines = [*BY_PRODUCTS, *(_escaped(path) for path in self._borders)]
        self._write_rules("exclude", rules + "\n".join(lines) + "\n")

    def _find_borders(self) -> dict[str, str]:
        listed = names_of(git(self._call, "ls-files", "-z", "-o", "--exclude-standard"))
        return {name: why for name in listed if (why := self._why_not(name))}

    def _why_not(self, name: str) -> str:
        if name.endswith("/"):
            return "a repository of its own"
        try:
            info = os.lstat(self._repository.root / name)
        except OSError:
            return ""
        is_large = stat.S_ISREG(info.st_mode) and info.st_size > MAX_FILE_BYTES
        return f"larger than {MAX_FILE_BYTES // 2**20} MB" if is_large else ""

    def _force_tracked(self) -> None:
        # What the user tracks is covered, though ignored or of a by-product's name.
        tracked = names_of(git(self._repository.call, "ls-files", "-z", "--cached"))
        if not tracked:
            return
        listed = b"\x00".join(os.fsencode(name) for name in tracked) + b"\x00"
        ignored = git(
            self._call, "check-ignore", "--no-index", "-z", "--stdin", stdin=listed, ok=(0, 1)
        )
        covered = [name for name in names_of(ignored) if name not in self._borders]
        add_paths(self._call, [n for n in covered if is_there(self._repository.root / n)])


def add_paths(call: GitCall, paths: Sequence[str]) -> None:
    """Bring the index up to date for these paths, whatever the ignore rules say."""
    if paths:
        listed = b"\x00".join(os.fsencode(path) for path in paths) + b"\x00"
        # Replace: where a folder stands now, a file may have stood, and the other way round.
        git(call, "update-index", "--add", "--remove", "--replace", "-z", "--stdin", stdin=listed)


def remove_paths(call: GitCall, paths: Sequence[str]) -> None:
    """Take these paths out of the index; the files stay."""
    if paths:
        listed = b"\x00".join(os.fsencode(path) for path in paths) + b"\x00"
        git(call, "update-index", "--force-remove", "-z", "--stdin", stdin=listed)


def names_of(listed: bytes) -> list[str]:
    """The names of a list that NULs separate."""
    return [os.fsdecode(name) for name in listed.split(b"\x00") if name]


def is_there(path: Path) -> bool:
    """Whether something that git can hold is there: a file or a link."""
    return os.path.islink(path) or os.path.isfile(path)


def _escaped(path: str) -> str:
    special = "".join("\\" + char if char in "\\*?[ !#" else char for char in path)
    # A pattern cannot hold a line break; a wildcard for one character can stand for it.
    return "/" + special.replace("\n", "?").replace("\r", "?")
