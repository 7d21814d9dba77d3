"""Wrong use: one line that says what to do, the documented exit code, no session, no traceback."""

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest

from tests.support.command import BIN, Command, environment
from tests.support.repositories import BROKEN, git, make_repository


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(make_repository(tmp_path / "repo", BROKEN), tmp_path / "home")


def refused(command: Command, *arguments: str, **changes: str) -> tuple[int, str]:
    """The exit code and the one line; nothing may have been begun."""
    done = command.run(*arguments, **changes)
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert (
        not (command.home / "log.sqlite3").exists() or command.run("sessions", "--all").stdout == ""
    )
    return done.returncode, lines[0]


def test_not_a_repository(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    code, line = refused(Command(folder, tmp_path / "home"), "fix", "x")
    assert code == 2
    assert (
        line == f"patch: {folder} is not in a git repository; go to one, or make one with: git init"
    )


def test_a_bare_repository(tmp_path: Path) -> None:
    folder = tmp_path / "bare"
    folder.mkdir()
    git(folder, "init", "-q", "--bare")
    code, line = refused(Command(folder, tmp_path / "home"), "fix", "x")
    assert code == 2
    assert "is a bare repository" in line


def test_a_repository_without_a_commit(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    git(folder, "init", "-q")
    code, line = refused(Command(folder, tmp_path / "home"), "fix", "x")
    assert code == 2
    assert "has no commit yet; make one first" in line


def test_no_git(command: Command, tmp_path: Path) -> None:
    only = tmp_path / "only"
    only.mkdir()
    for name in ("patch",):
        (only / name).symlink_to(BIN / name)
    code, line = refused(command, "fix", "x", PATH=str(only))
    assert code == 2
    assert line == "patch: git was not found on PATH; install git and try again"


def test_no_test_command_and_no_model(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repo", {"a.py": "x = 1\n"})
    code, line = refused(Command(root, tmp_path / "home"), "fix", "x")
    assert code == 3
    assert "no test command was found" in line
    assert "--test-cmd" in line


def test_a_model_without_a_key(command: Command) -> None:
    code, line = refused(command, "fix", "x", "--model", "sonnet")
    assert code == 7
    assert (
        line == "patch: --model sonnet needs a key: set ANTHROPIC_API_KEY, or use --model offline"
    )


def test_a_base_url_that_refuses_and_no_model_named(command: Command) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        code, line = refused(command, "fix", "x", "--base-url", url)
    assert code == 7
    assert "127.0.0.1:" in line


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fix", ""], "the task is empty"),
        (["fix", "   "], "the task is empty"),
        (["fix", "x", "--nonsense"], "--nonsense"),
        (["fix"], "TASK"),
        (["fix", "x", "--max-steps", "0"], "--max-steps must be at least 1"),
        (["fix", "x", "--max-steps", "many"], "--max-steps"),
        (["fix", "x", "--max-cost", "nan"], "--max-cost must be an amount"),
        (["fix", "x", "--max-time", "30"], "write it with a unit"),
        (["fix", "x", "--test-cmd", ""], "--test-cmd is empty"),
        (["fix", "x", "--test-cmd", "pytest 'x"], "cannot be read"),
        (["fix", "x", "--output-format", "xml"], "'xml' is unknown"),
        (["fix", "x", "--base-url", "localhost"], "is no base URL"),
        (["fix", "x", "--context", "no-such-file"], "cannot read the context"),
        (["-C", "/no/such/folder", "fix", "x"], "/no/such/folder"),
        (["show", "p123"], "there is no session 'p123'"),
        (["show"], "there are no sessions in this repository yet"),
        (["resume"], "there is no unfinished session"),
        (["resume", "p1", "-m", " "], "the message is empty"),
    ],
)
def test_wrong_use(command: Command, arguments: list[str], words: str) -> None:
    code, line = refused(command, *arguments)
    assert code == 2
    assert words in line


def test_a_cost_limit_for_a_model_without_a_price(command: Command) -> None:
    code, line = refused(
        command,
        "fix",
        "x",
        "--model",
        "my-own",
        "--max-cost",
        "1",
        "--base-url",
        "http://127.0.0.1:1",
    )
    assert code == 2
    assert "the price of my-own is not known" in line


def test_a_failure_is_an_object_where_json_was_asked_for(command: Command) -> None:
    done = command.run("fix", " ", "--output-format", "json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["reason"] == "usage"
    assert len(done.stderr.splitlines()) == 1


def test_a_state_directory_that_cannot_be_used(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    done = command.run("fix", "x", "--yes", PATCH_HOME=str(file / "inside"))
    assert done.returncode == 2
    assert "set PATCH_HOME to a folder that can" in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_state_directory_that_is_read_only(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "read-only"
    folder.mkdir(mode=0o500)
    done = command.run("fix", "x", "--yes", PATCH_HOME=str(folder / "inside"))
    assert done.returncode == 2


def test_a_state_directory_inside_the_repository(command: Command) -> None:
    inside = command.cwd / "state"
    done = command.run("fix", "x", "--yes", PATCH_HOME=str(inside))
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "lies inside the repository" in done.stderr
    assert not inside.exists()


def test_a_current_folder_that_is_gone(command: Command, tmp_path: Path) -> None:
    line = f"mkdir {tmp_path}/gone && cd {tmp_path}/gone && rmdir {tmp_path}/gone && patch fix x"
    done = subprocess.run(
        ["/bin/sh", "-c", line], env=environment(command.home), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "the current folder is not there any more" in done.stderr
