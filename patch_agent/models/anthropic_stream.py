"""A stream of server-sent events becomes one whole reply, or an error: never half of a reply."""

import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from patch_agent.core.errors import ModelError
from patch_agent.core.messages import Block, Json, Opaque, Text, ToolCall
from patch_agent.core.protocols import ModelReply
from patch_agent.core.values import Usage

MAX_BYTES = 64 * 1024 * 1024

_CHANGES = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
    "input_json_delta": ("partial_json", "partial_json"),
}
"""Kind of delta -> its field, and the part of the block that it adds to."""


@dataclass(slots=True)
class _Open:
    start: dict[str, Json]
    parts: dict[str, list[str]] = field(default_factory=dict)
    closed: bool = False

    def text_of(self, part: str) -> str:
        return "".join([str(self.start.get(part) or ""), *self.parts.get(part, ())])


class ReplyBuilder:
    """Takes events one by one; `finish` gives the reply once the message's end was seen.

    model: the id that was asked for; blocks that only their maker understands are kept under it.
    """

    def __init__(self, model: str) -> None:
        self._model = model
        self._served = model
        self._blocks: dict[int, _Open] = {}
        self._usage: dict[str, int] = {}
        self._stop_reason = ""
        self.ended = False

    def take(self, event: dict[str, Json]) -> str:
        """One event; returns the piece of text in it, if any. Unknown kinds are passed over.

        Raises ModelError for an error event and for one that does not fit.
        """
        try:
            return self._take(event)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise _not_understood(error) from None

    def _take(self, event: dict[str, Json]) -> str:
        match event.get("type"):
            case "message_start":
                message = event.get("message", {})
                self._served = str(message.get("model") or self._model)
                self._count(message.get("usage"))
            case "content_block_start":
                return self._start(int(event["index"]), event["content_block"])
            case "content_block_delta":
                return self._add(self._open(event), event["delta"])
            case "content_block_stop":
                self._open(event).closed = True
            case "message_delta":
                self._stop_reason = str(event["delta"].get("stop_reason") or self._stop_reason)
                self._count(event.get("usage"))
            case "message_stop":
                self.ended = True
            case "error":
                raise _stream_error(event.get("error") or {})
            case _:
                pass
        return ""

    def _count(self, usage: Json) -> None:
        for name, value in (usage or {}).items():
            if isinstance(value, int):
                self._usage[name] = max(value, 0)

    def _start(self, index: int, start: dict[str, Json]) -> str:
        if index in self._blocks:
            raise ValueError(f"block {index} begins twice")
        self._blocks[index] = _Open(dict(start))
        return str(start.get("text") or "") if start.get("type") == "text" else ""

    def _open(self, event: dict[str, Json]) -> _Open:
        block = self._blocks[int(event["index"])]
        if block.closed:
            raise ValueError(f"block {event['index']} goes on after its end")
        return block

    def _add(self, block: _Open, delta: dict[str, Json]) -> str:
        change = _CHANGES.get(delta.get("type", ""))
        if change is None:
            return ""
        name, part = change
        piece = delta[name]
        if not isinstance(piece, str):
            raise TypeError(f"{name} is no text")
        block.parts.setdefault(part, []).append(piece)
        return piece if part == "text" else ""

    def finish(self) -> ModelReply:
        """The whole reply. Raises ModelError (retryable) when its end was never seen."""
        if not self.ended:
            raise ModelError(
                "the reply broke off before its end", code="service_unavailable", retryable=True
            )
        order = sorted(self._blocks)
        cut = self._stop_reason == "max_tokens"
        try:
            blocks = [self._block(self._blocks[i], cut and i == order[-1]) for i in order]
        except (TypeError, ValueError) as error:
            raise _not_understood(error) from None
        return ModelReply(
            content=tuple(block for block in blocks if block is not None),
            stop_reason=self._stop_reason,
            usage=Usage(
                self._usage.get("input_tokens", 0),
                self._usage.get("output_tokens", 0),
                self._usage.get("cache_read_input_tokens", 0),
                self._usage.get("cache_creation_input_tokens", 0),
            ),
            cost_usd=None,
            model=self._served,
        )

    def _block(self, block: _Open, cut: bool) -> Block | None:
        kind = block.start.get("type")
        if kind == "text" and not block.start.get("citations"):
            return Text(block.text_of("text"))
        if kind == "tool_use":
            return _call(block, cut)
        if kind == "thinking" and cut and not block.text_of("signature"):
            # Thoughts that were cut before they were signed would be refused for ever after.
            return None
        whole = dict(block.start)
        for part in block.parts:
            if part != "partial_json":
                whole[part] = block.text_of(part)
            elif text := block.text_of(part):
                whole["input"] = strict_json(text)
        return Opaque(json.dumps(whole, ensure_ascii=True, separators=(",", ":")), self._model)


