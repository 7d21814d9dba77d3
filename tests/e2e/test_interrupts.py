"""A run that is killed, stopped or doubled: nothing is lost, nothing is done twice."""

import json
import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.command import Command, environment
from tests.support.messages_server import Answer, MessagesServer, Received, calls, held, text

READ = calls(("read_file", {"path": "calc.py"}))
FIX = calls(
    ("edit_file", {"path": "calc.py", "edits": [{"old_text": "a - b", "new_text": "a + b"}]})
)
DONE = text("Now it adds.")
PATIENCE_S = 60.0


@contextmanager
def running(command: Command, url: str) -> Iterator[subprocess.Popen[str]]:
    """`patch fix` in the background; it is ended with the block."""
    process = subprocess.Popen(
        ["patch", "fix", "add is wrong", "--yes", "--model", "sonnet", "--base-url", url],
        cwd=command.cwd,
        env=environment(command.home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(condition: object) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def test_kill_9_while_the_model_thinks(command: Command) -> None:
    never = threading.Event()
    with MessagesServer([READ, held(FIX, never), FIX, DONE]) as server:
        with running(command, server.url) as process:
            wait_for(lambda: len(server.requests) == 2)
            process.kill()
        never.set()
        result = command.json("resume", "--yes", "--base-url", server.url)
        # The call that was cut off is made again, with the same conversation.
        assert server.requests[2].json["messages"] == server.requests[1].json["messages"]
    assert (result["exit_code"], result["steps"]) == (0, 3)


def test_kill_9_while_a_command_runs(command: Command, tmp_path: Path) -> None:
    started = tmp_path / "started"
    line = f"echo once >> ran.txt; echo $$ > {started}; sleep 60"
    with MessagesServer([calls(("run_command", {"command": line})), READ, FIX, DONE]) as server:
        with running(command, server.url) as process:
            wait_for(lambda: started.exists() and started.read_text().endswith("\n"))
            process.kill()
        os.kill(int(started.read_text()), signal.SIGKILL)
        result = command.json("resume", "--yes", "--base-url", server.url)
        told = server.requests[1].json["messages"][-1]["content"][0]
    assert result["exit_code"] == 0
    assert (command.cwd / "ran.txt").read_text() == "once\n"
    assert told["type"] == "tool_result"
    assert told["is_error"] is True
    assert "Outcome unknown" in told["content"]
    assert "ran.txt" in told["content"]
    assert result["files_changed"] == ["calc.py", "ran.txt"]


def test_ctrl_c_stops_cleanly_and_says_how_to_go_on(command: Command, tmp_path: Path) -> None:
    started = tmp_path / "started"
    line = f"echo $$ > {started}; sleep 60"
    with MessagesServer([calls(("run_command", {"command": line})), READ, FIX, DONE]) as server:
        with running(command, server.url) as process:
            wait_for(lambda: started.exists() and started.read_text().endswith("\n"))
            child = int(started.read_text())
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 130
        assert "Traceback" not in err
        assert "STOPPED  interrupted (exit 130)" in out
        assert "go on    patch resume p" in out
        assert not Path(f"/proc/{child}").exists()
        assert command.json("resume", "--yes", "--base-url", server.url)["exit_code"] == 0


def test_a_termination_signal_is_143(command: Command) -> None:
    never = threading.Event()
    with MessagesServer([held(READ, never), READ, FIX, DONE]) as server:
        with running(command, server.url) as process:
            wait_for(lambda: len(server.requests) == 1)
            process.terminate()
            wait_for(lambda: process.poll() is not None)
        assert process.returncode == 143
        never.set()
        assert command.json("resume", "--yes", "--base-url", server.url)["exit_code"] == 0


def test_a_second_run_in_the_same_tree_is_refused(command: Command) -> None:
    never = threading.Event()
    with MessagesServer([held(READ, never)]) as server, running(command, server.url) as process:
        wait_for(lambda: len(server.requests) == 1)
        second = command.run("fix", "something else", "--yes")
        again = command.run("resume", "--yes")
        never.set()
        process.kill()
    for refused in (second, again):
        assert refused.returncode == 8
        assert f"(process {process.pid} on " in refused.stderr
        assert len(refused.stderr.splitlines()) == 1
    assert len(command.run("sessions").stdout.splitlines()) == 1


def next_move(received: Received) -> Answer:
    """What a model that only knows the conversation would do next: the same after every kill."""
    content = [
        block
        for message in received.json["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
    ]
    results: int = sum(block["type"] == "tool_result" for block in content)
    shell = calls(("run_command", {"command": "echo once >> ran.txt"}))
    moves: list[Answer] = [READ, shell, FIX, calls(("run_tests", {})), DONE, DONE, DONE]
    return moves[results]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_kills_at_any_moment_lose_nothing(command: Command, seed: int) -> None:
    chance = random.Random(seed)
    with MessagesServer(next_move) as server:
        with running(command, server.url) as process:
            time.sleep(chance.uniform(0.3, 3.0))
            process.kill()
        for _ in range(4):
            resumed = subprocess.Popen(
                ["patch", "resume", "--yes"],
                cwd=command.cwd,
                env=environment(command.home),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            time.sleep(chance.uniform(0.3, 3.0))
            resumed.kill()
            resumed.wait()
        shown = command.run("show", "--output-format", "json")
        if shown.returncode == 2:
            # Killed before the first message was on disk: there is no session at all.
            assert command.run("sessions").stdout == ""
            return
        if json.loads(shown.stdout)["exit_code"] != 0:
            command.run("resume", "--yes")
        result = json.loads(command.run("show", "--output-format", "json").stdout)
    assert (result["reason"], result["exit_code"]) == ("done", 0)
    assert result["verdict"]["grade"] == "proven"
    ran = (command.cwd / "ran.txt").read_text() if (command.cwd / "ran.txt").exists() else ""
    # A command whose outcome is unknown is never made again by the runtime.
    assert ran in ("", "once\n")
    events = json.loads(command.run("log", "--output-format", "json").stdout)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
