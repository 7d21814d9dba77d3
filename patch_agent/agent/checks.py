"""The done check: evidence decides whether the run is over, or what the model is told."""

from patch_agent.agent.effects import Effects
from patch_agent.agent.runtime_tests import RuntimeTests
from patch_agent.agent.session import Session
from patch_agent.core.events import DoneRefused
from patch_agent.core.messages import user_message
from patch_agent.core.planner import CheckDone, Stop, explain_budget
from patch_agent.core.refusal import refusal_text
from patch_agent.core.verdict import Verdict, verdict

MAX_REFUSALS = 3


class DoneCheck:
    """Asks the log, runs the tests once more if that may settle it, and answers."""

    def __init__(self, session: Session, effects: Effects, tests: RuntimeTests) -> None:
        self._session = session
        self._effects = effects
        self._tests = tests

    def run(self, step: CheckDone) -> Stop | None:
        """The end of the run; None: it goes on (told what is missing, or a question is open)."""
        self._effects.observe("done_check")
        found = verdict(self._session.state)
        if found.needs_test_run:
            if self._tests.may_run():
                self._tests.run("complete")
                found = verdict(self._session.state)
            elif self._session.state.pending_approval is not None:
                return None
        if found.met:
            text = found.effect.text if found.effect is not None else "the tests pass"
            return Stop("done", text)
        return self._answer(step, found)

    def _answer(self, step: CheckDone, found: Verdict) -> Stop | None:
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
