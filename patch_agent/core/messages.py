"""The conversation: messages made of content blocks, and the tree they form."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

Json = Any
"""A JSON value: None, bool, int, float, str, list or dict with string keys."""

Role = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text, said by a person, the model or the runtime (the message's role says who)."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call the model asked for. `id` is ours (`c1`, `c2`, ...), unique in the session.

    `arguments` is None when the model's text was not a JSON object; `malformed` then holds it.
    """

    id: str
    name: str
    arguments: dict[str, Json] | None
    malformed: str = ""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the model is told about one call; exactly one for each call of a reply."""

    call_id: str
    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Opaque:
    """A block that goes back to its provider unchanged (thinking, unknown kinds).

    `raw` is the block's JSON text; `model` is the id that made it: other models never get it.
    """

    raw: str
    model: str


Block = Text | ToolCall | ToolResult | Opaque


@dataclass(frozen=True, slots=True)
class Message:
    """One node of the conversation tree. `id` is `m1`, `m2`, ... in order of creation."""

    id: str
    role: Role
    content: tuple[Block, ...]

    @property
    def text(self) -> str:
        """The plain text of the message, blocks joined by blank lines."""
        return "\n\n".join(block.text for block in self.content if isinstance(block, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of the message, in the order of the reply."""
        return tuple(block for block in self.content if isinstance(block, ToolCall))


@dataclass(frozen=True, slots=True)
class Path:
    """A message with the path that leads to it: branches share what they have in common."""

    message: Message
    parent: "Path | None"
    depth: int

    def __iter__(self) -> Iterator[Message]:
        """The messages from the root to this one."""
        found: list[Message] = []
        here: Path | None = self
        while here is not None:
            found.append(here.message)
            here = here.parent
        return reversed(found)


def extend(path: Path | None, message: Message) -> Path:
    """The path with one more message at its end."""
    return Path(message, path, 1 if path is None else path.depth + 1)


def user_message(message_id: str, text: str) -> Message:
    """A message of a person or of the runtime, made of one text block."""
    return Message(message_id, "user", (Text(text),))
