"""What the runtime would do by itself at a decision point: pure, so a redelivery is identical."""

from patch_agent.core.messages import Json
from patch_agent.core.state import State
from patch_agent.core.values import Action, Trigger

CALL_MODEL = Action("llm.call")


def propose(state: State, trigger: Trigger) -> tuple[Action, ...]:
    """The actions proposed for a trigger (protocol.md, "Triggers and what is proposed")."""
    match trigger.type:
        case "client.messages" | "client.action" | "interrupt.resumed" | "sub_agent.finished":
            return (CALL_MODEL,)
        case "llm.finished":
            return _after_reply(state)
        case "tool.finished":
            in_flight = any(call.status != "settled" for call in state.calls)
            return () if in_flight else (CALL_MODEL,)
        case "session.start" | "tool.execute" | "llm.execute":
            return ()
        case "turn.finished":
            return (Action("done"),)


def _after_reply(state: State) -> tuple[Action, ...]:
    if state.calls:
        return tuple(Action("tool.call", call.call.id) for call in state.calls)
    text = state.path.message.text if state.path is not None else ""
    match state.last_stop_reason:
        case "refusal":
            return (Action("done", reason="declined", text=text),)
        case "gave_up":
            return (Action("done", reason="gave_up", text=text),)
        case "model_context_window_exceeded":
            return (Action("done", reason="context_full", text=text),)
        case "pause_turn":
            return (CALL_MODEL,)
        case _:
            return (Action("done", text=text),)


def to_protocol(state: State, actions: tuple[Action, ...]) -> dict[str, Json]:
    """The proposal in the shape of protocol.md's DecisionResponse."""
    calls = {call.call.id: call.call for call in state.calls}
    shaped: list[dict[str, Json]] = []
    for action in actions:
        item: dict[str, Json] = {"type": action.type}
        if action.type == "tool.call":
            call = calls[action.call_id]
            item |= {"call_id": call.id, "name": call.name, "arguments": call.arguments}
        if action.text:
            item["output"] = action.text
        shaped.append(item)
    return {"actions": shaped} if shaped else {}
