"""A process ends in one of five ways, within its bounds, and leaves nothing behind."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from patch_agent.execution.process import ProcessResult, ProcessSpec, run

PYTHON = sys.executable


def spec(*argv: str, **changes: object) -> ProcessSpec:
    values: dict[str, object] = {
        "argv": argv,
        "cwd": "/",
        "env": {"PATH": os.environ["PATH"]},
        "timeout_s": 30.0,
    }
    return ProcessSpec(**(values | changes))  # type: ignore[arg-type]


def sh(line: str, **changes: object) -> ProcessResult:
    return run(spec("/bin/sh", "-c", line, **changes))


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state not in ("Z", "X")


def test_an_exit_has_its_code_and_both_streams_in_order() -> None:
    result = sh("echo one; echo two >&2; echo three; exit 3")
    assert (result.ending, result.exit_code, result.text) == ("exit", 3, "one\ntwo\nthree\n")


def test_streams_can_be_kept_apart() -> None:
    result = sh("echo out; echo err >&2", separate_stderr=True)
    assert (result.output, result.stderr) == (b"out\n", b"err\n")


def test_a_signal_is_no_exit_code() -> None:
    result = sh("kill -SEGV $$")
    assert (result.ending, result.exit_code, result.signal) == ("signal", None, signal.SIGSEGV)


@pytest.mark.parametrize("argv", [("/no/such/program",), ("/etc/hostname",), ("a\x00b",)])
def test_what_cannot_start_says_so(argv: tuple[str, ...]) -> None:
    result = run(spec(*argv))
    assert (result.ending, result.exit_code) == ("not_started", None)
    assert result.problem


def test_a_time_limit_ends_the_whole_group(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    line = f"trap '' TERM; (sleep 100 & echo $! >> {pids}; wait) & echo $! >> {pids}; sleep 100"
    result = sh(line, timeout_s=0.7)
    assert (result.ending, result.exit_code) == ("timeout", None)
    found = [int(pid) for pid in pids.read_text().split()]
    assert len(found) == 2
    wait_until(lambda: not any(is_running(pid) for pid in found))


def test_a_run_can_be_cancelled() -> None:
    cancel = threading.Event()
    threading.Timer(0.3, cancel.set).start()
    result = run(spec("/bin/sleep", "100"), cancel=cancel)
    assert (result.ending, result.exit_code) == ("cancelled", None)


def test_an_interrupt_ends_the_group_before_it_is_passed_on(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"

    def interrupt(_piece: bytes) -> None:
        raise KeyboardInterrupt

    line = f"sleep 100 & echo $! > {pid_file}; echo go; wait"
    with pytest.raises(KeyboardInterrupt):
        run(spec("/bin/sh", "-c", line), on_output=interrupt)
    wait_until(lambda: not is_running(int(pid_file.read_text())))


def test_what_was_left_running_does_not_hold_the_run(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    result = sh(f"sleep 100 & echo $! > {pid_file}; echo done")
    assert (result.ending, result.exit_code, result.text) == ("exit", 0, "done\n")
    assert result.left_running == 1
    wait_until(lambda: not is_running(int(pid_file.read_text())))


def test_output_is_bounded_in_memory_and_whole_in_the_spill(tmp_path: Path) -> None:
    spill = tmp_path / "spill"
    line = "import sys; sys.stdout.buffer.write(b'head' + b'x' * 5_000_000 + b'tail')"
    result = run(spec(PYTHON, "-c", line, spill=spill, capture_limit=1000))
    assert len(result.output) + len(result.tail) <= 1000
    assert result.output.startswith(b"head")
    assert result.tail.endswith(b"tail")
    assert result.omitted == 5_000_008 - len(result.output) - len(result.tail)
    assert "bytes left out" in result.text
    assert spill.stat().st_size == 5_000_008


def test_output_that_never_ends_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("patch_agent.execution.process.HARD_OUTPUT_LIMIT", 3_000_000)
    result = run(spec("/bin/sh", "-c", "yes"))
    assert result.ending == "cancelled"
    assert "wrote more than" in result.problem


def test_there_is_no_input_and_no_terminal() -> None:
    code = "import sys, os; print(sys.stdin.read() == '', os.isatty(0), os.isatty(1))"
    assert run(spec(PYTHON, "-c", code)).text == "True False False\n"
    assert run(spec(PYTHON, "-c", "open('/dev/tty')")).wanted_input


def test_input_is_given_whole_even_when_nobody_reads_it() -> None:
    data = b"x" * 3_000_000
    assert run(spec("/usr/bin/wc", "-c", stdin=data)).text.strip() == "3000000"
    assert run(spec("/bin/true", stdin=data)).exit_code == 0


def test_bytes_that_are_no_text_are_shown_as_marks() -> None:
    assert sh("printf 'a\\377b'").text == "a\ufffdb"


def test_only_the_given_environment_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "1")
    result = run(spec("/usr/bin/env", env={"A": "b"}))
    assert result.text == "A=b\n"
