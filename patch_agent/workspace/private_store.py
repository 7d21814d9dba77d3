"""The private git store of a working tree, made ready once a session before its first snapshot."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from patch_agent.core.errors import UserError
from patch_agent.workspace.coverage_rules import BY_PRODUCTS, by_product_of, user_excludes
from patch_agent.workspace.git import GitCall, git, names_of
from patch_agent.workspace.object_links import link_objects
from patch_agent.workspace.private_index import PrivateIndex
from patch_agent.workspace.repository import Repository

MAX_FILE_BYTES = 50 * 1024 * 1024
MAX_ERRORS = 20
_NESTED = ("adding embedded git repository", "does not have a commit checked out")
"""How git says that a repository has appeared inside of this one."""
_ATTRIBUTES = "* -text -filter -ident -working-tree-encoding !eol !diff !merge\n"


class PrivateStore:
    """Objects, ignore rules and an index that has everything that snapshots cover."""

    def __init__(self, repository: Repository, store: Path, index: PrivateIndex) -> None:
        self._repository = repository
        self._store = store
        self._index = index
        self._call = index.call
        self._borders: dict[str, str] = {}

    def prepare(self) -> list[str]:
        """Make it ready; returns a line on everything that snapshots do not cover."""
        root = self._repository.root
        if str(root) in (root.anchor, os.path.realpath(os.environ.get("HOME") or "/")):
            raise UserError(f"{root} is too large a place to work in; use a project's folder")
        self._make()
        self._write_rules("user-exclude", user_excludes(self._repository))
        self._exclude()
        is_new = self._index.seed()
        notes = self.draw_borders()
        self._force_tracked()
        if is_new:
            # What was there before the first step is the user's, whatever its name.
            found = self.untracked_by_products()
            self._index.add([name for name in found if name not in self._borders])
        return notes

    def draw_borders(self) -> list[str]:
        """Leave out nested repositories and large files that are new; a line on each."""
        self._index.remove(self._index.nested())
        borders = self._find_borders()
        self._borders |= borders
        self._exclude()
        return [f"not covered by snapshots: {path} ({why})" for path, why in borders.items()]

    def add_all(self) -> list[str]:
        """Take everything that is covered into the index; returns a line on what is not."""
        words = self._index.add_all()
        notes: list[str] = []
        if any(sign in line for line in words for sign in _NESTED):
            notes = self.draw_borders()
            words = self._index.add_all()
        errors = [line.removeprefix("error: ") for line in words if line.startswith("error: ")]
        return notes + [f"not covered by snapshots: {line}" for line in errors][:MAX_ERRORS]

    def untracked_by_products(self) -> list[str]:
        """Files of by-product patterns that the index has not and the user does not ignore."""
        rule_file = self._store / "info" / "user-exclude"
        found = git(
            self._call, "ls-files", "-z", "-o",
            "--exclude-per-directory=.gitignore", f"--exclude-from={rule_file}",
        )  # fmt: skip
        return [name for name in names_of(found) if by_product_of(name) and name[-1] != "/"]

    def ignored_among(self, folders: list[str]) -> set[str]:
        """Which of these folders git ignores: by the user's rules, as by-products, as borders."""
        return {name.removesuffix("/") for name in self._ignored([f"{n}/" for n in folders])}

    def _ignored(self, names: Sequence[str], *options: str) -> list[str]:
        # With ./ in front, a name that begins with a colon is no pathspec magic.
        listed = b"".join(os.fsencode(f"./{name}") + b"\x00" for name in names)
        asked = ("check-ignore", *options, "-z", "--stdin")
        found = git(self._call, *asked, stdin=listed, ok=(0, 1))
        return [name.removeprefix("./") for name in names_of(found)]

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
        root = self._repository.root
        return {name: why for name in listed if (why := _why_not(root, name))}

    def _force_tracked(self) -> None:
        # What the user tracks is covered, though ignored or of a by-product's name.
        tracked = names_of(git(self._repository.call, "ls-files", "-z", "--cached"))
        if not tracked:
            return
        ignored = self._ignored(tracked, "--no-index")
        covered = [name for name in ignored if name not in self._borders]
        self._index.add([n for n in covered if is_there(self._repository.root / n)])


def _why_not(root: Path, name: str) -> str:
    if name.endswith("/"):
        return "a repository of its own"
    try:
        info = os.lstat(root / name)
    except OSError:
        return ""
    is_large = stat.S_ISREG(info.st_mode) and info.st_size > MAX_FILE_BYTES
    return f"larger than {MAX_FILE_BYTES // 2**20} MB" if is_large else ""


def is_there(path: Path) -> bool:
    """Whether something that git can hold is there: a file or a link."""
    return os.path.islink(path) or os.path.isfile(path)


def _escaped(path: str) -> str:
    special = "".join("\\" + char if char in "\\*?[ !#" else char for char in path)
    # A pattern cannot hold a line break; a wildcard for one character can stand for it.
    return "/" + special.replace("\n", "?").replace("\r", "?")
