"""`patch fix` in a real terminal: questions, answers, the lines of a run, Ctrl-C."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.command import Command, environment
from tests.support.messages_server import MessagesServer, calls, text
from tests.support.terminal import Terminal, in_terminal

READ = calls(("read_file", {"path": "calc.py"}))
FIX = calls(
    ("edit_file", {"path": "calc.py", "edits": [{"old_text": "a - b", "new_text": "a + b"}]})
)
DONE = text("It subtracted.\nNow it adds.")
SHELL = calls(("run_command", {"command": "echo \x1b[31mred; touch ran"}))
GOOD = [READ, FIX, DONE]


@contextmanager
def fix(command: Command, server: MessagesServer, *more: str, **changes: str) -> Iterator[Terminal]:
    argv = ["patch", "fix", "add is wrong", "--model", "sonnet", "--base-url", server.url, *more]
    env = environment(command.home, **{"TERM": "xterm-256color", **changes})
    with in_terminal(argv, command.cwd, env) as terminal:
        yield terminal


def test_it_asks_once_before_it_runs_the_tests_and_remembers(command: Command) -> None:
    with MessagesServer(GOOD) as server, fix(command, server) as terminal:
        terminal.expect("Run this repository's tests?")
        terminal.expect("-m pytest\n[y]es or [n]o? ")
        terminal.type("perhaps\ny\n")
        terminal.expect("allowed (the user)")
        terminal.expect("tests before the first edit: 1 failed, 1 passed")
        terminal.expect("edit_file     calc.py  +1 -1")
        terminal.expect("Now it adds.")
        terminal.expect("2 passed")
        terminal.expect("+    return a + b")
        terminal.expect("DONE  1 test fail→pass")
        assert terminal.end() == 0
        assert "\x1b[32m+    return a + b" in terminal.raw
    with MessagesServer([READ]) as server, fix(command, server, "--max-steps", "1") as terminal:
        terminal.expect("allowed (an earlier answer, for the same command here)")
        terminal.expect("Go on for 30 more steps?")
        terminal.type("n\n")
        assert terminal.end() == 5


def test_a_command_is_shown_as_it_is_and_can_be_refused(command: Command) -> None:
    with MessagesServer([SHELL, *GOOD]) as server, fix(command, server) as terminal:
        terminal.expect("Run this repository's tests?")
        terminal.type("y\n")
        terminal.expect("Run this command?\n    echo \\x1b[31mred; touch ran")
        terminal.type("n\n")
        terminal.expect("not allowed (the user)")
        assert terminal.end() == 0
    assert not (command.cwd / "ran").exists()


def test_ctrl_c_at_a_question_leaves_the_terminal_and_the_session_whole(command: Command) -> None:
    with MessagesServer(GOOD) as server:
        with fix(command, server) as terminal:
            terminal.expect("[y]es or [n]o? ")
            terminal.type("\x03")
            assert terminal.end() == 130
            assert "Traceback" not in terminal.shown
            terminal.expect("go on    patch resume p")
        assert command.json("resume", "--yes", "--base-url", server.url)["exit_code"] == 0


def test_no_color_means_no_control_sequences(command: Command) -> None:
    with (
        MessagesServer(GOOD) as server,
        fix(command, server, "--yes", NO_COLOR="1") as terminal,
    ):
        assert terminal.end() == 0
        assert "\x1b" not in terminal.raw
        assert "DONE" in terminal.shown
