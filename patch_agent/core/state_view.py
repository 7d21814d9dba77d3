"""A state as JSON, for looking at it: every field by its name, and what is derived from them."""

from dataclasses import fields, is_dataclass
from typing import Any

from patch_agent.core.messages import Json
from patch_agent.core.state import State

DERIVED = (
    "head",
    "messages",
    "max_steps",
    "max_cost_usd",
    "pending_approval",
    "net_changes",
    "left_behind",
)


def encode_state(state: State) -> dict[str, Json]:
    """The state as a JSON object; `path` is shown as the list `messages`."""
    shown = {f.name: _plain(getattr(state, f.name)) for f in fields(State) if f.name != "path"}
    return shown | {name: _plain(getattr(state, name)) for name in DERIVED}


def _plain(value: Any) -> Json:
    if is_dataclass(value) and not isinstance(value, type):
        body = {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
        return {"kind": type(value).__name__, **body} if "kind" not in body else body
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return value
