"""Bounded capture of a process's output: head and tail in memory, the rest counted or spilled."""

from collections import deque
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

SPILL_LIMIT = 50 * 1024 * 1024


class Capture:
    """Keeps the first and the last bytes of a stream, and up to SPILL_LIMIT of it in a file."""

    def __init__(self, limit: int, spill: Path | None = None) -> None:
        self._half = max(limit // 2, 1)
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._spill: BinaryIO | None = spill.open("wb") if spill is not None else None
        self.total = 0

    def __enter__(self) -> "Capture":
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if self._spill is not None:
            self._spill.close()

    def add(self, piece: bytes) -> None:
        """Take the next piece of the stream."""
        if self._spill is not None and self.total < SPILL_LIMIT:
            self._spill.write(piece[: SPILL_LIMIT - self.total])
        self.total += len(piece)
        room = self._half - len(self._head)
        if room > 0:
            self._head += piece[:room]
            piece = piece[room:]
        if piece:
            self._tail.append(piece)
            self._tail_size += len(piece)
            while self._tail_size - len(self._tail[0]) >= self._half:
                self._tail_size -= len(self._tail.popleft())

    @property
    def head(self) -> bytes:
        """The first bytes."""
        return bytes(self._head)

    @property
    def tail(self) -> bytes:
        """The last bytes that are not in the head."""
        return b"".join(self._tail)[-self._half :]

    @property
    def omitted(self) -> int:
        """How many bytes between head and tail were not kept in memory."""
        return self.total - len(self.head) - len(self.tail)
