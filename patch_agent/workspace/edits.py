"""Replacing text at exactly one place, byte for byte: all that is not replaced stays as it is.

A model sees plain newlines; matching is on text with CRLF taken as one newline, and offsets are
taken back to the file's own characters. What old and new text share is never rewritten, so mixed
line ends inside a replaced region stay too.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from patch_agent.core.errors import ToolError
from patch_agent.core.evidence_reducer import merge_ranges
from patch_agent.core.values import LineRange
from patch_agent.workspace.encoding import TextFile, decode, decode_like, encode_part
from patch_agent.workspace.lines import LineShifts, shared_length
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

    seen: the lines of the new file that were seen before, or written by these edits. removed and
    added: lines, over all edits. preview: the changed lines with numbers, for a model.
    """

    data: bytes
    ranges: tuple[LineRange, ...]
    seen: tuple[LineRange, ...]
    removed: int
    added: int
    rule: str
    preview: str


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    new: str


def apply_edits(data: bytes, edits: Sequence[Edit], seen: Sequence[LineRange] = ()) -> EditResult:
    """Apply the edits in order, each on what the one before left. Raises ToolError, all or none.

    seen: lines of the file as it is that the model was shown.
    """
    ranges: tuple[LineRange, ...] = ()
    seen = tuple(seen)
    removed = added = 0
    rule = "exact"
    file = decode(data)
    for number, edit in enumerate(edits, 1):
        where = f"Edit {number}: " if len(edits) > 1 else ""
        spans, used = _find(file, edit, where)
        rule = used if used != "exact" else rule
        shifts = LineShifts(file.text, [(span.start, span.end, span.new) for span in spans])
        data, file = _splice(data, file, spans)
        gone, come = _line_counts(edit)
        removed += len(spans) * gone
        added += len(spans) * come
        ranges = merge_ranges((*shifts.moved(ranges), *shifts.written))
        seen = merge_ranges((*shifts.moved(seen), *shifts.written))
    return EditResult(data, ranges, seen, removed, added, rule, _preview(file.text, ranges))


def _line_counts(edit: Edit) -> tuple[int, int]:
    """Lines that go and lines that come, without those that old and new text share."""
    old, new = _plain(edit.old).split("\n"), _plain(edit.new).split("\n")
    head = shared_length(old, new)
    tail = shared_length(old[head:][::-1], new[head:][::-1])
    return _lines(old[head : len(old) - tail]), _lines(new[head : len(new) - tail])


def _lines(lines: Sequence[str]) -> int:
    return len(lines) - (1 if lines and lines[-1] == "" else 0)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")


def _find(file: TextFile, edit: Edit, where: str) -> tuple[list[_Span], str]:
    text, plain = file.text, _plain(file.text)
    old, new = _plain(edit.old), _plain(edit.new)
    if old == new:
        raise ToolError(f"{where}old_text and new_text are the same; nothing to do.")
    if not old:
        if text:
            raise ToolError(f"{where}old_text is empty; that is only possible in an empty file.")
        return [_Span(0, 0, new.replace("\n", file.newline))], "exact"
    # To be the only one, a place must not even overlap with another.
    places = _places(plain, old, len(old) if edit.replace_all else 1)
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


def _places(text: str, old: str, step: int) -> list[int]:
    places: list[int] = []
    at = text.find(old)
    while at >= 0:
        places.append(at)
        at = text.find(old, at + step)
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
    head = shared_length(old, new)
    tail = shared_length(old[head:][::-1], new[head:][::-1])
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


def _splice(data: bytes, file: TextFile, spans: Sequence[_Span]) -> tuple[bytes, TextFile]:
    changed, text = bytearray(file.bom), []
    at, cursor = len(file.bom), 0
    for span in (*spans, _Span(len(file.text), len(file.text), "")):
        kept = file.text[cursor : span.start]
        as_bytes = kept.encode(file.encoding)
        # In an encoding with shift states a piece cannot stand alone: the rest must be as it was.
        if not data.startswith(as_bytes, at):
            raise ToolError(f"A part of {file.encoding} text cannot be replaced safely here.")
        changed += as_bytes + encode_part(span.new, file)
        text += [kept, span.new]
        at += len(as_bytes) + len(file.text[span.start : span.end].encode(file.encoding))
        cursor = span.end
    after = decode_like(bytes(changed), file)
    if at != len(data) or after.text != "".join(text):
        raise ToolError(f"A part of {file.encoding} text cannot be replaced safely here.")
    return bytes(changed), after


def _preview(text: str, ranges: Sequence[LineRange]) -> str:
    lines = _plain(text).split("\n")
    if lines[-1] == "":
        lines.pop()
    around = merge_ranges(LineRange(max(r.first - 2, 1), r.last + 2) for r in ranges)
    numbers = (n for part in around for n in range(part.first, min(part.last, len(lines)) + 1))
    shown = [f"{n}\t{_cut(lines[n - 1])}" for n in islice(numbers, PREVIEW_LINES)]
    more = next(numbers, None) is not None
    return "\n".join([*shown, "[more changed lines are not shown]"] if more else shown)


def _cut(line: str) -> str:
    return line if len(line) <= 300 else line[:300] + " [cut]"
