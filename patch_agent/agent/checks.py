"""The runtime's own test runs and the done check."""

from patch_agent.agent.dispatch import question_for
from patch_agent.agent.effects import Effects
from patch_agent.agent.session import Session
from patch_agent.core.events import DoneRefused, EffectIntended
from patch_agent.core.evidence import BaselineSkipped, TestsRan
from patch_agent.core.messages import user_message
from patch_agent.core.planner import CheckDone, Stop, explain_budget
from patch_agent.core.policy import rule_for_tests, subject_hash
from patch_agent.core.protocols import Tester, ToolOutcome
from patch_agent.core.refusal import refusal_text
from patch_agent.core.state import TestRun
from patch_agent.core.values import TestRunKind
from patch_agent.core.verdict import Verdict, verdict

MAX_REFUSALS = 3


class Checks:
    """Runs the test command for the runtime and decides, from the log, whether the run is over."""

    def __init__(self, session: Session, effects: Effects, tester: Tester) -> None:
        self._session = session
        self._effects = effects
        self._tester = tester

    def run_baseline(self) -> None:
        """Run the test command before the first edit, or ask whether it may run."""
        if not self._may_run_tests("A person did not allow the tests to run."):
            return
        self._run_tests("baseline")

    def _may_run_tests(self, if_denied: str) -> bool:
        state = self._session.state
        ruling = rule_for_tests(state)
        if ruling.kind == "ask":
            self._session.stage(question_for(None, ruling, state.test_commands))
        if ruling.kind == "denied" and state.baseline is None and not state.baseline_skipped:
            self._session.stage(BaselineSkipped(if_denied))
        return ruling.kind == "allow"

    def _run_tests(self, kind: TestRunKind) -> None:
        state = self._session.state
        step = 0 if kind == "baseline" else state.step + 1
        intent = EffectIntended(
            call_id=self._session.next_call_id(),
            tool="run_tests",
            effect="command",
            step=step,
            arguments_hash=subject_hash(kind),
            by_runtime=True,
        )

        def act() -> ToolOutcome:
            reports = self._tester.run((), self._session.show_progress)
            tree = self._session.state.tree
            run = TestRun(kind, step, tree, reports)
            blobs = tuple(report.output_blob for report in reports if report.output_blob)
            return ToolOutcome(
                content="",
                summary=run.summary,
                is_error=not run.passed,
                facts=(TestsRan(kind, step, tree, reports),),
                touched=None,
                exit_code=reports[-1].exit_code if reports else None,
                blobs=blobs,
            )

        self._effects.perform(intent, act)

    def check_done(self, step: CheckDone) -> Stop | None:
        """Let the evidence decide. None: the run goes on (the model was told what is missing)."""
        self._effects.observe("done_check")
        found = verdict(self._session.state)
        if found.needs_test_run:
            denied = "The tests were not allowed to run."
            if not self._may_run_tests(denied):
                if self._session.state.pending_approval is not None:
                    return None
            else:
                self._run_tests("complete")
                found = verdict(self._session.state)
        if found.met:
            return Stop("done", _met_text(found))
        return self._end_unmet(step, found)

    def _end_unmet(self, step: CheckDone, found: Verdict) -> Stop | None:
        state = self._session.state
        if step.out_of is not None:
            return Stop(step.out_of, explain_budget(state, step.out_of))
        if step.request.reason is not None:
            return Stop(step.request.reason, step.request.text or found.reasons[0])
        if found.reason == "no_test_command" or state.done_refusals >= MAX_REFUSALS:
            return Stop(found.reason, " ".join(found.reasons))
        text = refusal_text(state, found, MAX_REFUSALS - state.done_refusals)
        message = user_message(self._session.next_message_id(), text)
        self._session.stage(DoneRefused(message, state.head, found.reason, found.reasons))
        return None


def _met_text(found: Verdict) -> str:
    return found.effect.text if found.effect is not None else "the tests pass"
