"""The result of one run of a test command, as its runner's adapter read it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

Outcome = Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed"]
Ending = Literal["exit", "signal", "timeout", "cancelled", "not_started"]

EXECUTED: frozenset[Outcome] = frozenset({"passed", "failed", "error", "xfailed", "xpassed"})


@dataclass(frozen=True, slots=True)
class Failure:
    """What is known of a test that failed: `text` is the runner's own account, capped."""

    test_id: str
    text: str
    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class TestReport:
    """One run of one test command.

    argv: what was started, without a shell. cwd: relative to the repository root ("." is the root).
    exit_code: None unless `ending` is "exit". duration_s: seconds.
    outcomes: test id -> outcome. collection_errors: what could not be loaded, one text each.
    complete: False for a selection, which helps but is never evidence.
    output_blob: content id of the full output. note: what is wrong with the run itself.
    """

    __test__: ClassVar[bool] = False

    runner: str
    argv: tuple[str, ...]
    cwd: str
    ending: Ending
    exit_code: int | None
    duration_s: float
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()
    collection_errors: tuple[str, ...] = ()
    complete: bool = True
    output_blob: str | None = None
    note: str = ""

    @property
    def counts(self) -> dict[str, int]:
        """How many tests had each outcome; outcomes that did not occur are left out."""
        return dict(Counter(self.outcomes.values()))

    @property
    def executed(self) -> int:
        """How many tests really ran: skipped ones did not."""
        return sum(outcome in EXECUTED for outcome in self.outcomes.values())

    @property
    def passed(self) -> bool:
        """Exit code 0, at least one test executed, none failed, nothing failed to load."""
        broken = any(outcome in ("failed", "error") for outcome in self.outcomes.values())
        ok = self.ending == "exit" and self.exit_code == 0
        return ok and self.executed > 0 and not broken and not self.collection_errors

    def with_outcome(self, *outcomes: Outcome) -> frozenset[str]:
        """The ids of the tests that ended in one of the given ways."""
        return frozenset(key for key, value in self.outcomes.items() if value in outcomes)
