"""Where the fault may be: lines that failing tests execute and passing ones do not (Ochiai)."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

FRAME_BOOST = 1.5
WORD_BOOST = 1.2


@dataclass(frozen=True, slots=True)
class Traced:
    """What one test did. lines: path -> lines executed. frames: (path, line) of its traceback."""

    test: str
    outcome: str
    lines: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    frames: tuple[tuple[str, int], ...] = ()
    text: str = ""


def read_traces(records: Iterable[Mapping[str, Any]]) -> tuple[Traced, ...]:
    """The worker's results as values."""
    return tuple(
        Traced(
            test=record["test"],
            outcome=record["outcome"],
            lines={path: tuple(lines) for path, lines in record["lines"].items()},
            frames=tuple((path, line) for path, line in record["frames"]),
            text=record["text"],
        )
        for record in records
        if "test" in record
    )


def rank_lines(traces: Iterable[Traced], task: str) -> dict[tuple[str, int], float]:
    """(path, line) -> suspicion between 0 and 1, of every line that a failing test executed."""
    known = tuple(traces)
    failing = [trace for trace in known if trace.outcome == "failed"]
    passing = [trace for trace in known if trace.outcome == "passed"]
    by_failing, by_passing = _counts(failing), _counts(passing)
    frames = {place for trace in failing for place in trace.frames}
    words = {word for word in re.findall(r"[a-z]{3,}", task.lower())}
    scores = {}
    for place, failed in by_failing.items():
        score = failed / math.sqrt(len(failing) * (failed + by_passing.get(place, 0)))
        score *= FRAME_BOOST if place in frames else 1.0
        score *= WORD_BOOST if words & set(re.findall(r"[a-z]{3,}", place[0].lower())) else 1.0
        scores[place] = score
    top = max(scores.values(), default=1.0)
    return {place: score / top for place, score in scores.items()}


def _counts(traces: Iterable[Traced]) -> dict[tuple[str, int], int]:
    found: dict[tuple[str, int], int] = {}
    for trace in traces:
        for path, lines in trace.lines.items():
            for line in lines:
                found[path, line] = found.get((path, line), 0) + 1
    return found
