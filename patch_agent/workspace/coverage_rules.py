"""What snapshots cover: the user's ignore rules, and by-products of test runs that stay out."""

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
)
"""Ignore patterns of files that test runs leave behind; new ones of these are no change."""


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
    """The ignore rules that lie outside of the tree: the repository's own and the user's."""
    files = [repository.common_dir / "info" / "exclude", _global_excludes(repository)]
    texts = [_read(path) for path in files if path is not None]
    return "".join(text if text.endswith("\n") else text + "\n" for text in texts if text)


def _global_excludes(repository: Repository) -> Path | None:
    home = os.environ.get("HOME")
    if not home:
        return None
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    for file in (Path(home) / ".gitconfig", Path(config) / "git" / "config"):
        named = _excludes_file(repository, file)
        if named is not None:
            return named
    return Path(config) / "git" / "ignore"


def _excludes_file(repository: Repository, config: Path) -> Path | None:
    # Reading a value runs nothing; the user's file is not otherwise in force for our calls.
    if not config.is_file():
        return None
    call = GitCall(repository.root)
    try:
        result = git_result(call, "config", "--file", str(config), "--get", "core.excludesFile")
    except StoreError:
        return None
    name = result.output.decode("utf-8", "surrogateescape").strip()
    return Path(os.path.expanduser(name)) if result.exit_code == 0 and name else None


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "surrogateescape")
    except OSError:
        return ""
