"""The loop: take the next step that the planner derives from the state, until one ends it."""

from typing import assert_never

from patch_agent.agent.model_call import call_model, reason_for
from patch_agent.agent.parts import Parts
from patch_agent.agent.session import Session
from patch_agent.core import planner as next_
from patch_agent.core.events import (
    ApprovalDecided,
    DecisionCompleted,
    ResultsDelivered,
    TurnEnded,
)
from patch_agent.core.reasons import exit_code, status_of
from patch_agent.core.verdict import verdict


class Loop:
    """Drives one session."""

    def __init__(self, session: Session, parts: Parts) -> None:
        self._session = session
        self._parts = parts
        self._started = parts.monotonic()

    def run(self) -> TurnEnded:
        """Go on until done, stopped or out of budget; the end is recorded and returned."""
        while True:
            stop = self._take(next_.plan(self._session.state, self._elapsed()))
            if stop is not None:
                return self.end(stop)

    def _elapsed(self) -> float:
        return self._parts.monotonic() - self._started

    def end(self, stop: next_.Stop, code: int | None = None) -> TurnEnded:
        """Record the end of the turn; `code` overrides the reason's exit code (143)."""
        ended = TurnEnded(
            status=status_of(stop.reason),
            reason=stop.reason,
            exit_code=exit_code(stop.reason) if code is None else code,
            text=stop.text,
            duration_s=round(self._elapsed(), 3),
            grade=verdict(self._session.state).grade,
        )
        self._session.record(ended)
        return ended

    def _take(self, step: next_.Step) -> next_.Stop | None:
        match step:
            case next_.Decide():
                self._decide(step)
            case next_.AwaitApproval():
                return self._await_approval(step)
            case next_.ObserveStart():
                self._parts.effects.observe("start")
            case next_.RunBaseline():
                self._parts.tests.run_baseline()
            case next_.RunCall():
                self._parts.dispatch.run(step.call)
            case next_.DeliverResults():
                self._deliver()
            case next_.CallModel():
                return self._call_model()
            case next_.CheckDone():
                return self._parts.done_check.run(step)
            case next_.Stop():
                return step
            case _:
                assert_never(step)
        return None

    def _decide(self, step: next_.Decide) -> None:
        state = self._session.state
        decision_id = f"d{state.decisions + 1}"
        actions, source = self._parts.worker.decide(state, step.trigger)
        self._session.stage(DecisionCompleted(decision_id, step.trigger, actions, source))

    def _await_approval(self, step: next_.AwaitApproval) -> next_.Stop | None:
        self._session.flush()
        answer, by = self._parts.approver.ask(step.request)
        if answer == "later":
            return next_.Stop("approval_needed", f"{step.request.question} {step.request.preview}")
        request = step.request
        self._session.record(
            ApprovalDecided(request.call_id, answer == "yes", by, request.subject_hash)
        )
        return None

    def _deliver(self) -> None:
        session = self._session
        session.stage(ResultsDelivered(session.next_message_id(), session.state.head))

    def _call_model(self) -> next_.Stop | None:
        self._parts.effects.notice()
        error = call_model(
            self._session, self._parts.model, self._parts.dispatch.specs, self._parts.monotonic
        )
        return None if error is None else next_.Stop(reason_for(error), str(error))
