"""`patch fix` and its relatives from the shell: exit codes, JSON object, what is left behind."""

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from patch_agent.ui.result import schema
from tests.support.command import Command
from tests.support.messages_server import Answer, MessagesServer, calls, http_error, text
from tests.support.repositories import BROKEN, fingerprint, git

READ = calls(("read_file", {"path": "calc.py"}))
EDIT = {"path": "calc.py", "edits": [{"old_text": "a - b", "new_text": "a + b"}]}
FIX = calls(("edit_file", EDIT))
DONE = text("`add` subtracted; now it adds.")
GOOD = [READ, FIX, DONE]


def sh(line: str) -> Answer:
    return calls(("run_command", {"command": line}))


def fix(command: Command, url: str, *more: str, **changes: str) -> dict[str, object]:
    return command.json(
        "fix", "add is wrong", "--model", "sonnet", "--base-url", url, *more, **changes
    )


def test_a_fault_is_fixed_and_proved(command: Command) -> None:
    before = fingerprint(command.cwd / ".git")
    with MessagesServer(GOOD) as server:
        result = fix(command, server.url, "--yes")
    jsonschema.validate(result, schema())
    assert (result["status"], result["reason"], result["exit_code"]) == ("done", "done", 0)
    assert result["files_changed"] == ["calc.py"]
    assert result["diff_stat"] == {"files": 1, "insertions": 1, "deletions": 1}
    verdict = result["verdict"]
    assert isinstance(verdict, dict)
    assert verdict["grade"] == "proven"
    assert verdict["effect"]["fail_to_pass"] == ["tests/test_calc.py::test_add"]
    assert verdict["proving_run"]["counts"] == {"passed": 2}
    assert verdict["proving_run"]["commands"][0]["argv"][1:] == ["-m", "pytest"]
    assert result["cost_usd"] is not None
    assert (command.cwd / "calc.py").read_text() == BROKEN["calc.py"].replace("a - b", "a + b")
    assert fingerprint(command.cwd / ".git") == before
    assert git(command.cwd, "status", "--porcelain") == " M calc.py\n"


def test_text_mode_keeps_progress_and_result_apart(command: Command) -> None:
    with MessagesServer(GOOD) as server:
        done = command.run("fix", "add is wrong", "--base-url", server.url, "--model", "x", "--yes")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr
    assert "  2 edit_file     calc.py  +1 -1" in done.stderr.splitlines()
    assert "DONE  1 test fail→pass, 0 regressions, 1 pass→pass  (grade: proven)" in done.stdout
    assert "+    return a + b" in done.stdout
    assert "cost     $0.00" in done.stdout


def test_without_a_word_headless_waits_and_resume_goes_on(command: Command) -> None:
    with MessagesServer(GOOD) as server:
        waiting = fix(command, server.url)
        assert (waiting["reason"], waiting["exit_code"]) == ("approval_needed", 6)
        assert server.requests == []
        assert waiting["resume"] == f"patch resume {waiting['session']} --yes"
        jsonschema.validate(waiting, schema())
        result = command.json("resume", "--yes", "--base-url", server.url)
    assert (result["exit_code"], result["session"]) == (0, waiting["session"])


def test_naming_the_test_command_allows_the_tests_alone(command: Command) -> None:
    with MessagesServer([sh("touch ran"), READ, FIX, DONE]) as server:
        waiting = fix(command, server.url, "--test-cmd", "python -m pytest")
        assert waiting["exit_code"] == 6
        assert not (command.cwd / "ran").exists()
        approvals = waiting["approvals"]
        assert isinstance(approvals, list)
        assert [(item["kind"], item["by"]) for item in approvals] == [
            ("tests", "--test-cmd"), ("command", None),
        ]  # fmt: skip
        result = command.json("resume", "--yes", "--base-url", server.url)
    assert result["exit_code"] == 0
    assert [item["command"] for item in result["commands"]] == ["touch ran"]
    assert result["files_changed"] == ["calc.py", "ran"]


def test_yes_never_covers_what_leaves_the_machine(command: Command) -> None:
    with MessagesServer([sh("git push origin main")]) as server:
        result = fix(command, server.url, "--yes")
    assert (result["reason"], result["exit_code"]) == ("approval_needed", 6)
    assert result["resume"] == f"patch resume {result['session']}"


def test_a_wrong_key_is_one_line_and_can_be_resumed(command: Command) -> None:
    with MessagesServer([http_error(401, "invalid x-api-key"), *GOOD]) as server:
        stopped = fix(command, server.url, "--yes", ANTHROPIC_API_KEY="sk-ant-secret")
        assert (stopped["reason"], stopped["exit_code"]) == ("auth", 7)
        assert "secret" not in json.dumps(stopped)
        assert command.json("resume", "--yes", "--base-url", server.url)["exit_code"] == 0
    assert "secret" not in command.run("log", "--output-format", "json").stdout


def test_the_step_limit_names_how_to_go_on(command: Command) -> None:
    with MessagesServer([READ, READ, FIX, DONE]) as server:
        stopped = fix(command, server.url, "--yes", "--max-steps", "2")
        assert (stopped["reason"], stopped["exit_code"]) == ("max_steps", 5)
        assert stopped["resume"] == f"patch resume {stopped['session']} --max-steps 4"
        result = command.json("resume", "--yes", "--max-steps", "4", "--base-url", server.url)
    assert result["exit_code"] == 0


