"""What every model has to keep: whole replies, text as it comes, usage, names."""

import contextlib
from collections.abc import Callable, Iterator

import pytest

from patch_agent.core.messages import Message, Text, ToolCall
from patch_agent.core.protocols import Model, ModelRequest, ToolSpec
from patch_agent.models.anthropic import AnthropicModel, Endpoint
from patch_agent.models.offline.model import OfflineModel
from patch_agent.models.retry import RetryingModel
from patch_agent.models.scripted import ScriptedModel, call, say
from tests.support import messages_server as service

TOOLS = (ToolSpec("run_tests", "Run the tests.", {"type": "object", "properties": {}}),)
TO_CALL = "[Patch] Test command: `p`. It was not run."
TO_SAY = "[Patch] Test command: `p`. Before any edit it passes (1 passed)."
Maker = Callable[[str], contextlib.AbstractContextManager[Model]]


@contextlib.contextmanager
def scripted(kind: str) -> Iterator[Model]:
    yield ScriptedModel([call("run_tests") if kind == "call" else say("Nothing to do.")])


@contextlib.contextmanager
def offline(_kind: str) -> Iterator[Model]:
    yield OfflineModel()


@contextlib.contextmanager
def anthropic(kind: str) -> Iterator[Model]:
    reply = service.calls(("run_tests", {})) if kind == "call" else service.text("Nothing to do.")
    with service.MessagesServer([reply]) as server:
        endpoint = Endpoint(server.url, "key")
        yield RetryingModel(AnthropicModel("claude-sonnet-5-5", endpoint))


@pytest.fixture(params=[scripted, offline, anthropic], ids=["scripted", "offline", "anthropic"])
def maker(request: pytest.FixtureRequest) -> Maker:
    made: Maker = request.param
    return made


def request_of(text: str) -> ModelRequest:
    message = Message("m1", "user", (Text("Fix it."), Text(text)))
    return ModelRequest("You fix code.", TOOLS, (message,), "step 1 of 30")


def test_a_call_comes_whole_with_arguments_that_are_an_object(maker: Maker) -> None:
    with maker("call") as model:
        reply = model.complete(request_of(TO_CALL), lambda _text: None)
    (block,) = [block for block in reply.content if isinstance(block, ToolCall)]
    assert (block.name, block.arguments, reply.stop_reason) == ("run_tests", {}, "tool_use")
    assert block.id


def test_the_pieces_of_text_are_the_text(maker: Maker) -> None:
    pieces: list[str] = []
    with maker("say") as model:
        reply = model.complete(request_of(TO_SAY), pieces.append)
    text = "".join(block.text for block in reply.content if isinstance(block, Text))
    assert text
    assert "".join(pieces) == text
    assert reply.stop_reason in ("end_turn", "gave_up")


def test_usage_and_cost_are_never_negative_and_the_name_is_known_before(maker: Maker) -> None:
    with maker("say") as model:
        assert model.name
        model.prepare()
        model.prepare()
        reply = model.complete(request_of(TO_SAY), lambda _text: None)
    assert reply.usage.total >= 0
    assert reply.cost_usd is None or reply.cost_usd >= 0


def test_the_same_conversation_gives_the_offline_model_the_same_reply() -> None:
    model = OfflineModel()
    replies = [model.complete(request_of(TO_CALL), lambda _text: None) for _ in range(2)]
    assert replies[0] == replies[1]
