"""A stream of server-sent events becomes one whole reply, or an error: never half of a reply."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from patch_agent.core.errors import ModelError
from patch_agent.core.messages import Block, Json, Opaque, Text, ToolCall
from patch_agent.core.protocols import ModelReply
from patch_agent.core.values import Usage

MAX_BYTES = 64 * 1024 * 1024


@dataclass(slots=True)
class _Open:
    start: dict[str, Json]
    pieces: list[str] = field(default_factory=list)
    extra: dict[str, str] = field(default_factory=dict)
    closed: bool = False


class ReplyBuilder:
    """Takes events one by one; `finish` gives the reply once the message's end was seen."""

    def __init__(self, model: str, on_text: Callable[[str], None]) -> None:
        self._model = model
        self._on_text = on_text
        self._blocks: dict[int, _Open] = {}
        self._usage: dict[str, int] = {}
        self._stop_reason = ""
        self._ended = False

    def take(self, event: dict[str, Json]) -> None:
        """One event. Raises ModelError for an error event; unknown kinds are passed over."""
        match event.get("type"):
            case "message_start":
                message = event.get("message", {})
                self._model = message.get("model") or self._model
                self._count(message.get("usage"))
            case "content_block_start":
                self._blocks[int(event["index"])] = _Open(event["content_block"])
            case "content_block_delta":
                self._add(self._blocks[int(event["index"])], event["delta"])
            case "content_block_stop":
                self._blocks[int(event["index"])].closed = True
            case "message_delta":
                self._stop_reason = event["delta"].get("stop_reason") or self._stop_reason
                self._count(event.get("usage"))
            case "message_stop":
                self._ended = True
            case "error":
                raise _stream_error(event.get("error", {}))
            case _:
                pass

    def _count(self, usage: Json) -> None:
        for name, value in (usage or {}).items():
            if isinstance(value, int):
                self._usage[name] = value

    def _add(self, block: _Open, delta: dict[str, Json]) -> None:
        match delta.get("type"):
            case "text_delta":
                block.pieces.append(delta["text"])
                self._on_text(delta["text"])
            case "input_json_delta":
                block.pieces.append(delta["partial_json"])
            case "thinking_delta":
                block.extra["thinking"] = block.extra.get("thinking", "") + delta["thinking"]
            case "signature_delta":
                block.extra["signature"] = block.extra.get("signature", "") + delta["signature"]
            case _:
                pass

    def finish(self) -> ModelReply:
        """The whole reply. Raises ModelError (retryable) when its end was never seen."""
        if not self._ended:
            raise ModelError(
                "the reply broke off before its end", code="service_unavailable", retryable=True
            )
        order = sorted(self._blocks)
        cut = self._stop_reason == "max_tokens"
        blocks = [self._block(self._blocks[i], cut and i == order[-1]) for i in order]
        return ModelReply(
            content=tuple(blocks),
            stop_reason=self._stop_reason,
            usage=Usage(
                self._usage.get("input_tokens", 0),
                self._usage.get("output_tokens", 0),
                self._usage.get("cache_read_input_tokens", 0),
                self._usage.get("cache_creation_input_tokens", 0),
            ),
            cost_usd=None,
            model=self._model,
        )

    def _block(self, block: _Open, cut: bool) -> Block:
        kind = block.start.get("type")
        if kind == "text" and not block.start.get("citations"):
            return Text(str(block.start.get("text", "")) + "".join(block.pieces))
        if kind == "tool_use":
            return _call(block, cut)
        whole = {**block.start, **block.extra}
        return Opaque(json.dumps(whole, ensure_ascii=True), self._model)


def _call(block: _Open, cut: bool) -> ToolCall:
    call_id, name = str(block.start.get("id", "")), str(block.start.get("name", ""))
    text = "".join(block.pieces)
    if cut or not block.closed:
        note = "the reply was cut at the output limit; write less at once. It begins: "
        return ToolCall(call_id, name, None, note + text[:200])
    if not text:
        given = block.start.get("input")
        return ToolCall(call_id, name, given if isinstance(given, dict) else {})
    try:
        value = json.loads(text)
    except ValueError:
        return ToolCall(call_id, name, None, text[:2000])
    return ToolCall(call_id, name, value if isinstance(value, dict) else None, text[:2000])


def _stream_error(error: dict[str, Json]) -> ModelError:
    kind, words = str(error.get("type", "error")), str(error.get("message", ""))
    text = f"the service broke the reply off ({kind}): {words[:300]}"
    if kind == "rate_limit_error":
        return ModelError(text, code="rate_limited", retryable=True)
    if kind in ("overloaded_error", "api_error", "timeout_error"):
        return ModelError(text, code="service_unavailable", retryable=True)
    return ModelError(text, code="provider_error", retryable=False)


def read_events(pieces: Iterable[bytes]) -> Iterator[dict[str, Json]]:
    """The JSON events of a byte stream, however it is cut. Raises ModelError for anything else."""
    buffer = b""
    total = 0
    data: list[bytes] = []
    for piece in pieces:
        total += len(piece)
        if total > MAX_BYTES:
            raise _no_event("it is larger than any reply may be")
        buffer += piece
        *lines, buffer = buffer.split(b"\n")
        for line in lines:
            line = line.rstrip(b"\r")
            if line.startswith(b"data:"):
                data.append(line[5:].strip())
            elif not line and data:
                yield _event(b"\n".join(data))
                data = []


def _event(data: bytes) -> dict[str, Json]:
    try:
        event = json.loads(data)
    except (ValueError, UnicodeDecodeError):
        raise _no_event("an event is no JSON") from None
    if not isinstance(event, dict):
        raise _no_event("an event is no object")
    return event


def _no_event(why: str) -> ModelError:
    return ModelError(
        f"the answer of the service cannot be read: {why}", code="provider_error", retryable=True
    )
