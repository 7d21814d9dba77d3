"""Moving bytes between a process and us without ever blocking on either side."""

import contextlib
import os
import selectors
import subprocess
import time
from collections.abc import Callable

from patch_agent.execution.capture import Capture
from patch_agent.execution.reaper import group_exists

CHUNK = 256 * 1024


class Pump:
    """Reads a process's pipes, feeds its input, and notices its end."""

    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        out: Capture,
        err: Capture,
        stdin: bytes | None,
        on_output: Callable[[bytes], None] | None,
    ) -> None:
        self._process = process
        self._captures: dict[int, Capture] = {}
        self._on_output = on_output
        self._pending = memoryview(stdin or b"")
        self._selector = selectors.DefaultSelector()
        for stream, capture in ((process.stdout, out), (process.stderr, err)):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
                self._selector.register(stream.fileno(), selectors.EVENT_READ)
                self._captures[stream.fileno()] = capture
        if process.stdin is not None:
            os.set_blocking(process.stdin.fileno(), False)
            self._selector.register(process.stdin.fileno(), selectors.EVENT_WRITE)
        self._pidfd = _open_pidfd(process.pid)
        if self._pidfd >= 0:
            self._selector.register(self._pidfd, selectors.EVENT_READ)

    @property
    def total(self) -> int:
        """Bytes read so far, over all pipes."""
        return sum(capture.total for capture in self._captures.values())

    def wait(self, timeout_s: float) -> bool:
        """Move what there is, for at most so long; True once the process has ended."""
        # Without pidfd (macOS, old kernels) the end is found by looking often.
        tick = timeout_s if self._pidfd >= 0 else min(timeout_s, 0.02)
        for key, _ in self._selector.select(tick):
            if key.fd == self._pidfd:
                continue
            if key.fd in self._captures:
                self._read(key.fd)
            else:
                self._write()
        return self._process.poll() is not None

    def drain(self, limit_s: float) -> None:
        """After the end: take what is still in the pipes, but wait for nobody who holds them."""
        deadline = time.monotonic() + limit_s
        while self._captures and time.monotonic() < deadline:
            ready = [k.fd for k, _ in self._selector.select(0.02) if k.fd in self._captures]
            if not ready and not group_exists(self._process.pid):
                return
            for descriptor in ready:
                self._read(descriptor)

    def close(self) -> None:
        """Close everything that is open."""
        self._selector.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        if self._pidfd >= 0:
            os.close(self._pidfd)

    def _read(self, descriptor: int) -> None:
        try:
            piece = os.read(descriptor, CHUNK)
        except BlockingIOError:
            return
        if not piece:
            self._selector.unregister(descriptor)
            del self._captures[descriptor]
            return
        self._captures[descriptor].add(piece)
        if self._on_output is not None:
            self._on_output(piece)

    def _write(self) -> None:
        stdin = self._process.stdin
        if stdin is None:
            return
        try:
            written = os.write(stdin.fileno(), self._pending[:CHUNK]) if self._pending else 0
        except BlockingIOError:
            return
        except BrokenPipeError:
            written = len(self._pending)
        self._pending = self._pending[written:]
        if not self._pending:
            self._selector.unregister(stdin.fileno())
            with contextlib.suppress(OSError):
                stdin.close()


def _open_pidfd(pid: int) -> int:
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return -1
