"""The adapter of the Messages API against a real server on loopback: whole replies or errors."""

import socket

import pytest

from patch_agent.core.errors import ModelError
from patch_agent.core.messages import (
    Message,
    Opaque,
    Text,
    ToolCall,
    ToolResult,
    user_message,
)
from patch_agent.core.protocols import ModelReply, ModelRequest, ToolSpec
from patch_agent.core.values import Usage
from patch_agent.models.aliases import ALIASES
from patch_agent.models.anthropic import AnthropicModel, Endpoint, list_models
from patch_agent.models.pricing import cost_usd, has_price
from tests.support.messages_server import (
    Answer,
    MessagesServer,
    broken,
    calls,
    ended,
    error_event,
    garbage,
    html_page,
    http_error,
    redirect,
    reply,
    sliced,
    text,
    text_block,
    thinking_block,
    tool_block,
)

MODEL = "claude-sonnet-5-5"
KEY = "sk-ant-very-secret-key"
TOOL = ToolSpec(
    "read_file", "Read.", {"type": "object", "properties": {"path": {"type": "string"}}}
)


def ask(*messages: Message, note: str = "step 1") -> ModelRequest:
    return ModelRequest("System text.", (TOOL,), messages or (user_message("m1", "Hi"),), note)


def complete(answer: Answer, request: ModelRequest | None = None) -> ModelReply:
    with MessagesServer([answer]) as server:
        return AnthropicModel(MODEL, Endpoint(server.url, KEY)).complete(
            request or ask(), lambda _text: None
        )


def failed(answer: Answer) -> ModelError:
    with pytest.raises(ModelError) as caught:
        complete(answer)
    assert "\n" not in str(caught.value)
    assert KEY not in str(caught.value)
    return caught.value


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_a_reply_is_read_however_its_bytes_are_cut(size: int) -> None:
    answer = reply(
        thinking_block("Let me see … 漢字", "sig=="),
        text_block("I will read it."),
        tool_block("read_file", {"path": "größe.py", "n": [1, 2.5, None]}),
        stop_reason="tool_use",
        usage={"input_tokens": 12, "output_tokens": 34, "cache_read_input_tokens": 56,
               "cache_creation_input_tokens": 7},
    )  # fmt: skip
    found = complete(sliced(answer, size))
    thinking, said, called = found.content
    assert isinstance(thinking, Opaque)
    assert said == Text("I will read it.")
    assert isinstance(called, ToolCall)
    assert called.arguments == {"path": "größe.py", "n": [1, 2.5, None]}
    assert found.usage == Usage(12, 34, 56, 7)
    assert found.cost_usd == cost_usd(MODEL, found.usage)
    assert found.stop_reason == "tool_use"


def test_thinking_goes_back_unchanged_to_its_own_model_and_to_no_other() -> None:
    made = complete(reply(thinking_block("Hm.", "abc+/="), text_block("Yes.")))
    said = Message("m2", "assistant", made.content)
    conversation = (user_message("m1", "Hi"), said, user_message("m3", "More"))
    with MessagesServer([text("ok"), text("ok")]) as server:
        for name in (MODEL, "claude-opus-5-5"):
            AnthropicModel(name, Endpoint(server.url, KEY)).complete(
                ask(*conversation), lambda _text: None
            )
        own, other = (request.json["messages"][1]["content"] for request in server.requests)
    assert own[0] == {"type": "thinking", "thinking": "Hm.", "signature": "abc+/="}
    assert [block["type"] for block in other] == ["text"]


