"""The done check: what the log proves, at which grade, and what is missing. Pure.

A verdict never looks at what a model said. It compares the newest complete test run with the tree
that is there now (`TreeObserved` is recorded directly before the check) and with the baseline.
"""

from dataclasses import dataclass
from typing import Literal

from patch_agent.core.reasons import Reason
from patch_agent.core.state import State, TestRun
from patch_agent.core.testing import TestReport

Grade = Literal["none", "passing", "no-regressions", "proven"]
GRADES: tuple[Grade, ...] = ("none", "passing", "no-regressions", "proven")


@dataclass(frozen=True, slots=True)
class TestEffect:
    """What the run did to the tests: ids, by what they were in the baseline and are now."""

    __test__ = False

    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: int = 0
    regressions: tuple[str, ...] = ()
    still_failing: tuple[str, ...] = ()
    new_passing: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """One line for people: `1 test fail→pass, 0 regressions, 11 pass→pass`."""
        parts = [
            f"{_tests(len(self.fail_to_pass))} fail→pass",
            f"{len(self.regressions)} regression{'' if len(self.regressions) == 1 else 's'}",
            f"{self.pass_to_pass} pass→pass",
        ]
        if self.new_passing:
            parts.append(f"{len(self.new_passing)} new")
        if self.still_failing:
            parts.append(f"{len(self.still_failing)} still failing")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is proved.

    grade: the highest grade reached. required: the grade asked for. met: whether the run may be
    called done. reason: "done", or the reason for the exit code. reasons: what is missing, one
    sentence each, saying what would satisfy it. needs_test_run: a run of the test command by the
    runtime may settle it.
    """

    grade: Grade
    required: Grade
    met: bool
    reason: Reason
    reasons: tuple[str, ...] = ()
    needs_test_run: bool = False
    effect: TestEffect | None = None


def tests_still_pass(state: State) -> bool:
    """The newest complete run passed, after the last edit, on the tree that is there now."""
    run = state.last_test
    return run is not None and run.passed and is_fresh(state, run)


def is_fresh(state: State, run: TestRun) -> bool:
    """Whether nothing changed since the run: later than the last edit, and the same tree."""
    trees = {run.tree, run.tree_after} - {""}
    return run.after_step > state.last_edit_step and state.tree in trees


def verdict(state: State) -> Verdict:
    """What the log proves of the state of the run."""
    required: Grade = "no-regressions" if _has_outcomes(state.baseline) else "passing"
    if not state.test_commands:
        return _missing(required, "no_test_command", _NO_COMMAND)
    if state.is_unchanged and not state.allow_empty:
        return _missing(required, "no_change", _NO_CHANGE)
    if state.last_test is None or not is_fresh(state, state.last_test):
        text = "No complete run of the test command came after the last change."
        if state.changed_by_tests and state.last_test is not None:
            names = ", ".join(state.changed_by_tests[:10])
            text += f" The tests themselves change files: {names}."
        return _missing(required, "grade_too_low", text, needs_test_run=True)
    if not state.last_test.passed:
        return _not_passed(required, state.last_test)
    return _graded(state, required, state.last_test)


_NO_COMMAND = (
    "No test command is known for this repository, so nothing can be proved. "
    "Name it with --test-cmd."
)
_NO_CHANGE = "No file was changed. A run that changes nothing is never done."


def _missing(required: Grade, reason: Reason, text: str, needs_test_run: bool = False) -> Verdict:
    return Verdict("none", required, False, reason, (text,), needs_test_run)


def _not_passed(required: Grade, run: TestRun) -> Verdict:
    bad = [report for report in run.reports if not report.passed]
    failing = sorted(key for key, value in run.outcomes.items() if value in ("failed", "error"))
    if run.executed == 0 and all(r.ending == "exit" and not r.collection_errors for r in bad):
        notes = [report.note for report in bad if report.note]
        text = " ".join(["No test was executed: that is not a pass.", *notes])
        return _missing(required, "no_tests_ran", text)
    texts = [_why_not(report) for report in bad]
    if failing:
        texts.append("Failing now: " + ", ".join(failing[:10]) + _more(len(failing), 10) + ".")
    return Verdict("none", required, False, "tests_failing", tuple(texts))


def _why_not(report: TestReport) -> str:
    command = " ".join(report.argv)
    match report.ending:
        case "exit":
            text = f"`{command}` ended with exit code {report.exit_code}"
        case "timeout":
            text = f"`{command}` ran into its time limit"
        case "not_started":
            text = f"`{command}` could not be started"
        case "signal":
            text = f"`{command}` was ended by a signal"
        case "cancelled":
            text = f"`{command}` was cancelled"
    if report.collection_errors:
        text += f"; {len(report.collection_errors)} file(s) could not be loaded"
    return text + (f" ({report.note})." if report.note else ".")


def _graded(state: State, required: Grade, run: TestRun) -> Verdict:
    effect = compare(state.baseline, run)
    grade: Grade = "passing"
    reasons: list[str] = []
    if effect is not None and not effect.regressions:
        grade = "proven" if effect.fail_to_pass else "no-regressions"
    elif effect is not None:
        names = ", ".join(effect.regressions[:10]) + _more(len(effect.regressions), 10)
        reasons.append(f"These tests passed before and did not run and pass now: {names}.")
    changed = sorted(p for p, file in state.net_changes.items() if file.protected)
    if changed:
        reasons.append(
            "Files that are tests or steer them were changed: " + ", ".join(changed) + ". "
            "Put them back, or let a person allow it with --allow-tests GLOB."
        )
        return Verdict(grade, required, False, "tests_changed", tuple(reasons), effect=effect)
    met = GRADES.index(grade) >= GRADES.index(required)
    reason: Reason = "done" if met else "grade_too_low"
    return Verdict(grade, required, met, reason, tuple(reasons), effect=effect)


def compare(baseline: TestRun | None, now: TestRun) -> TestEffect | None:
    """What became of the baseline's tests; None when there is no baseline with single tests."""
    if baseline is None or not _has_outcomes(baseline):
        return None
    before, after = baseline.outcomes, now.outcomes
    failed = {key for key, value in before.items() if value in ("failed", "error")}
    passed = {key for key, value in before.items() if value == "passed"}
    ok = {key for key, value in after.items() if value == "passed"}
    bad = {key for key, value in after.items() if value in ("failed", "error")}
    # After a module failed to load at the start, its tests are new ids that fail no more.
    revived = ok - before.keys() if baseline_unloaded(baseline) else set()
    return TestEffect(
        fail_to_pass=tuple(sorted((failed & ok) | revived)),
        pass_to_pass=len(passed & ok),
        regressions=tuple(sorted(passed - ok)),
        still_failing=tuple(sorted(failed & bad)),
        new_passing=tuple(sorted(ok - before.keys() - revived)),
    )


def baseline_unloaded(baseline: TestRun) -> bool:
    """Whether some test file could not be loaded before the first edit."""
    return any(report.collection_errors for report in baseline.reports)


def _has_outcomes(run: TestRun | None) -> bool:
    # A cut or broken baseline knows too little to speak of regressions.
    if run is None or not all(report.ending == "exit" for report in run.reports):
        return False
    return bool(run.outcomes) or baseline_unloaded(run)


def _tests(number: int) -> str:
    return f"{number} test{'' if number == 1 else 's'}"


def _more(number: int, shown: int) -> str:
    return f" and {number - shown} more" if number > shown else ""
