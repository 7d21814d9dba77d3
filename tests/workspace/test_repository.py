"""Finding the repository: what can be worked in, and one line for what cannot."""

from pathlib import Path

import pytest

from patch_agent.core.errors import UserError
from patch_agent.workspace.repository import create_repository, find_repository
from tests.support.repositories import git, make_repository


def test_it_is_found_from_a_folder_inside_and_through_a_link(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repo", {"sub/a.txt": ""})
    (tmp_path / "link").symlink_to(root)
    for start in (root, root / "sub", tmp_path / "link" / "sub"):
        found = find_repository(start)
        assert (found.root, found.git_dir) == (root, root / ".git")
        assert found.head_commit == git(root, "rev-parse", "HEAD").strip()


def test_a_detached_head_and_a_new_repository_are_fine(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repo", {"a.txt": ""})
    git(root, "checkout", "-q", "--detach")
    assert find_repository(root).head_commit is not None
    new = tmp_path / "new"
    new.mkdir()
    git(new, "init", "-q")
    assert find_repository(new).head_commit is None


def test_what_cannot_be_worked_in_is_named(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repo", {"a.txt": ""})
    bare = tmp_path / "bare"
    bare.mkdir()
    git(bare, "init", "-q", "--bare")
    plain = tmp_path / "plain"
    plain.mkdir()
    broken = make_repository(tmp_path / "broken", {"a.txt": ""})
    (broken / ".git" / "config").write_text("[core\n")
    for folder, words in (
        (bare, "is a bare repository"),
        (root / ".git", "is inside a .git folder"),
        (plain, "is not in a git repository"),
        (broken, "cannot be used"),
    ):
        with pytest.raises(UserError, match=words) as caught:
            find_repository(folder)
        assert caught.value.reason == "repository"
        assert "\n" not in str(caught.value)


def test_a_created_repository_needs_no_settings_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "nowhere"))
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "a.txt").write_text("a")
    create_repository(tmp_path / "demo", "A start")
    assert find_repository(tmp_path / "demo").head_commit is not None
    assert git(tmp_path / "demo", "status", "--porcelain") == ""
