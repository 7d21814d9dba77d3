"""A person says something to a session: whatever was in flight is answered first."""

from patch_agent.agent.session import Session
from patch_agent.core.events import CallRejected, ResultsDelivered, UserPrompted
from patch_agent.core.messages import user_message

PASSED_OVER = "Not run: the user wrote something before this call was made. Read it first."


def say(session: Session, text: str) -> None:
    """Record the message; on disk when this returns. Every open call gets its one result first."""
    state = session.state
    for call in state.calls:
        if call.status != "settled":
            step = session.state.step + 1
            session.stage(
                CallRejected(call.call.id, call.call.name, step, PASSED_OVER, "superseded")
            )
    if state.calls:
        session.stage(ResultsDelivered(session.next_message_id(), session.state.head))
    head = session.state.head or None
    session.record(UserPrompted(user_message(session.next_message_id(), text), head))
