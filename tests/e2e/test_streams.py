"""Streams that are closed, full or left by their reader: no traceback, and a code that is true."""

import json
import subprocess

from tests.support.command import Command, environment
from tests.support.messages_server import MessagesServer, calls, text

READ = calls(("read_file", {"path": "calc.py"}))
FIX = calls(
    ("edit_file", {"path": "calc.py", "edits": [{"old_text": "a - b", "new_text": "a + b"}]})
)
DONE = text("Now it adds.")


def shell(command: Command, line: str, **changes: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=command.cwd,
        env=environment(command.home, **changes),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def fix(server: MessagesServer, more: str = "") -> str:
    return f"patch fix 'add is wrong' --yes --model sonnet --base-url {server.url} {more}"


def test_a_reader_that_goes_away_does_not_change_the_exit_code(command: Command) -> None:
    with MessagesServer([text("No.")] * 4) as server:
        done = shell(command, f"({fix(server)}; echo $? >&2) | true")
    assert done.stderr.splitlines()[-1] == "3"
    assert "Traceback" not in done.stderr


def test_a_result_that_cannot_be_written_is_no_success(command: Command) -> None:
    with MessagesServer([READ, FIX, DONE]) as server:
        done = shell(command, fix(server, "--output-format json > /dev/full"))
    assert done.returncode == 7
    assert done.stderr.splitlines()[-1] == "patch: cannot write the result: No space left on device"
    shown = shell(command, "patch show > /dev/full")
    assert (shown.returncode, "Traceback" in shown.stderr) == (7, False)


def test_closed_streams_are_fine(command: Command) -> None:
    with MessagesServer([READ, FIX, DONE]) as server:
        done = shell(command, fix(server, "<&- >&- 2>&-"))
    assert done.returncode == 0
    assert shell(command, "patch fix - <&-").returncode == 2


def test_a_poor_environment_is_enough(command: Command) -> None:
    with MessagesServer([READ, FIX, DONE]) as server:
        line = f'env -i PATH="$PATH" PATCH_HOME="$PATCH_HOME" LANG=C {fix(server)}'
        done = shell(command, line)
    assert done.returncode == 0
    assert "fail\\u2192pass" in done.stdout or "fail→pass" in done.stdout


def test_a_resumed_session_finds_its_service_again(command: Command) -> None:
    with MessagesServer([READ, FIX, DONE]) as server:
        stopped = shell(command, fix(server, "--max-steps 1 --output-format json"))
        assert stopped.returncode == 5
        resume = json.loads(stopped.stdout)["resume"]
        assert shell(command, f"{resume} --yes").returncode == 0
