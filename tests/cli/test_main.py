"""Which program `patch` is: the rule of GNU patch, the version, the stored help."""

import os
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

import patch_agent
from patch_agent.__main__ import COMMANDS
from patch_agent.cli.app import app
from tests.support.command import BIN

HELP = Path(patch_agent.__file__).parent / "cli" / "help.txt"


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A folder with another program called patch, which says how it was called."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "patch"
    program.write_text(
        '#!/bin/sh\nif [ "$1" = --version ]; then echo "GNU patch 9.9"; exit; fi\n'
        'echo "other: $*"; /bin/cat; exit 7\n'
    )
    program.chmod(0o755)
    return folder


def run(
    *arguments: str, path: Path | None, cwd: Path, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    folders = [str(BIN), *([str(path)] if path else [])]
    return subprocess.run(
        [str(BIN / "patch"), *arguments],
        env={"PATH": os.pathsep.join(folders), "PATCH_HOME": str(cwd / "home")},
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_is_no_command_goes_to_the_other_patch_unchanged(other: Path, tmp_path: Path) -> None:
    done = run("-p1", "-i", "a b.diff", path=other, cwd=tmp_path, stdin="input\n")
    assert (done.returncode, done.stdout) == (7, "other: -p1 -i a b.diff\ninput\n")


def test_without_arguments_and_terminal_the_other_patch_reads_the_input(
    other: Path, tmp_path: Path
) -> None:
    done = run(path=other, cwd=tmp_path, stdin="--- a\n")
    assert (done.returncode, done.stdout) == (7, "other: \n--- a\n")


def test_a_file_that_is_nearly_a_command_goes_to_the_other_patch(
    other: Path, tmp_path: Path
) -> None:
    (tmp_path / "fixx").write_text("")
    assert run("fixx", path=other, cwd=tmp_path).stdout == "other: fixx\n"


def test_a_misspelt_command_is_not_handed_over(other: Path, tmp_path: Path) -> None:
    done = run("fixx", "the test", path=other, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "patch: no such command: fixx; did you mean fix?\n"


def test_without_another_patch_there_is_one_clear_line(tmp_path: Path) -> None:
    done = run("-p1", path=None, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("patch: not a command of Patch, and no other `patch` program")
    assert len(done.stderr.splitlines()) == 1


def test_it_never_hands_over_to_another_copy_of_itself(tmp_path: Path) -> None:
    copy = tmp_path / "bin"
    copy.mkdir()
    (copy / "patch").write_bytes((BIN / "patch").read_bytes())
    (copy / "patch").chmod(0o755)
    assert run("-p1", path=copy, cwd=tmp_path).returncode == 2


def test_the_version_names_both_programs(other: Path, tmp_path: Path) -> None:
    done = run("--version", path=other, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        f"Patch (patch-agent) {patch_agent.__version__}",
        "GNU patch 9.9 (used for everything that is not a command of Patch)",
    ]


def test_the_stored_help_is_what_the_command_line_says() -> None:
    said = CliRunner().invoke(
        app, ["--help"], prog_name="patch", env={"COLUMNS": "80", "TERM": "dumb"}
    )
    assert said.stdout == HELP.read_text(), "run scripts/help"


def test_every_command_is_known_to_the_entry() -> None:
    assert sorted(COMMANDS) == sorted(str(info.name) for info in app.registered_commands)


def test_patch_agent_never_hands_over(other: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [str(BIN / "patch-agent"), "-p1"],
        env={"PATH": os.pathsep.join([str(BIN), str(other)])},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "other" not in done.stdout
