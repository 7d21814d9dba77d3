"""Which of the user's ignore rules count, in which order, and what a by-product is."""

import os
from pathlib import Path
from typing import Any

import pytest

from patch_agent.workspace.coverage_rules import by_product_of, user_excludes
from patch_agent.workspace.repository import Repository, find_repository
from tests.support.repositories import git, make_repository


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    (home / ".config" / "git").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return home


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    root = make_repository(tmp_path / "repo", {"a.txt": ""})
    (root / ".git" / "info").mkdir(exist_ok=True)
    (root / ".git" / "info" / "exclude").write_text("!keep.local")
    return find_repository(root)


def test_the_repository_s_rules_come_behind_the_user_s(home: Path, repository: Repository) -> None:
    (home / ".config" / "git" / "ignore").write_bytes(b"\xef\xbb\xbf*.local\nbytes\xff\n")
    assert user_excludes(repository) == "*.local\nbytes\udcff\n!keep.local\n"


def test_the_file_that_the_settings_name_is_taken(home: Path, repository: Repository) -> None:
    (home / ".config" / "git" / "ignore").write_text("not-this\n")
    (home / "mine").write_text("*.mine\n")
    (home / "more").write_text("[core]\n\texcludesFile = ~/mine\n")
    (home / ".gitconfig").write_text("[include]\n\tpath = more\n")
    assert user_excludes(repository) == "*.mine\n!keep.local\n"


def test_a_file_that_the_repository_names_counts_first(home: Path, repository: Repository) -> None:
    (home / ".gitconfig").write_text("[core]\n\texcludesFile = ~/gone\n")
    (home / "own").write_text("*.own\n")
    git(repository.root, "config", "core.excludesFile", str(home / "own"))
    assert user_excludes(repository) == "*.own\n!keep.local\n"


def test_without_a_home_only_the_repository_counts(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert user_excludes(repository) == "!keep.local\n"


@pytest.mark.parametrize(
    ("path", "product"),
    [
        ("a/__pycache__/m.pyc", "a/__pycache__/"),
        ("m.pyc", "m.pyc"),
        (".coverage", ".coverage"),
        (".coverage.host.1", ".coverage.host.1"),
        ("x/.pytest_cache/v/cache/lastfailed", "x/.pytest_cache/"),
        ("src/p.egg-info/PKG-INFO", "src/p.egg-info/"),
        (".a.py.patch-new", ".a.py.patch-new"),
        ("__pycache__", ""),
        ("coverage.py", ""),
        ("a.py", ""),
        ("x.PYC", ""),
    ],
)
def test_by_products_are_known_by_their_names(path: str, product: str) -> None:
    assert by_product_of(path) == product


def test_a_home_that_may_not_be_looked_into_has_no_rules(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_repository(tmp_path / "repo", {"a.txt": ""})
    repository = find_repository(root)
    before = user_excludes(repository)
    (home / ".gitconfig").write_text("[core]\nexcludesFile = ~/mine\n")
    (home / "mine").write_text("*.mine\n")
    assert "*.mine" in user_excludes(repository)
    real = os.stat

    def refuse(path: Any, *args: Any, **more: Any) -> Any:
        if str(path).startswith(str(home)):
            raise PermissionError(13, "Permission denied")
        return real(path, *args, **more)

    monkeypatch.setattr(os, "stat", refuse)
    assert user_excludes(repository) == before
