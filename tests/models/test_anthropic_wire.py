"""Requests as bytes: what was sent once does not change, and is valid for the service."""

import itertools
import json
from dataclasses import replace
from typing import Any

from patch_agent.core.codec import decode, encode
from patch_agent.core.events import ModelReplied
from patch_agent.core.messages import Message, Opaque, Text, ToolCall, ToolResult, user_message
from patch_agent.core.protocols import ModelRequest, ToolSpec
from patch_agent.core.values import Usage
from patch_agent.models.anthropic_wire import WireEncoder

TOOLS = (ToolSpec("read_file", "Read.", {"type": "object"}),)
BREAKPOINT = b',"cache_control":{"type":"ephemeral"}'
THOUGHT = Opaque('{"type":"thinking","thinking":"Hm \\u2026","signature":"s="}', "m")


def conversation(steps: int) -> tuple[Message, ...]:
    messages = [user_message("m1", "Fix it.")]
    for step in range(steps):
        call = ToolCall(f"c{step}", "read_file", {"path": f"{step}.py", "first": 1})
        reply = Message(f"a{step}", "assistant", (THOUGHT, Text(f"Step {step}."), call))
        result = ToolResult(f"c{step}", f"text of {step}")
        messages += [reply, Message(f"r{step}", "user", (result,))]
    return tuple(messages)


def request(messages: tuple[Message, ...], note: str = "") -> ModelRequest:
    return ModelRequest("System.", TOOLS, messages, note)


def sent(*messages: Message, note: str = "", model: str = "m") -> list[dict[str, Any]]:
    body = json.loads(WireEncoder(model).encode(request(messages, note)))
    found: list[dict[str, Any]] = body["messages"]
    return found


def test_the_whole_body() -> None:
    body = json.loads(WireEncoder("m").encode(request(conversation(1), "step 1")))
    mark = {"cache_control": {"type": "ephemeral"}}
    assert body == {
        "model": "m",
        "max_tokens": 16_000,
        "stream": True,
        "system": [{"type": "text", "text": "System.", **mark}],
        "tools": [
            {"name": "read_file", "description": "Read.", "input_schema": {"type": "object"}}
        ],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Fix it.", **mark}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Hm …", "signature": "s="},
                    {"type": "text", "text": "Step 0."},
                    {
                        "type": "tool_use",
                        "id": "c0",
                        "name": "read_file",
                        "input": {"path": "0.py", "first": 1},
                    },
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "c0",
                        "content": "text of 0",
                        **mark,
                    },
                    {"type": "text", "text": "step 1"},
                ],
            },
        ],
    }


def test_each_request_begins_with_the_bytes_of_the_one_before() -> None:
    encoder, messages = WireEncoder("m"), conversation(20)
    bodies = [
        encoder.encode(request(messages[: 2 * step + 1])).replace(BREAKPOINT, b"")
        for step in range(21)
    ]
    for before, after in itertools.pairwise(bodies):
        assert after.startswith(before.removesuffix(b"]}"))


def test_a_message_is_encoded_once_and_forgotten_when_it_is_no_longer_sent() -> None:
    encoder, messages = WireEncoder("m"), conversation(50)
    for step in range(51):
        # The first message is made anew for every request.
        first = replace(messages[0])
        encoder.encode(request((first, *messages[1 : 2 * step + 1])))
    assert encoder.encoded == 51 + 100
    assert len(encoder._known) <= len(messages) + 8


def test_thinking_goes_back_byte_for_byte() -> None:
    assert THOUGHT.raw.encode() in WireEncoder("m").encode(request(conversation(1)))


def test_a_resumed_run_sends_the_same_bytes() -> None:
    arguments = {"path": "b", "content": "a", "more": {"z": 1, "a": [1.0, 1]}}
    reply = Message("m2", "assistant", (THOUGHT, ToolCall("c1", "write_file", arguments)))
    event = ModelReplied(reply, "m1", "m", "tool_use", Usage(), 0.1, 0.1)
    kept = decode(*encode(event))
    assert isinstance(kept, ModelReplied)
    before, after = (
        WireEncoder("m").encode(request((user_message("m1", "x"), message)))
        for message in (reply, kept.message)
    )
    assert before == after


def test_breakpoints_stand_at_the_system_text_and_the_two_newest_user_messages() -> None:
    body = WireEncoder("m").encode(request(conversation(5), "note"))
    assert body.count(BREAKPOINT) == 3
    marked = [
        place
        for place, message in enumerate(json.loads(body)["messages"])
        if any("cache_control" in block for block in message["content"])
    ]
    assert marked == [8, 10]


def test_a_message_of_thinking_alone_or_of_blanks_is_left_out() -> None:
    redacted = Opaque('{"type":"redacted_thinking","data":"A"}', "m")
    for content in ((THOUGHT,), (THOUGHT, redacted), (Text(" \n"), THOUGHT), (Text(""),), ()):
        found = sent(
            user_message("m1", "a"), Message("m2", "assistant", content), user_message("m3", "b")
        )
        assert [(m["role"], [b["text"] for b in m["content"]]) for m in found] == [
            ("user", ["a", "b"])
        ]


def test_blocks_of_another_model_are_left_out() -> None:
    found = sent(*conversation(1), model="other")
    assert [block["type"] for block in found[1]["content"]] == ["text", "tool_use"]


def test_a_malformed_call_goes_back_with_an_empty_input() -> None:
    call = ToolCall("c1", "read_file", None, '{"path": ')
    found = sent(user_message("m1", "a"), Message("m2", "assistant", (call,)))
    assert found[1]["content"][0]["input"] == {}


def test_names_of_files_in_no_encoding_are_shown_as_escapes() -> None:
    result = Message("m2", "user", (ToolResult("c1", "bad\udc80.py \\udc80 漢😀"),))
    body = WireEncoder("m").encode(request((result,)))
    (block,) = json.loads(body)["messages"][0]["content"]
    assert block["content"] == "bad\\udc80.py \\udc80 漢😀"
