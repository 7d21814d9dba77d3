"""What snapshots cover: the user's ignore rules, and by-products of test runs that stay out."""

import codecs
import os
from fnmatch import fnmatchcase
from pathlib import Path

from patch_agent.core.errors import StoreError
from patch_agent.workspace.git import GitCall, git_result
from patch_agent.workspace.repository import Repository

BY_PRODUCTS = (
    "__pycache__/",
    "*.py[cod]",
    ".pytest_cache/",
    ".hypothesis/",
    ".coverage",
    ".coverage.*",
    "htmlcov/",
    "coverage.xml",
    ".mypy_cache/",
    ".ruff_cache/",
    ".tox/",
    ".nyc_output/",
    "*.egg-info/",
    ".*.patch-new",
)
"""Ignore patterns of files that test runs (and, the last, a write that was killed) leave behind;
new ones of these are no change."""


def by_product_of(path: str) -> str:
    """The file, or the folder of such files (with a slash), that makes a path a by-product.

    "" for a path that is none.
    """
    *folders, name = path.split("/")
    for depth, folder in enumerate(folders, 1):
        if any(fnmatchcase(folder + "/", pattern) for pattern in BY_PRODUCTS):
            return "/".join(folders[:depth]) + "/"
    return path if any(fnmatchcase(name, pattern) for pattern in BY_PRODUCTS) else ""


def user_excludes(repository: Repository) -> str:
    """The ignore rules that lie outside of the tree: the user's, then the repository's own.

    In this order: of two rules that match, the later one counts.
    """
    files = [_excludes_file(repository), repository.common_dir / "info" / "exclude"]
    texts = [_read(path) for path in files if path is not None]
    return "".join(text if text.endswith("\n") else text + "\n" for text in texts if text)


def _excludes_file(repository: Repository) -> Path | None:
    home = os.environ.get("HOME")
    config = os.environ.get("XDG_CONFIG_HOME") or (os.path.join(home, ".config") if home else "")
    settings = [repository.common_dir / "config"]
    settings += [Path(home) / ".gitconfig"] if home else []
    settings += [Path(config) / "git" / "config"] if config else []
    for file in settings:
        named = _named_in(repository, file)
        if named is not None:
            return named
    return Path(config) / "git" / "ignore" if config else None


def _named_in(repository: Repository, config: Path) -> Path | None:
    # Reading a value runs nothing; the user's file is not otherwise in force for our calls.
    # A home that is another user's may not be looked into: then it has no rules for us.
    if not os.path.isfile(config):
        return None
    call = GitCall(repository.root)
    asked = ("--includes", "--file", str(config), "--get", "core.excludesFile")
    try:
        result = git_result(call, "config", *asked)
    except StoreError:
        return None
    name = os.fsdecode(result.output).removesuffix("\n")
    if result.exit_code != 0 or not name:
        return None
    return repository.root / os.path.expanduser(name)


def _read(path: Path) -> str:
    try:
        return os.fsdecode(path.read_bytes().removeprefix(codecs.BOM_UTF8))
    except OSError:
        return ""
