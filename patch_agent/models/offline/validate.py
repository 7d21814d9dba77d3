"""Which candidates make the failing tests pass, and then all the others too."""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from patch_agent.models.offline.bench import Bench, Progress
from patch_agent.models.offline.generate import Candidate
from patch_agent.models.offline.source import SourceFile

MAX_IN_PROCESSES = 40
"""Candidates that need a process of their own cost half a second and more each."""
PROCESS_SHARE = 0.25
"""Of the time, for what needs processes of its own."""
COLLECT_S = 8.0
"""How long to look for better repairs once there is one, in seconds."""


@dataclass(frozen=True, slots=True)
class Validated:
    """plausible: all tests pass with them. complete: every candidate was tried."""

    plausible: tuple[Candidate, ...]
    tried: int
    complete: bool
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Tests:
    """What has to pass: the tests to mend, and those that passed before. duration_s: of all."""

    __test__ = False

    failing: tuple[str, ...]
    passing: tuple[str, ...]
    duration_s: float

    @property
    def all(self) -> tuple[str, ...]:
        """Everything that has to pass."""
        return (*self.failing, *self.passing)


def validate(
    bench: Bench, candidates: Sequence[Candidate], tests: Tests, until: float, progress: Progress
) -> Validated:
    """Try them in order until the time is over; `until` is seconds of `time.time`."""
    slow = min(max(tests.duration_s * 5, 2.0), 30.0)
    left = until - time.time()
    job = {
        "mode": "try",
        "failing": tests.failing,
        "passing": tests.passing,
        "candidates": [asdict(c) for c in candidates],
        "until": until - left * PROCESS_SHARE,
        "collect_s": COLLECT_S,
        "workers": max(os.cpu_count() or 1, 1),
        "limit_s": slow,
        "limit_all_s": slow * 2,
    }
    records, result = bench.work(job, max(left, 1.0) + 10.0, progress)
    problem = next((str(record["problem"]) for record in records if "problem" in record), "")
    if result.ending != "exit" and not problem:
        problem = "the search was cut off"
    plausible = [candidates[r["candidate"]] for r in records if r.get("passed")]
    tried = next((int(record["tried"]) for record in records if "tried" in record), 0)
    if plausible:
        return Validated(tuple(plausible), tried, tried == len(candidates), problem)
    # A value that was used while modules were loaded shows only in a process of its own.
    needed = {int(r["candidate"]) for r in records if r.get("needs_process")}
    others = [c for number, c in enumerate(candidates) if number in needed or not c.name]
    more = _in_processes(bench, others, tests, until)
    return Validated(more, tried, tried == len(candidates), problem)


def _in_processes(
    bench: Bench, candidates: Sequence[Candidate], tests: Tests, until: float
) -> tuple[Candidate, ...]:
    plausible: list[Candidate] = []
    for candidate in sorted(candidates, key=lambda c: -c.score)[:MAX_IN_PROCESSES]:
        left = until - time.time()
        if left <= 0 or len(plausible) > 2:
            break
        path = bench.root / candidate.path
        original = path.read_bytes()
        try:
            path.write_bytes(applied(original, candidate))
            if bench.passes(tests.failing, left) and bench.passes(tests.all, max(left, 5.0)):
                plausible.append(candidate)
                until = min(until, time.time() + COLLECT_S / 4)
        finally:
            path.write_bytes(original)
    return tuple(plausible)


def applied(data: bytes, candidate: Candidate) -> bytes:
    """A file's bytes with the candidate's edit."""
    return data[: candidate.start] + candidate.text.encode() + data[candidate.end :]


def compiles(source: SourceFile, candidate: Candidate) -> bool:
    """Whether the edited file is still Python."""
    try:
        compile(applied(source.data, candidate), source.path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def only_compiling(
    sources: Mapping[str, SourceFile], candidates: Sequence[Candidate]
) -> tuple[Candidate, ...]:
    """The candidates whose file would still be Python."""
    return tuple(c for c in candidates if compiles(sources[c.path], c))
