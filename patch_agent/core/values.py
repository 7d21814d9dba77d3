"""The values that events are made of: closed sets and small records."""

from dataclasses import dataclass
from typing import Literal

from patch_agent.core.reasons import Reason

EffectClass = Literal["read", "probe", "command", "external"]
TestRunKind = Literal["baseline", "complete", "partial"]
Moment = Literal[
    "start",
    "resume",
    "before_call",
    "before_edit",
    "before_command",
    "before_tests",
    "after_tests",
    "done_check",
    "before_restore",
]
Cause = Literal["tool", "command", "tests"]
RejectionCause = Literal["invalid", "unknown_tool", "denied", "superseded"]
RestoreKind = Literal["undo", "redo"]
ChangeKind = Literal["added", "modified", "deleted"]
TriggerType = Literal[
    "session.start",
    "client.messages",
    "client.action",
    "tool.execute",
    "tool.finished",
    "llm.execute",
    "llm.finished",
    "sub_agent.finished",
    "interrupt.resumed",
    "turn.finished",
]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call, as the service counted them."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    @property
    def total(self) -> int:
        """All tokens that went in or came out."""
        return (
            self.input_tokens
            + self.output_tokens
            + self.cache_read_tokens
            + self.cache_write_tokens
        )


@dataclass(frozen=True, slots=True)
class Limits:
    """The budgets in force. `max_cost_usd` and `max_time_s` None: no such limit."""

    max_steps: int = 30
    max_cost_usd: float | None = 2.0
    max_time_s: float | None = None
    max_tokens: int = 1_000_000


@dataclass(frozen=True, slots=True)
class LineRange:
    """Lines `first` to `last` of a file, counted from 1, both included."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class FileChange:
    """One path that differs between two trees; ids are git blob ids, modes git's octal text.

    permissions: the bits of a file that is gone, as they were; None when they are not known.
    """

    path: str
    kind: ChangeKind
    before: str | None
    after: str | None
    before_mode: str = ""
    after_mode: str = ""
    protected: bool = False
    permissions: int | None = None


@dataclass(frozen=True, slots=True)
class ChangeKey:
    """Names one change that a run made: its step and its path."""

    step: int
    path: str


@dataclass(frozen=True, slots=True)
class Trigger:
    """Why a decision is due (protocol.md, "Triggers"); `subject`: a call, message or action."""

    type: TriggerType
    subject: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Action:
    """One action of a decision, by protocol.md's names; a call of the reply by its id alone."""

    type: Literal["llm.call", "tool.call", "interrupt", "done"]
    call_id: str = ""
    reason: Reason | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class TodoItem:
    """One item of the model's list."""

    id: str
    text: str
    status: Literal["open", "doing", "done", "dropped"] = "open"
