"""The main job without a key: the demo, and the fixture repositories by the same path."""

import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.e2e.conftest import SETTINGS
from tests.support.command import Command, environment
from tests.support.repositories import git

FIXTURES = Path(__file__).parents[2] / "fixtures" / "repos"


def unpacked(name: str, tmp_path: Path) -> Command:
    root = tmp_path / name
    shutil.copytree(FIXTURES / name, root)
    if name != "no_tests":
        (root / "pytest.ini").write_text(SETTINGS)
    git(root, "init", "-q", "-b", "main")
    git(root, "config", "core.autocrlf", "true" if name == "crlf_config" else "false")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "start")
    return Command(root, tmp_path / "home")


def test_the_demo_fixes_its_repository_and_says_where_it_is(tmp_path: Path) -> None:
    done = Command(tmp_path, tmp_path / "home").run("demo", TMPDIR=str(tmp_path))
    assert done.returncode == 0
    assert "tests before the first edit: 1 failed, 11 passed" in done.stderr
    assert "+    return now < token.expires_at" in done.stdout
    assert "DONE  1 test fail→pass, 0 regressions, 11 pass→pass  (grade: proven)" in done.stdout
    assert "12 passed" in done.stdout
    (folder,) = tmp_path.glob("patch-demo-*/auth_expiry")
    assert str(folder) in done.stderr
    assert git(folder, "status", "--porcelain") == " M auth/session.py\n"


@pytest.mark.parametrize(
    ("name", "path", "added"),
    [
        ("cart_totals", "shop/pricing.py", "    return goods + shipping(goods)"),
        ("slug_text", "textkit/excerpts.py", '        cut = cut.rsplit(" ", 1)[0]'),
        ("crlf_config", "settings/parser.py", "    word = value.strip().lower()\r"),
    ],
)
def test_the_other_fixtures_are_fixed(name: str, path: str, added: str, tmp_path: Path) -> None:
    command = unpacked(name, tmp_path)
    before = (command.cwd / path).read_bytes().split(b"\n")
    result = command.json("fix", "the tests fail", "--yes")
    assert (result["exit_code"], result["model"]) == (0, "offline")
    assert result["files_changed"] == [path]
    assert (result["cost_usd"], result["verdict"]["grade"]) == (0.0, "proven")
    after = (command.cwd / path).read_bytes().split(b"\n")
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    assert changed == [added.encode()]


def test_without_tests_nothing_begins(tmp_path: Path) -> None:
    done = unpacked("no_tests", tmp_path).run("fix", "wrong in the morning", "--yes")
    assert (done.returncode, len(done.stderr.splitlines())) == (3, 1)


def test_what_cannot_be_repaired_ends_honestly(tmp_path: Path) -> None:
    command = unpacked("auth_expiry", tmp_path)
    (command.cwd / "auth" / "session.py").write_text("def is_valid(token, now):\n    return {}\n")
    result = command.json("fix", "the auth tests fail", "--yes")
    assert (result["reason"], result["exit_code"]) == ("gave_up", 1)
    assert result["files_changed"] == []


def test_where_all_tests_pass_it_says_that_there_is_nothing_to_repair(tmp_path: Path) -> None:
    command = unpacked("auth_expiry", tmp_path)
    file = command.cwd / "auth" / "session.py"
    file.write_text(file.read_text().replace("now <= token", "now < token"))
    result = command.json("fix", "look for faults", "--yes")
    assert (result["reason"], result["exit_code"]) == ("gave_up", 1)
    assert "No test fails" in result["text"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_search_that_was_cut_off_is_made_again(number: int, tmp_path: Path) -> None:
    command = unpacked("cart_totals", tmp_path)
    process = subprocess.Popen(
        ["patch", "fix", "the totals are wrong", "--yes"],
        cwd=command.cwd,
        env=environment(command.home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    while "tests before the first edit" not in process.stdout.readline():
        continue
    time.sleep(1.0)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert git(command.cwd, "status", "--porcelain") == ""
    result = command.json("resume", "--yes")
    assert (result["exit_code"], result["files_changed"]) == (0, ["shop/pricing.py"])
    assert list((command.home / "scratch").iterdir()) == []
