"""Of the plausible repairs the best first, each as an edit that fits at exactly one place."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from patch_agent.models.offline.generate import Candidate
from patch_agent.models.offline.source import SourceFile
from patch_agent.models.offline.validate import applied

MAX_REPAIRS = 5


@dataclass(frozen=True, slots=True)
class Repair:
    """One edit. old_text occurs exactly once in the file; both texts have plain newlines."""

    path: str
    line: int
    old_text: str
    new_text: str
    operator: str
    why: str
    score: float


def choose(plausible: Iterable[Candidate], sources: Mapping[str, SourceFile]) -> tuple[Repair, ...]:
    """The best few. More of them on one line speak for that line; small edits come first."""
    candidates = tuple(plausible)
    agreeing: dict[tuple[str, int], int] = {}
    for candidate in candidates:
        place = (candidate.path, candidate.line)
        agreeing[place] = agreeing.get(place, 0) + 1

    def rank(candidate: Candidate) -> tuple[float, int, str, int]:
        support = 1.0 + 0.05 * min(agreeing[candidate.path, candidate.line] - 1, 4)
        size = len(candidate.text) + candidate.end - candidate.start
        return (-candidate.score * support, size, candidate.path, candidate.start)

    ranked = sorted(candidates, key=rank)
    return tuple(_as_repair(sources[c.path], c) for c in ranked[:MAX_REPAIRS])


def _as_repair(source: SourceFile, candidate: Candidate) -> Repair:
    old, new = _unique_lines(source, candidate)
    return Repair(
        candidate.path, candidate.line, old, new, candidate.operator, candidate.why, candidate.score
    )


def _unique_lines(source: SourceFile, candidate: Candidate) -> tuple[str, str]:
    """Whole lines round the edit, as many as it takes to be unique in the file."""
    data = source.data
    start = data.rfind(b"\n", 0, candidate.start) + 1
    start = max(start, source.starts[0])
    end = _line_end(data, candidate.end)
    while data.count(data[start:end]) > 1 and (start > source.starts[0] or end < len(data)):
        start = max(data.rfind(b"\n", 0, start - 1) + 1, source.starts[0])
        end = _line_end(data, end + 1) if end < len(data) else end
    grown = len(candidate.text.encode()) - (candidate.end - candidate.start)
    old, new = data[start:end], applied(data, candidate)[start : end + grown]
    return _plain(old), _plain(new)


def _line_end(data: bytes, at: int) -> int:
    end = data.find(b"\n", at)
    end = len(data) if end < 0 else end
    return end - 1 if data[end - 1 : end] == b"\r" and end > at else end


def _plain(data: bytes) -> str:
    return data.decode().replace("\r\n", "\n")
