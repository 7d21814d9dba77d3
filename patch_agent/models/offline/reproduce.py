"""The failing tests run again in the copy, traced: what failed, and what was executed."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from patch_agent.models.offline.bench import Bench
from patch_agent.models.offline.localise import Traced, read_traces


@dataclass(frozen=True, slots=True)
class Reproduced:
    """tests: what each did. modules: files under the root that were loaded. duration_s: of all."""

    tests: tuple[Traced, ...]
    modules: tuple[str, ...]
    duration_s: float

    def failing(self, wanted: Iterable[str]) -> tuple[Traced, ...]:
        """Those of the wanted tests that failed here too.

        Ids that the report and the runner spell differently are none of them: then all are meant.
        """
        names = set(wanted)
        failed = tuple(test for test in self.tests if test.outcome == "failed")
        return tuple(test for test in failed if test.test in names) or failed

    @property
    def passing(self) -> tuple[Traced, ...]:
        """The tests that passed."""
        return tuple(test for test in self.tests if test.outcome == "passed")


def reproduce(bench: Bench, limit_s: float) -> Reproduced:
    """Run all tests once; those of the second half of the time are no longer traced."""
    job = {"mode": "trace", "trace_until": time.time() + limit_s / 2}
    records, outcome = bench.work(job, limit_s, lambda _text: None)
    modules: Sequence[str] = next((r["modules"] for r in records if "modules" in r), ())
    return Reproduced(read_traces(records), tuple(modules), outcome.duration_s)