def _call(block: _Open, cut: bool) -> ToolCall:
    call_id, name = str(block.start.get("id", "")), str(block.start.get("name", ""))
    text = block.text_of("partial_json")
    if cut or not block.closed:
        note = "the reply was cut at the output limit; write less at once. It begins: "
        return ToolCall(call_id, name, None, note + text[:200])
    if not text:
        given = block.start.get("input")
        return ToolCall(call_id, name, given if isinstance(given, dict) else {})
    try:
        value = strict_json(text, _no_twins)
    except ValueError:
        return ToolCall(call_id, name, None, text[:2000])
    if not isinstance(value, dict):
        return ToolCall(call_id, name, None, text[:2000])
    return ToolCall(call_id, name, value)


def strict_json(
    text: str | bytes, pairs: Callable[[list[tuple[str, Json]]], Json] | None = None
) -> Json:
    """The value of a JSON text. Raises ValueError for what JSON has no words for: NaN, infinity."""
    try:
        return json.loads(
            text, parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=pairs
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is no JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]} is too large")
    return value


def _no_twins(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    # Which of two values was meant cannot be known, and acting on the wrong one is not undone.
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name is given twice")
    return found


def _not_understood(error: Exception) -> ModelError:
    text = f"an event of the reply cannot be understood: {error!r}"[:300]
    return ModelError(text, code="provider_error", retryable=True)


def _stream_error(error: dict[str, Json]) -> ModelError:
    kind, words = (" ".join(str(error.get(name, "")).split()) for name in ("type", "message"))
    text = f"the service broke the reply off ({kind}): {words[:300]}"
    if kind == "rate_limit_error":
        return ModelError(text, code="rate_limited", retryable=True)
    if kind in ("overloaded_error", "api_error", "timeout_error"):
        return ModelError(text, code="service_unavailable", retryable=True)
    return ModelError(text, code="provider_error", retryable=False)


def read_events(pieces: Iterable[bytes]) -> Iterator[dict[str, Json]]:
    """The JSON events of a byte stream, however it is cut. Raises ModelError for anything else."""
    rest: list[bytes] = []
    total = 0
    data: list[bytes] = []
    for piece in pieces:
        total += len(piece)
        if total > MAX_BYTES:
            raise _no_event("it is larger than any reply may be")
        rest.append(piece)
        if b"\n" not in piece:
            continue
        *lines, last = b"".join(rest).split(b"\n")
        rest = [last]
        for line in lines:
            line = line.rstrip(b"\r")
            if line.startswith(b"data:"):
                data.append(line[5:].strip())
            elif not line and data:
                yield _event(b"\n".join(data))
                data = []


def _event(data: bytes) -> dict[str, Json]:
    try:
        event = strict_json(data)
    except ValueError:
        raise _no_event("an event is no JSON") from None
    if not isinstance(event, dict):
        raise _no_event("an event is no object")
    return event


def _no_event(why: str) -> ModelError:
    return ModelError(
        f"the answer of the service cannot be read: {why}", code="provider_error", retryable=True
    )