def test_the_request_has_a_stable_front_and_the_note_last() -> None:
    model = Message("m2", "assistant", (ToolCall("c1", "read_file", {"path": "a"}),))
    result = Message("m3", "user", (ToolResult("c1", "", is_error=True),))
    first, second = (user_message("m1", "Hi"),), (user_message("m1", "Hi"), model, result)
    with MessagesServer([text("ok"), text("ok")]) as server:
        adapter = AnthropicModel(MODEL, Endpoint(server.url, KEY))
        adapter.complete(ask(*first, note="step 1"), lambda _text: None)
        adapter.complete(ask(*second, note="step 2"), lambda _text: None)
        one, two = (request.json for request in server.requests)
        headers = server.requests[0].headers
    assert KEY in (headers.get("x-api-key", "") + headers.get("authorization", ""))
    assert headers["anthropic-version"] == "2023-06-01"
    assert (one["system"], one["tools"]) == (two["system"], two["tools"])
    assert one["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert two["messages"][0]["content"][0]["text"] == one["messages"][0]["content"][0]["text"]
    assert two["messages"][-1]["content"] == [
        {"type": "tool_result", "tool_use_id": "c1", "content": "(no output)", "is_error": True,
         "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "step 2"},
    ]  # fmt: skip


@pytest.mark.parametrize(
    "raw",
    ['{"path": ', "[1, 2]", "nonsense", '{"a": NaN}', '{"a": 1, "a": 2}', '{"a": 1e999}'],
)
def test_arguments_that_are_no_object_are_kept_as_text(raw: str) -> None:
    (called,) = complete(calls(("read_file", raw))).content
    assert isinstance(called, ToolCall)
    assert (called.arguments, called.malformed) == (None, raw)


def test_a_call_that_was_cut_at_the_limit_is_never_made() -> None:
    found = complete(calls(("read_file", {"path": "a"}), stop_reason="max_tokens"))
    (called,) = found.content
    assert isinstance(called, ToolCall)
    assert called.arguments is None
    assert "cut at the output limit" in called.malformed


@pytest.mark.parametrize(
    ("answer", "code", "retryable"),
    [
        (http_error(400, "bad"), "invalid_request", False),
        (http_error(400, "prompt is too long: 9 tokens"), "context_full", False),
        (http_error(401, f"invalid {KEY}"), "auth", False),
        (http_error(403), "auth", False),
        (http_error(404), "invalid_request", False),
        (http_error(413), "context_full", False),
        (http_error(429), "rate_limited", False),
        (http_error(429, retry_after="3"), "rate_limited", True),
        (http_error(500), "service_unavailable", True),
        (http_error(529, kind="overloaded_error"), "service_unavailable", True),
        (redirect("http://127.0.0.1:1/"), "provider_error", False),
        (html_page(), "provider_error", False),
        (html_page(502), "service_unavailable", True),
        (garbage(), "provider_error", True),
        (ended(text("Hello"), 4), "service_unavailable", True),
        (broken(text("Hello"), 4), "service_unavailable", True),
        (error_event(text("Hello"), 3), "service_unavailable", True),
        (error_event(text("Hello"), 3, "rate_limit_error"), "rate_limited", True),
    ],
)
def test_every_fault_of_the_service_is_one_line(answer: Answer, code: str, retryable: bool) -> None:
    error = failed(answer)
    assert (error.code, error.retryable) == (code, retryable)


def test_a_hint_when_to_come_back_is_kept() -> None:
    assert failed(http_error(429, retry_after="7")).retry_after == 7.0


def test_a_name_that_no_tool_can_have_does_not_spoil_the_history() -> None:
    said = Message("m2", "assistant", (ToolCall("c1", "do it all!", {}), ToolCall("c2", "", {})))
    with MessagesServer([text("ok")]) as server:
        AnthropicModel(MODEL, Endpoint(server.url, KEY)).complete(
            ask(user_message("m1", "Hi"), said, user_message("m3", "?")), lambda _text: None
        )
        sent = server.requests[0].json["messages"][1]["content"]
    assert [block["name"] for block in sent] == ["do_it_all_", "_"]


def test_nobody_there_is_one_line() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(ModelError, match="Connection refused") as caught:
            AnthropicModel(MODEL, Endpoint(url, KEY)).complete(ask(), lambda _text: None)
    assert (caught.value.code, caught.value.retryable) == ("service_unavailable", True)


def test_a_key_that_is_none_is_refused_before_anything_is_sent() -> None:
    with MessagesServer([text("ok")]) as server, pytest.raises(ModelError, match="line break"):
        AnthropicModel(MODEL, Endpoint(server.url, "sk\nX-Evil: 1")).complete(ask(), print)
    assert server.requests == []


def test_the_models_of_a_server_are_listed() -> None:
    with MessagesServer(models=("a", "b")) as server:
        assert list_models(Endpoint(server.url)) == ("a", "b")
    with (
        MessagesServer(models=html_page()) as server,
        pytest.raises(ModelError, match="right base URL"),
    ):
        list_models(Endpoint(server.url))


@pytest.mark.parametrize("alias", ALIASES)
def test_every_alias_has_a_price(alias: str) -> None:
    assert has_price(ALIASES[alias])


def test_prices_are_those_of_the_table_and_unknown_ones_are_none() -> None:
    million = Usage(input_tokens=1_000_000)
    assert cost_usd("no-such-model", million) is None
    price = cost_usd(MODEL, million)
    assert price is not None
    assert price > 0
    cached = cost_usd(MODEL, Usage(cache_read_tokens=1_000_000))
    assert cached is not None
    assert cached < price / 5
