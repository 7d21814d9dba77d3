"""Which test command a repository has, with which Python, and how a named one is read."""

import os
import sys
from pathlib import Path

import pytest

from patch_agent.core.errors import UserError
from patch_agent.runners.command_line import parse_command
from patch_agent.runners.generic import Generic
from patch_agent.runners.pytest import Pytest
from patch_agent.runners.python_environment import python_command
from patch_agent.runners.registry import RUNNERS, detect, runner_for
from patch_agent.runners.tester import CommandTester
from patch_agent.stores.memory import MemoryBlobs
from tests.support.repositories import write_files


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"pytest.ini": ""}, "there is a pytest.ini"),
        (
            {"pyproject.toml": "[tool.pytest.ini_options]\n"},
            "pyproject.toml has settings of pytest",
        ),
        ({"setup.cfg": "[tool:pytest]\n"}, "setup.cfg has settings of pytest"),
        ({"tests/conftest.py": ""}, "found tests/conftest.py"),
        ({"pkg/test_a.py": ""}, "found pkg/test_a.py"),
        ({"pkg/a_test.py": ""}, "found pkg/a_test.py"),
    ],
)
def test_pytest_is_found_and_says_why(files: dict[str, str], why: str, tmp_path: Path) -> None:
    write_files(tmp_path, files)
    found = detect(tmp_path, "/nowhere")
    assert found is not None
    assert found.argv[-2:] == ("-m", "pytest")
    assert found.why.startswith(why)


@pytest.mark.parametrize(
    "files",
    [{}, {"a.py": ""}, {"pyproject.toml": "[project]\n"}, {"node_modules/x/test_a.py": ""},
     {".venv/lib/test_a.py": ""}, {"testing.py": ""}],
)  # fmt: skip
def test_where_there_are_no_tests_none_are_made_up(files: dict[str, str], tmp_path: Path) -> None:
    write_files(tmp_path, files)
    assert detect(tmp_path, "/nowhere") is None


def environment_at(folder: Path, *, has_pytest: bool = True) -> str:
    packages = folder / "lib" / "python3.11" / "site-packages"
    packages.mkdir(parents=True)
    if has_pytest:
        (packages / "pytest").mkdir()
    (folder / "bin").mkdir()
    python = folder / "bin" / "python"
    python.symlink_to(sys.executable)
    (folder / "bin" / "python3").symlink_to(sys.executable)
    return str(python)


def test_the_projects_own_environment_comes_first(tmp_path: Path) -> None:
    own = environment_at(tmp_path / "repo" / ".venv")
    active = environment_at(tmp_path / "active")
    root = tmp_path / "repo"
    variables = {"VIRTUAL_ENV": str(tmp_path / "active")}
    assert python_command(root, "", variables)[0] == (own,)
    assert python_command(tmp_path, "", variables)[0] == (active,)


def test_an_environment_without_pytest_is_passed_over_and_ours_is_last(tmp_path: Path) -> None:
    environment_at(tmp_path / "repo" / ".venv", has_pytest=False)
    command, why = python_command(tmp_path / "repo", "", {})
    assert command == (sys.executable,)
    assert why.startswith("with the Python that runs Patch")


def test_tools_that_manage_the_environment_are_used(tmp_path: Path) -> None:
    (tmp_path / "uv.lock").write_text("")
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    (bin_ / "uv").write_text("#!/bin/sh\n")
    (bin_ / "uv").chmod(0o755)
    command, why = python_command(tmp_path, str(bin_), {})
    assert command == (str(bin_ / "uv"), "run", "--no-sync", "python")
    assert why == "through uv (uv.lock)"


@pytest.mark.parametrize(
    ("text", "argv"),
    [
        ("pytest -q", ("pytest", "-q")),
        ("python -m pytest 'tests/a b.py'", ("python", "-m", "pytest", "tests/a b.py")),
        ('pytest -k "a or b"', ("pytest", "-k", "a or b")),
        ("pytest -k 'a|b'", ("pytest", "-k", "a|b")),
        ("cd x && pytest", ("bash", "-o", "pipefail", "-c", "cd x && pytest")),
        ("pytest | tail", ("bash", "-o", "pipefail", "-c", "pytest | tail")),
        ("pytest $ARGS", ("bash", "-o", "pipefail", "-c", "pytest $ARGS")),
    ],
)
def test_a_named_command_is_read_as_words_or_as_a_shell_line(
    text: str, argv: tuple[str, ...]
) -> None:
    assert parse_command(text) == argv


def test_quotes_that_do_not_close_are_refused() -> None:
    with pytest.raises(UserError, match="cannot be read"):
        parse_command("pytest 'x")


@pytest.mark.parametrize(
    ("argv", "name"),
    [
        (("pytest",), "pytest"),
        (("/x/bin/python", "-m", "pytest", "-q"), "pytest"),
        (("uv", "run", "pytest"), "pytest"),
        (("coverage", "run", "-m", "pytest"), "pytest"),
        (("bash", "-o", "pipefail", "-c", "cd x && pytest"), "other"),
        (("make", "test"), "other"),
        (("python", "tests/run.py"), "other"),
    ],
)
def test_a_command_is_read_by_its_runner(argv: tuple[str, ...], name: str) -> None:
    assert runner_for(argv).name == name


def test_a_command_that_cannot_be_read_is_never_a_pass(tmp_path: Path) -> None:
    tester = CommandTester(tmp_path, [("true",)], 10, {"PATH": os.environ["PATH"]}, MemoryBlobs())
    (report,) = tester.run((), lambda _text: None)
    assert (report.exit_code, report.passed) == (0, False)
    assert "cannot see which tests" in report.note


def test_a_command_that_does_not_start_says_so(tmp_path: Path) -> None:
    tester = CommandTester(tmp_path, [("no-such-runner",)], 10, {"PATH": "/bin"}, MemoryBlobs())
    (report,) = tester.run((), lambda _text: None)
    assert (report.ending, report.passed) == ("not_started", False)
    assert "no-such-runner" in report.note


@pytest.mark.parametrize("runner", RUNNERS, ids=lambda runner: runner.name)
def test_every_runner_knows_tests_and_what_steers_them(runner: Pytest | Generic) -> None:
    assert runner.is_test_path("tests/helpers.py")
    assert not runner.is_test_path("src/a.py")
    assert runner.steers_tests("tox.ini")
    assert not runner.steers_tests("src/a.py")


@pytest.mark.parametrize("path", ["conftest.py", "a/conftest.py", "pytest.ini", "x.pth",
                                  "sitecustomize.py", "pyproject.toml"])  # fmt: skip
def test_what_steers_pytest_is_known(path: str) -> None:
    assert Pytest().steers_tests(path)
