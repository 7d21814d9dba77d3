"""Where the lines of a file are after parts of it were replaced."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from patch_agent.core.values import LineRange


class LineShifts:
    """From line numbers before a replacement of several parts to line numbers after it."""

    def __init__(self, text: str, parts: Iterable[tuple[int, int, str]]) -> None:
        """text: as it was. parts: (start, end, new text), in order, none overlapping."""
        self._firsts: list[int] = []
        self._lasts: list[int] = []
        self._shift = [0]
        written: list[LineRange] = []
        line, at = 1, 0
        for start, end, new in parts:
            line += text.count("\n", at, start)
            last = line + text.count("\n", start, end)
            first_now = line + self._shift[-1]
            written.append(LineRange(first_now, first_now + new.count("\n")))
            self._firsts.append(line)
            self._lasts.append(last)
            self._shift.append(self._shift[-1] + new.count("\n") - (last - line))
            line, at = last, end
        self.written = tuple(written)

    def moved(self, ranges: Sequence[LineRange]) -> tuple[LineRange, ...]:
        """The ranges where they are now; one that reaches into a part takes the new text in."""
        return tuple(LineRange(self._first(r.first), self._last(r.last)) for r in ranges)

    def _first(self, line: int) -> int:
        before = bisect_left(self._lasts, line)
        touched = before < len(self._firsts) and self._firsts[before] <= line
        return (self._firsts[before] if touched else line) + self._shift[before]

    def _last(self, line: int) -> int:
        begun = bisect_right(self._firsts, line)
        touched = begun > 0 and self._lasts[begun - 1] >= line
        return (self._lasts[begun - 1] if touched else line) + self._shift[begun]


def shared_length(one: Sequence[str], other: Sequence[str]) -> int:
    """How many items (characters, lines) two sequences have in common at their beginning."""
    limit = min(len(one), len(other))
    for index in range(limit):
        if one[index] != other[index]:
            return index
    return limit
