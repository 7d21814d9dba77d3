"""Cutting long texts for a model, always with a visible mark of what is left out."""

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
    """The head and the tail of a text, cut at line ends, with the lines left out counted.

    Lines are counted as read_file counts them, so that they can be asked for by these numbers.
    """
    if len(text) <= cap:
        return text
    head = text[: text.rfind("\n", 0, cap // 2) + 1]
    end_of_line = text.find("\n", len(text) - (cap - len(head)) - 1)
    tail_at = end_of_line + 1 if end_of_line >= 0 else len(text)
    if not head and tail_at == len(text):
        half = cap // 2
        return (
            f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"
        )
    first = head.count("\n") + 1
    last = text.count("\n", 0, tail_at) + (0 if text[tail_at - 1] == "\n" else 1)
    return f"{head}[... lines {first}-{last} left out ...]\n{text[tail_at:]}"
