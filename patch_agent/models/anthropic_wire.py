"""A request in the words of the Messages API, as bytes that do not change once they were sent.

Each message is encoded once; a step costs what is new. Cache breakpoints stand at the end of the
system text and of the two newest user messages; the changing note comes after the last of them.
"""

import json
import re
from collections.abc import Sequence

from patch_agent.core.messages import Block, Json, Message, Opaque, Text, ToolCall, ToolResult
from patch_agent.core.protocols import ModelRequest, ToolSpec

_BREAKPOINT = b',"cache_control":{"type":"ephemeral"}}'
EMPTY_RESULT = "(no output)"
_NO_NAME = re.compile(r"[^a-zA-Z0-9_-]")
"""What no tool's name may hold: the service refuses a history with an invented name like that."""
_SURROGATE = re.compile("[\ud800-\udfff]")


class WireEncoder:
    """Encodes the requests of one conversation with one model."""

    def __init__(self, model: str) -> None:
        self._model = model
        # Keyed by identity; the message is kept beside its bytes so that the id stays its own.
        self._known: dict[int, tuple[Message, tuple[bytes, ...]]] = {}
        self.encoded = 0

    def encode(self, request: ModelRequest) -> bytes:
        """The body of the request."""
        turns = self._turns(request.messages)
        self._forget_all_but(request.messages)
        users = [index for index, (role, _) in enumerate(turns) if role == "user"]
        for index in users[-2:]:
            role, blocks = turns[index]
            turns[index] = (role, [*blocks[:-1], blocks[-1][:-1] + _BREAKPOINT])
        if request.note and turns and turns[-1][0] == "user":
            turns[-1][1].append(_dump({"type": "text", "text": request.note}))
        system = _dump({"type": "text", "text": request.system})[:-1] + _BREAKPOINT
        head = {"model": self._model, "max_tokens": request.max_tokens, "stream": True}
        parts = [
            _dump(head)[:-1],
            b',"system":[' + system + b"]",
            b',"tools":' + _dump([_tool(spec) for spec in request.tools]) if request.tools else b"",
            b',"messages":[',
            b",".join(_turn(role, blocks) for role, blocks in turns),
            b"]}",
        ]
        return b"".join(parts)

    def _turns(self, messages: Sequence[Message]) -> list[tuple[str, list[bytes]]]:
        turns: list[tuple[str, list[bytes]]] = []
        for message in messages:
            blocks = self._blocks(message)
            if not blocks:
                continue
            if turns and turns[-1][0] == message.role:
                turns[-1][1].extend(blocks)
            else:
                turns.append((message.role, list(blocks)))
        return turns

    def _blocks(self, message: Message) -> tuple[bytes, ...]:
        known = self._known.get(id(message))
        if known is not None and known[0] is message:
            return known[1]
        self.encoded += 1
        shaped = [(block, self._block(block)) for block in message.content]
        sent = [(block, data) for block, data in shaped if data is not None]
        # Thinking alone is no message: the service refuses it.
        alone = all(isinstance(block, Opaque) and _is_thinking(block) for block, _ in sent)
        blocks = () if alone else tuple(data for _, data in sent)
        self._known[id(message)] = (message, blocks)
        return blocks

    def _forget_all_but(self, messages: Sequence[Message]) -> None:
        if len(self._known) > len(messages) + 8:
            kept = {id(message) for message in messages}
            self._known = {key: value for key, value in self._known.items() if key in kept}

    def _block(self, block: Block) -> bytes | None:
        match block:
            case Text(text=text):
                return _dump({"type": "text", "text": text}) if text.strip() else None
            case ToolCall():
                # What was malformed goes back as an empty input; its result says what was wrong.
                name = _NO_NAME.sub("_", block.name)[:64] or "_"
                shaped = {"type": "tool_use", "id": block.id, "name": name}
                # Sorted, as they come back from the log: a resumed run sends the same bytes.
                return _dump({**shaped, "input": block.arguments or {}}, sort=True)
            case ToolResult():
                result: dict[str, Json] = {
                    "type": "tool_result",
                    "tool_use_id": block.call_id,
                    "content": block.content if block.content.strip() else EMPTY_RESULT,
                }
                return _dump({**result, "is_error": True} if block.is_error else result)
            case Opaque(raw=raw, model=model):
                return raw.encode() if model == self._model else None


def _is_thinking(block: Opaque) -> bool:
    return json.loads(block.raw).get("type") in ("thinking", "redacted_thinking")


def _turn(role: str, blocks: Sequence[bytes]) -> bytes:
    return b'{"role":"' + role.encode() + b'","content":[' + b",".join(blocks) + b"]}"


def _tool(spec: ToolSpec) -> dict[str, Json]:
    return {"name": spec.name, "description": spec.description, "input_schema": dict(spec.schema)}


def _dump(value: Json, *, sort: bool = False) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=sort)
    try:
        return text.encode()
    except UnicodeEncodeError:
        # Lone surrogates (names of files in no encoding) are no JSON text, not even as an escape:
        # they are shown as what the escape looks like.
        return _SURROGATE.sub(lambda found: f"\\\\u{ord(found[0]):04x}", text).encode()
