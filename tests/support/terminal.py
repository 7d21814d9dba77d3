"""A program in a terminal of its own: what it shows, and what a person types."""

import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

PATIENCE_S = 60.0
_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]")


class Terminal:
    """The person's side. `shown`: everything so far, without control sequences."""

    def __init__(self, process: "subprocess.Popen[bytes]", descriptor: int) -> None:
        self.process = process
        self.raw = ""
        self._descriptor = descriptor
        self._seen = 0

    @property
    def shown(self) -> str:
        """The text, without control sequences."""
        return _CODES.sub("", self.raw).replace("\r\n", "\n")

    def expect(self, words: str) -> None:
        """Wait until these words are shown, after those expected before."""
        deadline = time.monotonic() + PATIENCE_S
        while (at := self.shown.find(words, self._seen)) < 0:
            assert time.monotonic() < deadline, f"{words!r} is not in {self.shown!r}"
            if not self._read(0.1) and self.process.poll() is not None and not self._read(0.1):
                raise AssertionError(f"{words!r} is not in {self.shown!r}")
        self._seen = at + len(words)

    def type(self, text: str) -> None:
        """Type something, with its return key."""
        os.write(self._descriptor, text.encode())

    def end(self) -> int:
        """Wait for the end; the exit code."""
        deadline = time.monotonic() + PATIENCE_S
        while self.process.poll() is None:
            assert time.monotonic() < deadline, self.shown
            self._read(0.1)
        while self._read(0.05):
            pass
        return self.process.returncode

    def _read(self, timeout_s: float) -> bool:
        if not select.select([self._descriptor], [], [], timeout_s)[0]:
            return False
        try:
            piece = os.read(self._descriptor, 65536)
        except OSError:
            return False
        self.raw += piece.decode("utf-8", "replace")
        return bool(piece)


@contextlib.contextmanager
def in_terminal(argv: Sequence[str], cwd: Path, env: Mapping[str, str]) -> Iterator[Terminal]:
    """Start a program with a terminal as all of its streams; it is ended with the block."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        argv, cwd=cwd, env=dict(env), stdin=theirs, stdout=theirs, stderr=theirs,
        start_new_session=True, preexec_fn=_take_terminal,
    )  # fmt: skip
    os.close(theirs)
    try:
        yield Terminal(process, ours)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(ours)


def _take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
