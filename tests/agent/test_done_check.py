"""Broken code never ends with exit 0, whatever the model does; fixed code does in honest orders."""

import sys
from pathlib import Path

import pytest

from patch_agent.core.messages import ToolResult
from patch_agent.core.protocols import ModelReply, ModelRequest
from patch_agent.models.scripted import Scripted, call, calls, say
from tests.support.harness import Bench
from tests.support.repositories import BROKEN, FIXED, make_repository

PYTHON = sys.executable


def edit(old: str, new: str, path: str = "calc.py") -> ModelReply:
    return call("edit_file", path=path, edits=[{"old_text": old, "new_text": new}])


READ = call("read_file", path="calc.py")
FIX_ARGUMENTS = {"path": "calc.py", "edits": [{"old_text": "a - b", "new_text": "a + b"}]}
FIX = call("edit_file", **FIX_ARGUMENTS)
BREAK = edit("a * 2", "a * 3")
TEST = call("run_tests")
PART = call("run_tests", selection=["tests/test_calc.py::test_double"])
NEW_TEST = "echo 'def test_x(): pass' > tests/test_new.py"
DONE = say("All tests pass now.")


@pytest.fixture
def broken(tmp_path: Path) -> Bench:
    return Bench(make_repository(tmp_path / "repo", BROKEN), tmp_path / "home")


