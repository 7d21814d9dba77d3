"""Bytes to a whole reply or an error, wherever they are cut and whatever they hold."""

import json

import pytest

from patch_agent.core.errors import ModelError
from patch_agent.core.messages import Opaque, Text, ToolCall
from patch_agent.core.protocols import ModelReply
from patch_agent.core.values import Usage
from patch_agent.models import anthropic_stream
from patch_agent.models.anthropic_stream import ReplyBuilder, read_events
from tests.support.messages_server import (
    Answer,
    event,
    reply,
    text_block,
    thinking_block,
    tool_block,
)

START = event("message_start", message={"model": "served-1", "usage": {"input_tokens": 3}})
END = (
    event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 5})
    + event("message_stop")
)  # fmt: skip


def built(*pieces: bytes) -> ModelReply:
    builder = ReplyBuilder("asked")
    for found in read_events(pieces):
        builder.take(found)
    return builder.finish()


def bytes_of(answer: Answer) -> bytes:
    return b"".join(answer.pieces)


def block(start: object, *deltas: object, stop: bool = True, index: int = 0) -> bytes:
    whole = event("content_block_start", index=index, content_block=start)
    for delta in deltas:
        whole += event("content_block_delta", index=index, delta=delta)
    return whole + (event("content_block_stop", index=index) if stop else b"")


def test_a_stream_that_ends_at_any_byte_before_its_end_is_no_reply() -> None:
    whole = bytes_of(
        reply(
            thinking_block("Hm … 漢字", "sig"),
            text_block("Now."),
            tool_block("run_command", {"command": "rm -rf build/tmp"}, pieces=4),
            stop_reason="tool_use",
        )
    )
    assert built(whole).stop_reason == "tool_use"
    for size in range(len(whole) - 1):
        with pytest.raises(ModelError) as caught:
            built(whole[:size])
        assert caught.value.retryable


@pytest.mark.parametrize("pieces", [1, 2, 7, 500])
def test_arguments_are_the_same_in_however_many_pieces_they_come(pieces: int) -> None:
    arguments = {"path": 'a\n"\\é漢😀.py', "content": "\u2028 \t x" * 90}
    (called,) = built(bytes_of(reply(tool_block("write_file", arguments, pieces)))).content
    assert isinstance(called, ToolCall)
    assert called.arguments == arguments


def test_windows_line_ends_comments_and_unknown_events_are_passed_over() -> None:
    strange = b": comment\n\n" + event("something_new", index=77) + b"id: 4\nretry: 5\n\n"
    whole = START + strange + block({"type": "text", "text": ""}) + END
    assert built(whole.replace(b"\n", b"\r\n")).content == (Text(""),)
    assert built(whole) == built(whole.replace(b"\n", b"\r\n"))


def test_usage_is_the_newest_word_and_never_negative_or_null() -> None:
    first = {"input_tokens": 9, "output_tokens": 1, "cache_read_input_tokens": None}
    last = {"output_tokens": 7, "input_tokens": -4, "cache_creation": {"a": 1}}
    whole = (
        event("message_start", message={"usage": first})
        + event("message_delta", delta={"stop_reason": "end_turn"}, usage=last)
        + event("message_stop")
    )
    assert built(whole) == ModelReply((), "end_turn", Usage(0, 7, 0, 0), None, "asked")


def test_text_that_comes_with_the_start_of_its_block_counts_and_is_shown() -> None:
    builder, shown = ReplyBuilder("asked"), []
    start = block({"type": "text", "text": "One "}, {"type": "text_delta", "text": "two."})
    for found in read_events([START + start + END]):
        shown.append(builder.take(found))
    assert builder.finish().content == (Text("One two."),)
    assert "".join(shown) == "One two."


def test_blocks_of_other_kinds_are_kept_whole_under_the_model_that_was_asked_for() -> None:
    redacted = {"type": "redacted_thinking", "data": "AAA/+="}
    server = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    query = {"type": "input_json_delta", "partial_json": '{"q": 1}'}
    empty = {"type": "input_json_delta", "partial_json": ""}
    whole = (
        START
        + block(redacted)
        + block(server, empty, query, index=1)
        + block(server, empty, index=2)
        + END
    )
    found = built(whole)
    assert found.model == "served-1"
    assert [(json.loads(b.raw), b.model) for b in found.content if isinstance(b, Opaque)] == [
        (redacted, "asked"),
        ({**server, "input": {"q": 1}}, "asked"),
        (server, "asked"),
    ]


