"""`apply`: the state after one more record. Pure and total; an unknown event changes nothing.

Two folds in one pass (state.md): what was spent counts on every branch, the rest only on the
active path. Evidence has a module of its own, so that one can see who may write it.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from patch_agent.core import events as ev
from patch_agent.core.evidence import EvidenceEvent
from patch_agent.core.evidence_reducer import apply_evidence
from patch_agent.core.messages import Message, ToolResult, extend
from patch_agent.core.state import CallState, State
from patch_agent.core.values import Action, Trigger


def apply(state: State, record: ev.Record, on_path: bool = True) -> State:
    """The state after `record`. Off the active path, only what was spent counts."""
    spent = _SPENDING.get(type(record.event))
    if spent is not None:
        state = spent(state, record.event)
    if on_path:
        state = _apply_on_path(state, record.event)
    return replace(state, seq=record.seq)


def _apply_on_path(state: State, event: ev.Event) -> State:
    if isinstance(event, EvidenceEvent):
        return apply_evidence(state, event)
    arm = _ARMS.get(type(event))
    return state if arm is None else arm(state, event)


# --- What is spent: all branches -----------------------------------------------------------


def _spend_step(state: State, event: ev.EffectIntended | ev.CallRejected) -> State:
    return replace(state, step=max(state.step, event.step))


def _spend_call_id(state: State, event: ev.EffectIntended) -> State:
    state = _spend_step(state, event)
    return replace(state, calls_made=state.calls_made + 1) if event.by_runtime else state


def _spend_reply(state: State, event: ev.ModelReplied) -> State:
    usage = event.usage
    known = state.cost_usd is not None and event.cost_usd is not None
    fresh = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    return replace(
        state,
        cost_usd=(state.cost_usd or 0.0) + (event.cost_usd or 0.0) if known else None,
        tokens=state.tokens + usage.total,
        input_tokens=state.input_tokens + fresh,
        output_tokens=state.output_tokens + usage.output_tokens,
        cache_read_tokens=state.cache_read_tokens + usage.cache_read_tokens,
        model_calls=state.model_calls + 1,
        messages_made=state.messages_made + 1,
        calls_made=state.calls_made + len(event.message.calls),
    )


def _spend_message(state: State, _event: ev.Event) -> State:
    return replace(state, messages_made=state.messages_made + 1)


def _spend_time(state: State, event: ev.TurnEnded) -> State:
    return replace(state, duration_s=state.duration_s + event.duration_s)


_SPENDING: dict[type, Callable[[State, Any], State]] = {
    ev.EffectIntended: _spend_call_id,
    ev.CallRejected: _spend_step,
    ev.ModelReplied: _spend_reply,
    ev.UserPrompted: _spend_message,
    ev.ResultsDelivered: _spend_message,
    ev.DoneRefused: _spend_message,
    ev.TurnEnded: _spend_time,
}


# --- The session and its conversation ------------------------------------------------------


def _session_started(state: State, event: ev.SessionStarted) -> State:
    return replace(
        state,
        session_id=event.session_id,
        root=event.root,
        base_commit=event.base_commit,
        model=event.model,
        limits=event.limits,
        test_commands=event.test_commands,
        test_source=event.test_source,
        baseline_wanted=event.baseline_wanted,
        allow_empty=event.allow_empty,
        allowed_tests=event.allowed_tests,
        due=(*state.due, Trigger("session.start")),
    )


def _session_resumed(state: State, event: ev.SessionResumed) -> State:
    return replace(
        state,
        limits=event.limits,
        model=event.model,
        status="running",
        reason=None,
        exit_code=None,
        end_text="",
        model_call_due=state.model_call_due or bool(state.model_error),
        model_error="",
    )


def _user_prompted(state: State, event: ev.UserPrompted) -> State:
    return replace(
        state,
        path=extend(state.path, event.message),
        task=state.task or event.message.text,
        status="running",
        reason=None,
        exit_code=None,
        end_text="",
        done_requested=None,
        done_refusals=0,
        # Whatever else was due belongs to what the person has just passed over.
        calls=(),
        pending_approvals=(),
        model_call_due=False,
        model_error="",
        due=(*_session_start(state), Trigger("client.messages", event.message.id)),
    )


def _session_start(state: State) -> tuple[Trigger, ...]:
    return tuple(trigger for trigger in state.due if trigger.type == "session.start")


def _decision_completed(state: State, event: ev.DecisionCompleted) -> State:
    due = tuple(trigger for trigger in state.due if trigger != event.trigger)
    state = replace(state, due=due, decisions=state.decisions + 1)
    for action in event.actions:
        state = _queue(state, action)
    return state


def _queue(state: State, action: Action) -> State:
    if action.type == "llm.call":
        return replace(state, model_call_due=True)
    if action.type == "tool.call":
        return _set_call(state, action.call_id, status="queued")
    return replace(state, done_requested=action)


def _model_requested(state: State, event: ev.ModelRequested) -> State:
    return replace(state, context_hash=event.context_hash)


def _model_replied(state: State, event: ev.ModelReplied) -> State:
    return replace(
        state,
        path=extend(state.path, event.message),
        last_stop_reason=event.stop_reason,
        model_call_due=False,
        model_error="",
        calls=tuple(CallState(call, "proposed") for call in event.message.calls),
        due=(*state.due, Trigger("llm.finished", event.message.id)),
    )


def _model_failed(state: State, event: ev.ModelFailed) -> State:
    return replace(state, model_call_due=False, model_error=f"{event.code}: {event.text}")


def _results_delivered(state: State, event: ev.ResultsDelivered) -> State:
    results = tuple(call.result for call in state.calls if call.result is not None)
    message = Message(event.message_id, "user", results)
    return replace(state, path=extend(state.path, message), calls=())


def _todo_changed(state: State, event: ev.TodoChanged) -> State:
    return replace(state, todo=event.items)


def _note_added(state: State, event: ev.NoteAdded) -> State:
    return replace(state, notes=(*state.notes, event.text))


# --- Asking, acting ------------------------------------------------------------------------


def _approval_requested(state: State, event: ev.ApprovalRequested) -> State:
    return replace(state, pending_approvals=(*state.pending_approvals, event))


def _approval_decided(state: State, event: ev.ApprovalDecided) -> State:
    left = tuple(open_ for open_ in state.pending_approvals if open_.call_id != event.call_id)
    return replace(state, pending_approvals=left, approvals=(*state.approvals, event))


def _effect_intended(state: State, event: ev.EffectIntended) -> State:
    state = replace(state, open_intents=(*state.open_intents, event))
    return _set_call(state, event.call_id, status="running")


def _effect_settled(state: State, event: ev.EffectSettled) -> State:
    return _settle(state, event.call_id, event.content, event.is_error)


def _effect_unknown(state: State, event: ev.EffectUnknown) -> State:
    if event.again:
        left = tuple(intent for intent in state.open_intents if intent.call_id != event.call_id)
        return _set_call(replace(state, open_intents=left), event.call_id, "queued")
    text = f"{event.tool}: {event.found}"
    return replace(state, unknown_effects=(*state.unknown_effects, text))


def _call_rejected(state: State, event: ev.CallRejected) -> State:
    return _settle(state, event.call_id, event.content, is_error=True)


def _settle(state: State, call_id: str, content: str, is_error: bool) -> State:
    left = tuple(intent for intent in state.open_intents if intent.call_id != call_id)
    state = replace(state, open_intents=left)
    if not any(call.call.id == call_id for call in state.calls):
        return state
    state = _set_call(state, call_id, "settled", ToolResult(call_id, content, is_error))
    return replace(state, due=(*state.due, Trigger("tool.finished", call_id)))


def _set_call(state: State, call_id: str, status: Any, result: ToolResult | None = None) -> State:
    calls = tuple(
        replace(call, status=status, result=result) if call.call.id == call_id else call
        for call in state.calls
    )
    return replace(state, calls=calls)


# --- Ends ----------------------------------------------------------------------------------


def _done_refused(state: State, event: ev.DoneRefused) -> State:
    return replace(
        state,
        path=extend(state.path, event.message),
        done_requested=None,
        done_refusals=state.done_refusals + 1,
        due=(*state.due, Trigger("client.action", event.message.id, "done.refused")),
    )


def _turn_ended(state: State, event: ev.TurnEnded) -> State:
    return replace(
        state,
        status=event.status,
        reason=event.reason,
        exit_code=event.exit_code,
        end_text=event.text,
        grade=event.grade,
        done_requested=None if event.status in ("done", "failed") else state.done_requested,
    )


def _unknown(state: State, event: ev.UnknownEvent) -> State:
    return replace(state, unreadable=(*state.unreadable, f"{event.type} v{event.version}"))


def _worker_state(state: State, event: ev.WorkerStateChanged) -> State:
    return replace(state, worker_state=event.raw)


def _config(state: State, event: ev.ConfigChanged) -> State:
    return replace(state, config=event.raw)


def _unchanged(state: State, _event: ev.HeadMoved) -> State:
    # The head is derived by the tree module, which folds anew along the new path.
    return state


_ARMS: dict[type, Callable[[State, Any], State]] = {
    ev.SessionStarted: _session_started,
    ev.SessionResumed: _session_resumed,
    ev.UserPrompted: _user_prompted,
    ev.HeadMoved: _unchanged,
    ev.DecisionCompleted: _decision_completed,
    ev.WorkerStateChanged: _worker_state,
    ev.ConfigChanged: _config,
    ev.ModelRequested: _model_requested,
    ev.ModelReplied: _model_replied,
    ev.ModelFailed: _model_failed,
    ev.ResultsDelivered: _results_delivered,
    ev.TodoChanged: _todo_changed,
    ev.NoteAdded: _note_added,
    ev.ApprovalRequested: _approval_requested,
    ev.ApprovalDecided: _approval_decided,
    ev.EffectIntended: _effect_intended,
    ev.EffectSettled: _effect_settled,
    ev.EffectUnknown: _effect_unknown,
    ev.CallRejected: _call_rejected,
    ev.DoneRefused: _done_refused,
    ev.TurnEnded: _turn_ended,
    ev.UnknownEvent: _unknown,
}
