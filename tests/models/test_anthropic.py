"""The adapter of the Messages API against a real server on loopback: whole replies or errors."""

import socket
from dataclasses import replace

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
    event,
    garbage,
    html_page,
    http_error,
    redirect,
    reply,
    sliced,
    slow,
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


def test_a_whole_reply_is_kept_however_its_connection_ends() -> None:
    whole = text("Done.")
    assert complete(broken(whole, len(whole.pieces))).content == (Text("Done."),)


def test_a_reply_of_pings_alone_is_given_up() -> None:
    now = iter(range(0, 10_000, 50))
    pings = Answer((event("ping"),) * 9, headers={"content-type": "text/event-stream"})
    with MessagesServer([slow(pings, between_s=0.005)]) as server:
        model = AnthropicModel(MODEL, Endpoint(server.url, KEY), clock=lambda: float(next(now)))
        with pytest.raises(ModelError, match="did not go on for 180 s") as caught:
            model.complete(ask(), lambda _text: None)
    assert (caught.value.code, caught.value.retryable) == ("deadline_exceeded", True)


def test_a_service_that_calls_its_model_by_another_name_gets_its_thinking_back() -> None:
    first = reply(thinking_block("Hm.", "s="), text_block("Yes."), model="model-file.gguf")
    with MessagesServer([first, text("ok")]) as server:
        model = AnthropicModel(MODEL, Endpoint(server.url, KEY))
        made = model.complete(ask(), lambda _text: None)
        said = Message("m2", "assistant", made.content)
        model.complete(ask(user_message("m1", "Hi"), said, user_message("m3", "?")), print)
        back = server.requests[1].json["messages"][1]["content"]
    assert [block["type"] for block in back] == ["thinking", "text"]
    assert made.model == "model-file.gguf"
    assert made.cost_usd == cost_usd(MODEL, made.usage)


def test_an_error_of_who_shows_the_text_is_not_taken_for_one_of_the_service() -> None:
    def show(_text: str) -> None:
        raise UnicodeEncodeError("ascii", "é", 0, 1, "no such letter")

    with MessagesServer([text("é")]) as server, pytest.raises(UnicodeEncodeError):
        AnthropicModel(MODEL, Endpoint(server.url, KEY)).complete(ask(), show)


def test_a_redirection_is_not_followed_and_the_key_goes_nowhere_else() -> None:
    with MessagesServer([text("ok")] * 2) as other:
        for moved in (redirect(f"{other.url}/v1/messages", 302), redirect(f"{other.url}/", 308)):
            assert "not followed" in str(failed(moved))
        with (
            MessagesServer(models=redirect(f"{other.url}/v1/models")) as server,
            pytest.raises(ModelError, match="not followed"),
        ):
            list_models(Endpoint(server.url, KEY))
        assert (other.requests, other.others) == ([], [])


def test_the_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY", "all_proxy", "ALL_PROXY", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with MessagesServer([text("ok")]) as server:
        monkeypatch.setenv("http_proxy", server.url)
        AnthropicModel(MODEL, Endpoint("http://model.invalid", KEY)).complete(ask(), print)
        assert server.requests[0].path == "http://model.invalid/v1/messages"


@pytest.mark.parametrize(
    ("endpoint", "shown"),
    [
        (Endpoint(api_key=KEY, auth_token="other-token"), KEY),
        (Endpoint(auth_token="other-token"), "other-token"),
        (Endpoint(api_key=f" {KEY}\n"), KEY),
        (Endpoint(), "none"),
    ],
)
def test_one_key_is_shown_and_the_environment_has_no_say(
    endpoint: Endpoint, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-environment")
    with MessagesServer([text("ok")]) as server:
        AnthropicModel(MODEL, replace(endpoint, base_url=server.url)).complete(ask(), print)
        headers = server.requests[0].headers
    keys = {headers.get("x-api-key"), headers.get("authorization", "").removeprefix("Bearer ")}
    assert keys - {None, ""} == {shown}


@pytest.mark.parametrize("url", ["http://[::1", "localhost:8080", "ftp://host"])
def test_an_address_that_is_none_is_one_line(url: str) -> None:
    with pytest.raises(ModelError) as caught:
        AnthropicModel(MODEL, Endpoint(url, KEY)).complete(ask(), lambda _text: None)
    assert (caught.value.code, caught.value.retryable) == ("invalid_request", False)
    assert "\n" not in str(caught.value)


def test_the_host_is_shown_without_what_opens_its_door() -> None:
    assert Endpoint("https://me:word@host:1/path").host == "host:1"
    assert KEY not in repr(Endpoint("https://host", KEY, KEY))


@pytest.mark.parametrize("answer", ["{}", '{"data": [1]}', "[", '{"data": null}'])
def test_a_list_of_models_that_is_none_is_one_line(answer: str) -> None:
    body = Answer((answer.encode(),), headers={"content-type": "application/json"})
    with (
        MessagesServer(models=body) as server,
        pytest.raises(ModelError, match="no list of models; name one with --model"),
    ):
        list_models(Endpoint(server.url))
