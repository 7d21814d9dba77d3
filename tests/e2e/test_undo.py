"""`patch undo` and `patch redo`, as a user runs them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.repositories import BROKEN, FIXED, git, make_repository


class Place:
    def __init__(self, folder: Path) -> None:
        self.root = make_repository(folder / "repo", BROKEN)
        self.home = folder / "home"

    def patch(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.python("-m", "patch_agent", *arguments)

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        env = {k: v for k, v in os.environ.items() if not k.startswith("ANTHROPIC")}
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.root,
            env={**env, "PATCH_HOME": str(self.home)},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )

    def read(self, name: str) -> str:
        return (self.root / name).read_text()


@pytest.fixture
def fixed(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    done = place.patch("fix", "test_add fails", "--test-cmd", f"{sys.executable} -m pytest -q")
    assert done.returncode == 0, done.stderr
    assert place.read("calc.py") == FIXED["calc.py"]
    return place


def test_undo_takes_back_redo_makes_again_and_nothing_else_is_touched(fixed: Place) -> None:
    (fixed.root / "mine.txt").write_text("mine\n")
    index = git(fixed.root, "ls-files", "--stage")
    listed = fixed.patch("undo", "--dry-run")
    assert listed.returncode == 0
    assert "calc.py" in listed.stdout
    assert fixed.read("calc.py") == FIXED["calc.py"]
    assert fixed.patch("undo").returncode == 0
    assert fixed.read("calc.py") == BROKEN["calc.py"]
    assert fixed.patch("undo").returncode == 1
    assert fixed.patch("redo").returncode == 0
    assert fixed.read("calc.py") == FIXED["calc.py"]
    assert fixed.read("mine.txt") == "mine\n"
    assert git(fixed.root, "ls-files", "--stage") == index


def test_later_edits_are_merged_when_they_do_not_touch_the_runs_lines(fixed: Place) -> None:
    edited = FIXED["calc.py"].replace("a * 2", "2 * a")
    (fixed.root / "calc.py").write_text(edited)
    done = fixed.patch("undo", "--output-format", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["files"] == [
        {"path": "calc.py", "action": "merged with later edits"}
    ]
    assert fixed.read("calc.py") == BROKEN["calc.py"].replace("a * 2", "2 * a")


def test_an_edit_of_the_same_lines_is_refused_by_name(fixed: Place) -> None:
    (fixed.root / "calc.py").write_text("def add(a, b):\n    return b + a\n")
    done = fixed.patch("undo")
    assert done.returncode == 8
    assert "calc.py" in done.stderr
    assert fixed.read("calc.py") == "def add(a, b):\n    return b + a\n"


def test_an_undo_that_was_cut_off_is_finished_by_the_next(fixed: Place) -> None:
    cut = (
        "import os; from patch_agent.bootstrap import undo; "
        "undo.carry_out = lambda *a: os._exit(9); "
        "from patch_agent.cli.app import run; run(['undo'], 'patch')"
    )
    assert fixed.python("-c", cut).returncode == 9
    refused = fixed.patch("resume", "-m", "go on")
    assert refused.returncode == 2
    assert "patch undo" in refused.stderr
    listed = fixed.patch("undo", "--dry-run")
    assert "calc.py" in listed.stdout
    assert fixed.read("calc.py") == FIXED["calc.py"]
    assert fixed.patch("undo").returncode == 0
    assert fixed.read("calc.py") == BROKEN["calc.py"]
    assert fixed.patch("redo").returncode == 0
    assert fixed.read("calc.py") == FIXED["calc.py"]


def test_to_and_path_choose_what_is_taken_back(fixed: Place) -> None:
    last = len(fixed.patch("log").stdout.splitlines())
    nothing = fixed.patch("undo", "--to", f"e{last}")
    assert nothing.returncode == 1
    assert "nothing to undo" in nothing.stderr
    assert fixed.patch("undo", "--path", "tests").returncode == 1
    assert fixed.patch("undo", "--to", "x9").returncode == 2
    assert fixed.read("calc.py") == FIXED["calc.py"]
    assert fixed.patch("undo", "--to", "e3", "--path", "*.py").returncode == 0
    assert fixed.read("calc.py") == BROKEN["calc.py"]
    shown = fixed.patch("show").stdout
    assert "no proof of the files as they are now" in shown
    assert "taken back" in shown