def test_the_model_that_claims_success_ends_with_exit_1(command: Command) -> None:
    wrong = calls(("edit_file", {**EDIT, "edits": [{"old_text": "a - b", "new_text": "b - a"}]}))
    with MessagesServer([READ, wrong, *[text("All tests pass!")] * 4]) as server:
        result = fix(command, server.url, "--yes")
    assert (result["status"], result["reason"], result["exit_code"]) == (
        "failed",
        "tests_failing",
        1,
    )
    jsonschema.validate(result, schema())


def test_user_work_is_left_alone_and_not_in_the_diff(command: Command) -> None:
    (command.cwd / "notes.txt").write_text("mine\n")
    (command.cwd / "conftest.py").write_text("# staged by me\n")
    git(command.cwd, "add", "conftest.py")
    git(command.cwd, "checkout", "-q", "--detach")
    before = fingerprint(command.cwd / ".git")
    with MessagesServer(GOOD) as server:
        assert fix(command, server.url, "--yes")["files_changed"] == ["calc.py"]
    assert fingerprint(command.cwd / ".git") == before
    diff = command.run("diff").stdout
    assert "calc.py" in diff
    assert "notes.txt" not in diff
    assert "staged by me" not in diff


def test_a_context_from_standard_input_reaches_the_model(command: Command) -> None:
    with MessagesServer(GOOD) as server:
        done = command.run(
            "fix", "see the log", "--context", "-", "--model", "sonnet", "--yes",
            "--base-url", server.url, stdin="AssertionError: 42",
        )  # fmt: skip
    assert done.returncode == 0
    assert "AssertionError: 42" in server.requests[0].body.decode()


# --- Looking back -------------------------------------------------------------------------


@pytest.fixture
def ended(command: Command) -> Command:
    with MessagesServer(GOOD) as server:
        assert fix(command, server.url, "--yes")["exit_code"] == 0
    return command


def test_show_tells_the_same_as_the_run(ended: Command) -> None:
    shown = json.loads(ended.run("show", "--output-format", "json").stdout)
    jsonschema.validate(shown, schema())
    assert shown["verdict"]["grade"] == "proven"
    words = ended.run("show").stdout
    assert "task     add is wrong" in words
    assert "DONE" in words


def test_log_lists_the_events_and_rebuilds_states(ended: Command) -> None:
    events = json.loads(ended.run("log", "--output-format", "json").stdout)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert len(ended.run("log").stdout.splitlines()) == len(events)
    state = json.loads(ended.run("log", "--at", "s1", "--output-format", "json").stdout)
    assert (state["step"], list(state["files_read"]), state["files_changed"]) == (
        1,
        ["calc.py"],
        {},
    )
    assert "step: 2" in ended.run("log", "--at", "s2").stdout.splitlines()
    assert ended.run("log", "--at", "m99").returncode == 2


def test_diff_applies_with_git(ended: Command) -> None:
    changed = (ended.cwd / "calc.py").read_bytes()
    git(ended.cwd, "checkout", "-q", "calc.py")
    diff = subprocess.run(
        ["git", "apply", "-"], cwd=ended.cwd, input=ended.run("diff").stdout, text=True, check=False
    )
    assert diff.returncode == 0
    assert (ended.cwd / "calc.py").read_bytes() == changed
    assert ended.run("diff", "--exit-code").returncode == 1
    assert ended.run("diff", "--from", "s2", "--exit-code").stdout == ""


def test_sessions_are_listed_per_repository(ended: Command, tmp_path: Path) -> None:
    listed = json.loads(ended.run("sessions", "--output-format", "json").stdout)
    assert [(item["task"], item["reason"]) for item in listed] == [("add is wrong", "done")]
    assert listed[0]["session"] in ended.run("sessions").stdout


def test_a_finished_session_goes_on_with_a_message_only(ended: Command) -> None:
    refused = ended.run(
        "resume", json.loads(ended.run("show", "--output-format", "json").stdout)["session"]
    )
    assert refused.returncode == 2
    assert "has ended (done); say what is to be done next with -m" in refused.stderr
    with_docs = {"old_text": "def add(a, b):", "new_text": 'def add(a, b):\n    """Sum."""'}
    docs = calls(("edit_file", {"path": "calc.py", "edits": [with_docs]}))
    with MessagesServer([docs, text("Documented.")]) as server:
        result = ended.json("resume", "-m", "document add", "--yes", "--base-url", server.url)
        messages = server.requests[0].json["messages"]
    assert result["exit_code"] == 0
    assert [message["role"] for message in messages][-3:] == ["user", "assistant", "user"]


def test_coverage_data_that_lies_about_does_not_stand_in_the_way(command: Command) -> None:
    settings = (command.cwd / "pytest.ini").read_text()
    (command.cwd / ".coverage").write_bytes(b"older data")
    runs = f"{sys.executable} -m coverage run --source=. -m pytest"
    with MessagesServer(GOOD) as server:
        result = fix(command, server.url, "--test-cmd", runs)
    assert (result["exit_code"], result["files_changed"]) == (0, ["calc.py"])
    assert (command.cwd / ".coverage").read_bytes() == b"older data"
    assert (command.cwd / "pytest.ini").read_text() == settings
