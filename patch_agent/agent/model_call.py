"""One call of the model: the request on disk before, the whole reply after."""

import time
from collections.abc import Callable
from dataclasses import replace

from patch_agent.agent.session import Session
from patch_agent.core.context import build_context, context_hash
from patch_agent.core.errors import ModelError
from patch_agent.core.events import ModelFailed, ModelReplied, ModelRequested
from patch_agent.core.messages import Message, ToolCall
from patch_agent.core.protocols import Model, ModelReply, ToolSpec
from patch_agent.core.reasons import Reason


def call_model(
    session: Session,
    model: Model,
    tools: tuple[ToolSpec, ...],
    monotonic: Callable[[], float] = time.monotonic,
) -> ModelError | None:
    """Call the model once and record the reply; returns the error of a call that failed."""
    request = build_context(session.state, tools)
    session.stage(ModelRequested(model.name, context_hash(request)))
    session.flush()
    started = monotonic()
    try:
        reply = model.complete(request, session.show_text)
    except ModelError as error:
        session.stage(ModelFailed(model.name, error.code, str(error), error.retry_after))
        return error
    parent = session.state.head
    message = _as_message(session, reply)
    session.stage(
        ModelReplied(
            message=message,
            parent_id=parent,
            model=reply.model or model.name,
            stop_reason=reply.stop_reason,
            usage=reply.usage,
            cost_usd=reply.cost_usd,
            duration_s=round(monotonic() - started, 3),
        )
    )
    return None


def _as_message(session: Session, reply: ModelReply) -> Message:
    # Ids of our own: a provider's may repeat, and the session has to name each call for ever.
    content = []
    calls = 0
    for block in reply.content:
        if isinstance(block, ToolCall):
            block = replace(block, id=session.next_call_id(calls))
            calls += 1
        content.append(block)
    return Message(session.next_message_id(), "assistant", tuple(content))


def reason_for(error: ModelError) -> Reason:
    """The reason of a run that ends because the model could not be called."""
    match error.code:
        case "auth":
            return "auth"
        case "rate_limited":
            return "rate_limited"
        case "context_full":
            return "context_full"
        case _:
            return "service_unavailable"
