"""Finding the repository: what can be worked in, and one line for what cannot."""

import os
from pathlib import Path

import pytest

from patch_agent.core.errors import UserError
from patch_agent.workspace.git import find_git
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


def test_odd_names_of_folders_are_names(tmp_path: Path) -> None:
    for name in ("line\nbreak", "sep\u2028arator", "form\x0cfeed", "end\n", "bytes\udcff"):
        root = make_repository(tmp_path / name, {"a.txt": ""})
        found = find_repository(root)
        assert (found.root, found.git_dir, found.common_dir) == (root, root / ".git", root / ".git")


def test_a_linked_worktree_and_a_submodule_have_their_git_folder_elsewhere(tmp_path: Path) -> None:
    main = make_repository(tmp_path / "main", {"a.txt": ""})
    git(main, "worktree", "add", "-q", str(tmp_path / "linked"))
    linked = find_repository(tmp_path / "linked")
    assert (linked.root, linked.git_dir, linked.common_dir) == (
        tmp_path / "linked", main / ".git" / "worktrees" / "linked", main / ".git",
    )  # fmt: skip
    inner = make_repository(tmp_path / "inner", {"x.txt": ""})
    git(main, "-c", "protocol.file.allow=always", "submodule", "-q", "add", str(inner), "mod")
    module = find_repository(main / "mod")
    assert (module.root, module.git_dir, module.common_dir) == (
        main / "mod", main / ".git" / "modules" / "mod", main / ".git" / "modules" / "mod",
    )  # fmt: skip


def test_a_worktree_of_a_bare_repository_can_be_worked_in(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "root", {"a.txt": ""})
    git(tmp_path, "clone", "-q", "--bare", str(root), str(tmp_path / "bare"))
    git(tmp_path / "bare", "worktree", "add", "-q", str(tmp_path / "tree"))
    found = find_repository(tmp_path / "tree")
    assert (found.root, found.common_dir) == (tmp_path / "tree", tmp_path / "bare")


def test_git_variables_of_the_user_s_shell_have_no_effect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_repository(tmp_path / "root", {"a.txt": ""})
    other = make_repository(tmp_path / "other", {"b.txt": ""})
    marker = tmp_path / "marker"
    for name, value in {
        "GIT_DIR": str(other / ".git"),
        "GIT_WORK_TREE": str(other),
        "GIT_INDEX_FILE": str(tmp_path / "index"),
        "GIT_EXTERNAL_DIFF": f"touch {marker}",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": f"touch {marker}",
        "GIT_TRACE": str(marker),
    }.items():
        monkeypatch.setenv(name, value)
    assert find_repository(root).root == root
    assert not marker.exists()


def test_git_is_only_taken_from_absolute_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "git"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    with pytest.raises(UserError, match="git was not found"):
        find_git(os.pathsep.join(["", ".", "relative"]))
    assert find_git(str(tmp_path)) == str(program)
