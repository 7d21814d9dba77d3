"""The test runs that the runtime makes itself: the baseline, and the one that proves."""

from patch_agent.agent.dispatch import question_for
from patch_agent.agent.effects import Effects
from patch_agent.agent.session import Session
from patch_agent.core.events import EffectIntended
from patch_agent.core.evidence import BaselineSkipped, TestsRan
from patch_agent.core.policy import rule_for_tests, subject_hash
from patch_agent.core.protocols import Tester, ToolOutcome
from patch_agent.core.state import TestRun
from patch_agent.core.values import TestRunKind


class RuntimeTests:
    """Runs the whole test command on a person's word."""

    def __init__(self, session: Session, effects: Effects, tester: Tester) -> None:
        self._session = session
        self._effects = effects
        self._tester = tester

    def run_baseline(self) -> None:
        """Run the test command before the first edit; ask first when nobody allowed it yet."""
        if self.may_run():
            self.run("baseline")
        elif self._session.state.pending_approval is None:
            self._session.stage(BaselineSkipped("a person did not allow the tests to run"))

    def may_run(self) -> bool:
        """Whether the tests may run; a question that is open is staged, and the answer is no."""
        state = self._session.state
        ruling = rule_for_tests(state)
        if ruling.kind == "ask":
            self._session.stage(question_for(None, ruling, state.test_commands))
        return ruling.kind == "allow"

    def run(self, kind: TestRunKind) -> None:
        """One complete run; the baseline is step 0, any other is a step of the run."""
        step = 0 if kind == "baseline" else self._session.state.step + 1
        intent = EffectIntended(
            call_id=self._session.next_call_id(),
            tool="run_tests",
            effect="command",
            step=step,
            arguments_hash=subject_hash(kind),
            by_runtime=True,
        )
        self._effects.perform(intent, lambda: self._act(kind, step))

    def _act(self, kind: TestRunKind, step: int) -> ToolOutcome:
        reports = self._tester.run((), self._session.show_progress)
        tree = self._session.state.tree
        run = TestRun(kind, step, tree, reports)
        return ToolOutcome(
            content="",
            summary=run.summary,
            is_error=not run.passed,
            facts=(TestsRan(kind, step, tree, reports),),
            touched=None,
            exit_code=reports[-1].exit_code if reports else None,
            blobs=tuple(report.output_blob for report in reports if report.output_blob),
        )
