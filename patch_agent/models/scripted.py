"""A model that says what a test wrote down for it."""

from collections.abc import Callable, Sequence

from patch_agent.core.errors import ModelError
from patch_agent.core.messages import Json, Text, ToolCall
from patch_agent.core.protocols import ModelReply, ModelRequest
from patch_agent.core.values import Usage

Scripted = ModelReply | ModelError | Callable[[ModelRequest], ModelReply]


def say(text: str, stop_reason: str = "end_turn") -> ModelReply:
    """A reply of text that ends the turn."""
    return ModelReply((Text(text),) if text else (), stop_reason, Usage(10, 5))


def call(name: str, **arguments: Json) -> ModelReply:
    """A reply with one tool call."""
    return calls((name, arguments))


def calls(*wanted: tuple[str, dict[str, Json]], text: str = "") -> ModelReply:
    """A reply with several tool calls, in this order."""
    blocks = tuple(
        ToolCall(f"s{number}", name, arguments) for number, (name, arguments) in enumerate(wanted)
    )
    return ModelReply((*((Text(text),) if text else ()), *blocks), "tool_use", Usage(10, 5))


class ScriptedModel:
    """Plays its replies one after the other; what is left out at the end is an error."""

    name = "scripted"

    def __init__(self, replies: Sequence[Scripted]) -> None:
        self._replies = list(replies)
        self.requests: list[ModelRequest] = []

    def prepare(self) -> None:
        """Nothing to load."""

    def complete(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """The next reply. Raises ModelError where one was written, or when none is left."""
        self.requests.append(request)
        if not self._replies:
            raise ModelError("the script has ended", code="invalid_request", retryable=False)
        reply = self._replies.pop(0)
        if isinstance(reply, ModelError):
            raise reply
        if not isinstance(reply, ModelReply):
            reply = reply(request)
        for block in reply.content:
            if isinstance(block, Text):
                on_text(block.text)
        return reply
