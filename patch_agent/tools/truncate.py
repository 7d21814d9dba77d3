"""Cutting long texts for a model, always with a visible mark of what is left out."""

import re
from collections.abc import Sequence

from patch_agent.core.values import LineRange

LINE_CAP = 2_000
"""Characters of one line that are shown at once."""


def number_lines(
    lines: Sequence[str], span: LineRange, column: int, max_chars: int
) -> tuple[str, int]:
    """The lines of a span with their numbers, and the last one that fitted into `max_chars`."""
    shown: list[str] = []
    used = 0
    last = span.first - 1
    for number in range(span.first, span.last + 1):
        line = f"{number}\t{cut_line(lines[number - 1], column)}"
        used += len(line) + 1
        if shown and used > max_chars:
            break
        shown.append(line)
        last = number
    return "\n".join(shown), last


def cut_line(line: str, column: int = 1) -> str:
    """A line from a column on, cut at LINE_CAP characters with a mark that says so."""
    start = column - 1
    if start == 0 and len(line) <= LINE_CAP:
        return line
    part = line[start : start + LINE_CAP]
    left = len(line) - start - len(part)
    mark = f" [cut: {left} more characters; column={start + LINE_CAP + 1}]" if left > 0 else ""
    return part + mark


def split_lines(text: str) -> list[str]:
    """The lines as editors and test runners count them: ended by LF or CRLF, by nothing else."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def keep_ends(text: str, cap: int) -> str:
    """The head and the tail of a text, cut at line ends, with the lines left out counted."""
    if len(text) <= cap:
        return text
    # Counted as read_file counts them, so that the full text can be asked for by these numbers.
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    head, used = _take(lines, cap // 2)
    tail, _ = _take(list(reversed(lines[len(head) :])), cap - used)
    left_out = len(lines) - len(head) - len(tail)
    if left_out <= 0 or not (head or tail):
        half = cap // 2
        return (
            f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"
        )
    first = len(head) + 1
    mark = f"[... lines {first}-{first + left_out - 1} left out ...]\n"
    return "".join(head) + mark + "".join(reversed(tail))


def _take(lines: Sequence[str], cap: int) -> tuple[list[str], int]:
    taken: list[str] = []
    used = 0
    for line in lines:
        if used + len(line) > cap:
            break
        taken.append(line)
        used += len(line)
    return taken, used
