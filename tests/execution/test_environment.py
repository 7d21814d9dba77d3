"""What a child sees: an allow-list, nothing that asks, no secret."""

import os
from pathlib import Path

from patch_agent.execution.environment import child_environment, clean_path, find_program

BASE = {
    "HOME": "/home/me", "LANG": "de_DE.UTF-8", "LC_ALL": "C", "PATH": "/usr/bin:bin::/bin:.",
    "ANTHROPIC_API_KEY": "sk", "AWS_SECRET_ACCESS_KEY": "x", "GITHUB_TOKEN": "x",
    "LD_PRELOAD": "/x.so", "PYTHONPATH": "x", "GIT_DIR": "/x", "BASH_ENV": "/x",
    "DATABASE_URL": "d", "VIRTUAL_ENV": "/venv", "GIT_EDITOR": "vim", "PATCH_HOME": "/p",
}  # fmt: skip


def test_secrets_and_what_steers_programs_stay_out() -> None:
    env = child_environment(BASE)
    for name in ("ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "LD_PRELOAD",
                 "PYTHONPATH", "GIT_DIR", "BASH_ENV", "DATABASE_URL", "PATCH_HOME"):  # fmt: skip
        assert name not in env
    assert (env["HOME"], env["LC_ALL"], env["VIRTUAL_ENV"]) == ("/home/me", "C", "/venv")
    assert (env["CI"], env["GIT_TERMINAL_PROMPT"], env["GIT_EDITOR"]) == ("1", "0", "true")


def test_a_name_that_the_user_lists_is_passed() -> None:
    assert child_environment(BASE, ["DATABASE_URL"])["DATABASE_URL"] == "d"


def test_the_path_has_no_place_inside_the_work_tree() -> None:
    assert clean_path(BASE["PATH"]) == "/usr/bin:/bin"
    assert child_environment({})["PATH"] == clean_path(os.defpath)


def test_a_program_inside_the_repository_is_not_found(tmp_path: Path) -> None:
    for folder in ("repo/bin", "other"):
        (tmp_path / folder).mkdir(parents=True)
        program = tmp_path / folder / "rg"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    path = f"{tmp_path}/repo/bin:{tmp_path}/other"
    assert find_program("rg", path, tmp_path / "repo") == f"{tmp_path}/other/rg"
    assert find_program("gone", path, tmp_path) is None