STILL_BROKEN: dict[str, tuple[list[Scripted], str, int]] = {
    "says done without a test run": ([DONE] * 4, "no_change", 3),
    "changes something else and says done": ([READ, BREAK, *[DONE] * 4], "tests_failing", 1),
    "a passing test of something else, then done": (
        [READ, edit("a - b", "b - a"), PART,
         *[DONE] * 4],
        "tests_failing", 1,
    ),
    "passes, then an edit breaks it": ([READ, FIX, TEST, BREAK, *[DONE] * 4], "tests_failing", 1),
    "passes, then sed in a command breaks it": (
        [READ, FIX, TEST, call("run_command", command="sed -i 's/a + b/a - b - 1/' calc.py"),
         *[DONE] * 4],
        "tests_failing", 1,
    ),
    "the test command behind a pipe": (
        [READ, edit("a - b", "b - a"),
         call("run_command", command=f"{PYTHON} -m pytest -q | tail -1"), *[DONE] * 4],
        "tests_failing", 1,
    ),
    "the test command with || true": (
        [READ, edit("a - b", "b - a"),
         call("run_command", command=f"{PYTHON} -m pytest -q || true"), *[DONE] * 4],
        "tests_failing", 1,
    ),
    "prints that tests passed": (
        [READ, edit("a - b", "b - a"), call("run_command", command="echo '2 passed in 0.01s'"),
         *[DONE] * 4],
        "tests_failing", 1,
    ),
    "the failing test is deleted": (
        [call("run_command", command=f"rm tests/test_calc.py && {NEW_TEST}"),
         *[DONE] * 4],
        "tests_changed", 3,
    ),
    "the failing test is weakened": (
        [call("read_file", path="tests/test_calc.py"),
         edit("assert add(2, 3) == 5", "assert True", "tests/test_calc.py"), *[DONE] * 4],
        "tests_changed", 3,
    ),
    "a conftest.py that skips what fails": (
        [call("read_file", path="conftest.py"),
         call("write_file", path="conftest.py", content="collect_ignore_glob = ['*calc*']\n"),
         call("write_file", path="tests/test_new.py", content="def test_x():\n    pass\n"),
         *[DONE] * 4],
        "tests_changed", 3,
    ),
    "a change that is taken back": (
        [READ, FIX, TEST, edit("a + b", "a - b"), *[DONE] * 4], "no_change", 3,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STILL_BROKEN)
def test_broken_code_is_never_done(name: str, broken: Bench) -> None:
    replies, reason, code = STILL_BROKEN[name]
    ended = broken.start(replies).run()
    assert (ended.reason, ended.exit_code) == (reason, code)


def test_tests_that_are_not_collected_are_no_pass(tmp_path: Path) -> None:
    files = {"calc.py": BROKEN["calc.py"], "tests/test_calc.py": "# nothing here yet\n"}
    bench = Bench(make_repository(tmp_path / "repo", files), tmp_path / "home")
    ended = bench.start([READ, FIX, TEST, *[DONE] * 4]).run()
    assert (ended.reason, ended.exit_code) == ("no_tests_ran", 3)


def test_nothing_changed_where_all_tests_pass_is_not_done(tmp_path: Path) -> None:
    bench = Bench(make_repository(tmp_path / "repo", FIXED), tmp_path / "home")
    ended = bench.start([TEST, *[DONE] * 4]).run()
    assert (ended.reason, ended.exit_code) == ("no_change", 3)


def test_an_empty_change_can_be_allowed(tmp_path: Path) -> None:
    bench = Bench(make_repository(tmp_path / "repo", FIXED), tmp_path / "home")
    ended = bench.start([DONE], allow_empty=True).run()
    assert (ended.reason, ended.exit_code) == ("done", 0)


def test_a_file_changed_from_outside_after_the_proving_run_is_noticed(broken: Bench) -> None:
    def says_done_while_someone_edits(_request: ModelRequest) -> ModelReply:
        path = broken.root / "calc.py"
        path.write_text(path.read_text().replace("a * 2", "a * 5"))
        return DONE

    opened = broken.start([READ, FIX, TEST, says_done_while_someone_edits, *[DONE] * 3])
    ended = opened.run()
    assert (ended.reason, ended.exit_code) == ("tests_failing", 1)
    assert list(opened.state.outside_changes) == ["calc.py"]


HONEST: dict[str, list[Scripted]] = {
    "test, read, fix, test, done": [TEST, READ, FIX, TEST, DONE],
    "read, fix, done: the runtime runs the tests": [READ, FIX, DONE],
    "read, fix and test in one reply": [
        READ,
        calls(
            ("edit_file", FIX_ARGUMENTS),
            ("run_tests", {}),
        ),
        DONE,
    ],
    "fix through a command": [call("run_command", command="sed -i 's/a - b/a + b/' calc.py"), DONE],
    "a wrong try first": [READ, edit("a - b", "a * b"), TEST, edit("a * b", "a + b"), TEST, DONE],
    "refused once, then fixed": [READ, DONE, FIX, DONE],
    "with a new test": [
        READ, FIX,
        call("write_file", path="tests/test_more.py",
             content="from calc import add\n\n\ndef test_zero():\n    assert add(0, 0) == 0\n"),
        TEST, DONE,
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
def test_fixed_code_is_done_in_every_honest_order(name: str, broken: Bench) -> None:
    opened = broken.start(HONEST[name])
    ended = opened.run()
    assert (ended.reason, ended.exit_code, ended.grade) == ("done", 0, "proven")
    assert "+    return a + b" in opened.diff()


def test_a_fix_that_breaks_another_test_is_not_done(broken: Bench) -> None:
    both = call(
        "edit_file",
        path="calc.py",
        edits=[
            {"old_text": "a - b", "new_text": "a + b"},
            {"old_text": "a * 2", "new_text": "a * 3"},
        ],
    )
    ended = broken.start([READ, both, *[DONE] * 4]).run()
    assert (ended.reason, ended.exit_code) == ("tests_failing", 1)


def test_a_refusal_tells_the_model_what_is_missing(broken: Bench) -> None:
    opened = broken.start([READ, edit("a - b", "b - a"), DONE, edit("b - a", "a + b"), DONE])
    assert opened.run().exit_code == 0
    refusal = opened.model.requests[3].messages[-1].text
    assert refusal.startswith("Not done yet: ")
    assert "tests/test_calc.py::test_add" in refusal
    assert "Mend the code" in refusal


def test_a_repository_without_gitignore_is_done_after_one_fix(broken: Bench) -> None:
    opened = broken.start([READ, FIX, TEST, DONE])
    assert opened.run().exit_code == 0
    assert list(opened.state.files_changed) == ["calc.py"]
    results = [
        block
        for message in opened.state.messages
        for block in message.content
        if isinstance(block, ToolResult)
    ]
    assert [result.is_error for result in results] == [False, False, False]


def test_tests_that_write_something_new_each_time_can_prove(tmp_path: Path) -> None:
    writes = "import uuid\n\ndef test_log():\n    open('run.log', 'a').write(str(uuid.uuid4()))\n"
    files = {**BROKEN, "tests/test_log.py": writes}
    bench = Bench(make_repository(tmp_path / "repo", files), tmp_path / "home")
    opened = bench.start([READ, FIX, TEST, DONE])
    assert opened.run().exit_code == 0
    assert list(opened.state.net_changes) == ["run.log", "calc.py"]
    assert opened.state.left_behind == ("run.log",)


def test_tests_that_change_a_tracked_file_are_named(tmp_path: Path) -> None:
    writes = "import uuid\n\ndef test_log():\n    open('data.txt', 'w').write(str(uuid.uuid4()))\n"
    files = {**BROKEN, "tests/test_log.py": writes, "data.txt": "data"}
    bench = Bench(make_repository(tmp_path / "repo", files), tmp_path / "home")
    ended = bench.start([READ, FIX, TEST, *[DONE] * 4]).run()
    assert (ended.reason, ended.exit_code) == ("grade_too_low", 3)
    assert "The tests themselves change files: data.txt" in ended.text