def test_thoughts_that_were_cut_before_their_signature_are_left_out() -> None:
    thought = {"type": "thinking", "thinking": "", "signature": ""}
    whole = START + block(thought, {"type": "thinking_delta", "thinking": "So"})
    cut = event("message_delta", delta={"stop_reason": "max_tokens"}) + event("message_stop")
    assert built(whole + cut).content == ()
    assert len(built(whole + END).content) == 1


def test_a_call_whose_block_never_ended_is_not_made() -> None:
    piece = {"type": "input_json_delta", "partial_json": '{"path": "a"}'}
    start = {"type": "tool_use", "id": "t1", "name": "read_file", "input": {}}
    (called,) = built(START + block(start, piece, stop=False) + END).content
    assert isinstance(called, ToolCall)
    assert called.arguments is None


@pytest.mark.parametrize(
    "arguments", ["[" * 100_000, '{"a": 1' + "0" * 5000 + "}", '"{}"', '{"a": -Infinity}', "{}x"]
)
def test_arguments_beyond_reason_are_malformed_and_no_fault(arguments: str) -> None:
    (called,) = built(bytes_of(reply(tool_block("read_file", arguments)))).content
    assert isinstance(called, ToolCall)
    assert (called.arguments, called.malformed) == (None, arguments[:2000])


def test_a_call_without_any_argument_text_has_the_input_of_its_start() -> None:
    start = {"type": "tool_use", "id": "t1", "name": "run_tests", "input": {"a": 1}}
    assert built(START + block(start) + END).content == (ToolCall("t1", "run_tests", {"a": 1}),)


@pytest.mark.parametrize(
    "odd",
    [
        event("content_block_delta", index=4, delta={"type": "text_delta", "text": "x"}),
        event("content_block_delta", index=0, delta={"type": "text_delta", "text": "late"}),
        event("content_block_delta", index=0),
        event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
        event("content_block_start", index="x", content_block={}),
        event("content_block_start", index=5, content_block=7),
        block({"type": "text", "text": ""}, {"type": "text_delta", "text": None}, index=1),
        block({"type": "text", "text": ""}, {"type": "text_delta"}, index=1),
        block({"type": "text", "text": ""}, "x", index=1),
        event("message_start", message=[]),
        event("message_delta", delta=None),
        event("message_delta", delta={}, usage=[1]),
        event("error", error="down"),
        b"data: [1]\n\n",
        b"data: {\n\n",
        b"data: \xff\xfe\n\n",
        b'data: {"type": "ping", "n": NaN}\n\n',
        b"data: " + b"[" * 100_000 + b"\n\n",
    ],
)
def test_an_event_that_does_not_fit_is_an_error_in_one_line(odd: bytes) -> None:
    with pytest.raises(ModelError) as caught:
        built(START, block({"type": "text", "text": ""}), odd, END)
    assert (caught.value.code, caught.value.retryable) == ("provider_error", True)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("kind", "code", "retryable"),
    [
        ("overloaded_error", "service_unavailable", True),
        ("api_error", "service_unavailable", True),
        ("timeout_error", "service_unavailable", True),
        ("rate_limit_error", "rate_limited", True),
        ("invalid_request_error", "provider_error", False),
        ("something", "provider_error", False),
    ],
)
def test_an_error_event_breaks_the_reply_off(kind: str, code: str, retryable: bool) -> None:
    with pytest.raises(ModelError, match=f"broke the reply off \\({kind}\\): Two lines") as caught:
        built(START, event("error", error={"type": kind, "message": "Two\nlines"}), END)
    assert (caught.value.code, caught.value.retryable) == (code, retryable)


def test_an_endless_reply_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anthropic_stream, "MAX_BYTES", 1000)
    with pytest.raises(ModelError, match="larger than any reply"):
        built(*[b"x" * 100] * 11)
    assert built(START, END).stop_reason == "end_turn"
