"""Replacing text at exactly one place, byte for byte: all that is not replaced stays as it is.

A model sees plain newlines; matching is on text with CRLF taken as one newline, and offsets are
taken back to the file's own characters. What old and new text share is never rewritten, so mixed
line ends inside a replaced region stay too.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from patch_agent.core.errors import ToolError
from patch_agent.core.values import LineRange
from patch_agent.workspace.encoding import TextFile, decode, decode_like, encode_part
from patch_agent.workspace.nearest import describe_nearest

PREVIEW_LINES = 40


@dataclass(frozen=True, slots=True)
class Edit:
    """One replacement. replace_all: every place instead of exactly one."""

    old: str
    new: str
    replace_all: bool = False


@dataclass(frozen=True, slots=True)
class EditResult:
    """data: the new bytes. ranges: changed lines in the new file. rule: how the text matched.

    removed and added: lines, over all edits. preview: the changed lines with numbers, for a model.
    """

    data: bytes
    ranges: tuple[LineRange, ...]
    removed: int
    added: int
    rule: str
    preview: str


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    new: str


def apply_edits(data: bytes, edits: Sequence[Edit]) -> EditResult:
    """Apply the edits in order, each on what the one before left. Raises ToolError, all or none."""
    ranges: list[LineRange] = []
    removed = added = 0
    rule = "exact"
    file = decode(data)
    for number, edit in enumerate(edits, 1):
        where = f"Edit {number}: " if len(edits) > 1 else ""
        spans, used = _find(file, edit, where)
        rule = used if used != "exact" else rule
        for span in reversed(spans):
            data = _splice(data, file, span)
            file = decode_like(data, file)
        removed += len(spans) * _lines(edit.old)
        added += len(spans) * _lines(edit.new)
        ranges = _moved(ranges, spans, file)
    return EditResult(data, tuple(ranges), removed, added, rule, _preview(file.text, ranges))


def _lines(text: str) -> int:
    return text.count("\n") + (0 if text.endswith("\n") or not text else 1)


def _find(file: TextFile, edit: Edit, where: str) -> tuple[list[_Span], str]:
    text, plain = file.text, file.text.replace("\r\n", "\n")
    old, new = edit.old.replace("\r\n", "\n"), edit.new.replace("\r\n", "\n")
    if old == new:
        raise ToolError(f"{where}old_text and new_text are the same; nothing to do.")
    if not old:
        if text:
            raise ToolError(f"{where}old_text is empty; that is only possible in an empty file.")
        return [_Span(0, 0, new.replace("\n", file.newline))], "exact"
    places = _places(plain, old)
    if not places:
        raise ToolError(where + describe_nearest(plain, old))
    if len(places) > 1 and not edit.replace_all:
        lines = ", ".join(str(plain.count("\n", 0, at) + 1) for at in places[:20])
        raise ToolError(
            f"{where}old_text occurs {len(places)} times, at lines {lines}; take more lines around "
            "it to make it unique, or set replace_all."
        )
    back = _Offsets(text)
    spans = [_span(file, back, at, old, new) for at in places]
    rule = "exact" if edit.old in text or len(plain) == len(text) else "line ends"
    return spans, rule


def _places(text: str, old: str) -> list[int]:
    places: list[int] = []
    at = text.find(old)
    while at >= 0:
        places.append(at)
        at = text.find(old, at + len(old))
    return places


class _Offsets:
    """From offsets in the text with plain newlines to offsets in the file's own text."""

    def __init__(self, text: str) -> None:
        self._breaks: list[int] = []
        at = text.find("\r\n")
        while at >= 0:
            self._breaks.append(at - len(self._breaks))
            at = text.find("\r\n", at + 2)

    def of(self, plain: int) -> int:
        return plain + bisect_left(self._breaks, plain)


def _span(file: TextFile, back: _Offsets, at: int, old: str, new: str) -> _Span:
    head = _shared(old, new)
    tail = _shared(old[head:][::-1], new[head:][::-1])
    start, end = back.of(at + head), back.of(at + len(old) - tail)
    inner = new[head : len(new) - tail]
    region = file.text[back.of(at) : back.of(at + len(old))]
    crlf = region.count("\r\n")
    plain = region.count("\n") - crlf
    newline = _end_of_line(file, end) if crlf == plain else "\r\n" if crlf > plain else "\n"
    return _Span(start, end, inner.replace("\n", newline))


def _end_of_line(file: TextFile, at: int) -> str:
    """How the line at an offset ends; the file's usual way where it is the last."""
    found = file.text.find("\n", at)
    if found < 0:
        return file.newline
    return "\r\n" if file.text[max(found - 1, 0)] == "\r" else "\n"


def _shared(one: str, other: str) -> int:
    limit = min(len(one), len(other))
    for index in range(limit):
        if one[index] != other[index]:
            return index
    return limit


def _splice(data: bytes, file: TextFile, span: _Span) -> bytes:
    before = file.bom + file.text[: span.start].encode(file.encoding)
    after = file.text[span.end :].encode(file.encoding)
    result = before + encode_part(span.new, file) + after
    # In an encoding with shift states a piece cannot stand alone: the rest must be as it was.
    if not data.startswith(before) or not data.endswith(after):
        raise ToolError(f"A part of {file.encoding} text cannot be replaced safely here.")
    return result


def _moved(ranges: list[LineRange], spans: Sequence[_Span], file: TextFile) -> list[LineRange]:
    found = list(ranges)
    shift = 0
    for span in spans:
        start = span.start + shift
        first = file.text.count("\n", 0, start) + 1
        found.append(LineRange(first, first + span.new.count("\n")))
        shift += len(span.new) - (span.end - span.start)
    return found


def _preview(text: str, ranges: Sequence[LineRange]) -> str:
    lines = text.replace("\r\n", "\n").split("\n")
    shown: list[str] = []
    for part in ranges:
        first, last = max(part.first - 2, 1), min(part.last + 2, len(lines))
        for number in range(first, last + 1):
            line = lines[number - 1]
            shown.append(f"{number}\t{line if len(line) <= 300 else line[:300] + ' [cut]'}")
        if len(shown) > PREVIEW_LINES:
            return "\n".join([*shown[:PREVIEW_LINES], "[more changed lines are not shown]"])
    return "\n".join(dict.fromkeys(shown))
