"""Running one process to one of five ends: exit, signal, time-out, cancelled, not started.

Its own session and process group, no terminal, no input unless given, bounded output. It returns
soon after the process itself ends, even if something it left behind still holds the pipe.
"""

import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from patch_agent.core.testing import Ending
from patch_agent.execution.capture import Capture
from patch_agent.execution.pump import Pump
from patch_agent.execution.reaper import end_group, survivors

DEFAULT_CAPTURE = 64 * 1024
HARD_OUTPUT_LIMIT = 200 * 1024 * 1024
DRAIN_S = 0.3
TICK_S = 0.2

OnOutput = Callable[[bytes], None]


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """What to start. argv: no shell is added. timeout_s None: no limit (for quick own tools only).

    capture_limit: bytes kept in memory. spill: a file that gets the whole output (up to a cap).
    """

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str] = field(repr=False)
    timeout_s: float | None
    stdin: bytes | None = None
    capture_limit: int = DEFAULT_CAPTURE
    spill: Path | None = None
    separate_stderr: bool = False


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """How it ended.

    output: stdout and, unless kept apart, stderr, in order. When `omitted` bytes in the middle
    were too many to keep, `output` is what came before them and `tail` what came after.
    """

    ending: Ending
    exit_code: int | None = None
    signal: int | None = None
    output: bytes = b""
    tail: bytes = b""
    stderr: bytes = b""
    omitted: int = 0
    duration_s: float = 0.0
    left_running: int = 0
    wanted_input: bool = False
    problem: str = ""

    @property
    def text(self) -> str:
        """The output as text, with a visible mark where bytes were left out."""
        head = self.output.decode("utf-8", "replace")
        if not self.omitted:
            return head
        tail = self.tail.decode("utf-8", "replace")
        return f"{head}\n[... {self.omitted} bytes left out ...]\n{tail}"


def run(
    spec: ProcessSpec,
    *,
    on_output: OnOutput | None = None,
    cancel: threading.Event | None = None,
) -> ProcessResult:
    """Run it to its end. On KeyboardInterrupt the whole group is ended before it is passed on."""
    started = time.monotonic()
    try:
        process = _start(spec)
    except (OSError, ValueError) as error:
        problem = getattr(error, "strerror", None) or str(error)
        return ProcessResult("not_started", problem=f"{spec.argv[0]}: {problem}")
    with Capture(spec.capture_limit, spec.spill) as out, Capture(spec.capture_limit) as err:
        pump = Pump(process, out, err, spec.stdin, on_output)
        try:
            ending = _wait(process, pump, spec, started, cancel)
        except BaseException:
            end_group(process.pid)
            process.wait()
            raise
        finally:
            left = _clean_up(process, pump)
        return _result(process, ending, (out, err), time.monotonic() - started, left)


def _start(spec: ProcessSpec) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        spec.argv,
        cwd=spec.cwd,
        env=dict(spec.env),
        stdin=subprocess.DEVNULL if spec.stdin is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if spec.separate_stderr else subprocess.STDOUT,
        start_new_session=True,
        close_fds=True,
    )


def _wait(
    process: "subprocess.Popen[bytes]",
    pump: Pump,
    spec: ProcessSpec,
    started: float,
    cancel: threading.Event | None,
) -> Ending:
    deadline = None if spec.timeout_s is None else started + spec.timeout_s
    while True:
        left = TICK_S if deadline is None else max(0.0, min(TICK_S, deadline - time.monotonic()))
        if pump.wait(left):
            return "exit"
        if deadline is not None and time.monotonic() >= deadline:
            end_group(process.pid)
            return "timeout"
        if cancel is not None and cancel.is_set():
            end_group(process.pid)
            return "cancelled"
        if pump.total > HARD_OUTPUT_LIMIT:
            end_group(process.pid)
            return "cancelled"


def _clean_up(process: "subprocess.Popen[bytes]", pump: Pump) -> int:
    process.wait()
    pump.drain(DRAIN_S)
    left = survivors(process.pid)
    if left:
        end_group(process.pid, grace_s=0.5)
    pump.close()
    return left


def _result(
    process: "subprocess.Popen[bytes]",
    ending: Ending,
    captures: tuple[Capture, Capture],
    duration_s: float,
    left: int,
) -> ProcessResult:
    out, err = captures
    code = process.returncode
    by_signal = ending == "exit" and code < 0
    problem = ""
    if ending == "cancelled" and out.total > HARD_OUTPUT_LIMIT:
        problem = f"it wrote more than {HARD_OUTPUT_LIMIT // 2**20} MiB"
    shown = out.tail + err.tail + err.head + out.head[-4096:]
    return ProcessResult(
        ending="signal" if by_signal else ending,
        exit_code=code if ending == "exit" and not by_signal else None,
        signal=-code if by_signal else None,
        output=out.head if out.omitted else out.head + out.tail,
        tail=out.tail if out.omitted else b"",
        stderr=err.head + err.tail,
        omitted=out.omitted,
        duration_s=duration_s,
        left_running=left,
        wanted_input=code != 0 and _asks(shown),
        problem=problem,
    )


def _asks(shown: bytes) -> bool:
    marks = (b"EOFError: EOF when reading", b"terminal is required", b"could not read Password",
             b"could not read Username", b"terminal prompts disabled", b"No such device or address",
             b"Inappropriate ioctl for device")  # fmt: skip
    return any(mark in shown for mark in marks)
