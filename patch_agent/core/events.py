"""What happened, in the past tense: the events of a session's log.

Three groups, by who may speak in them. Only the events of `EvidenceEvent` can set evidence; they
are made by tools and the runtime. Those that carry words of a model, a worker or a person never do.
A new event: a class here, its name in the union, an arm in the reducer, a version in the codec.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from patch_agent.core.messages import Json, Message
from patch_agent.core.reasons import Reason, Status
from patch_agent.core.testing import TestReport

EffectClass = Literal["read", "probe", "command", "external"]
TestRunKind = Literal["baseline", "complete", "partial"]
Moment = Literal["start", "resume", "before_command", "before_tests", "after_tests", "done_check"]
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
            self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens
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
    """One path that differs between two trees; ids are git blob ids, modes git's octal text."""

    path: str
    kind: ChangeKind
    before: str | None
    after: str | None
    before_mode: str = ""
    after_mode: str = ""
    protected: bool = False


@dataclass(frozen=True, slots=True)
class Trigger:
    """Why a decision is due (protocol.md, "Triggers"); `subject` is a call, message or action id."""

    type: TriggerType
    subject: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Action:
    """One action of a decision, by protocol.md's names; a call of the reply is named by id alone."""

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


# --- The session and its conversation: words of people, models, workers -------------------------


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """A session began in a working tree. `test_commands` are argv lists; `base_commit` may be None.

    `settings` is for showing only (where each came from); nothing decides on it.
    """

    session_id: str
    root: str
    base_commit: str | None
    model: str
    limits: Limits
    test_commands: tuple[tuple[str, ...], ...]
    test_source: str
    baseline_wanted: bool
    allow_empty: bool = False
    patch_version: str = ""
    settings: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SessionResumed:
    """A process took the session up again; limits and model are those from now on."""

    limits: Limits
    model: str
    found: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UserPrompted:
    """A person said something; it begins a turn. `parent_id` None: the root of the tree."""

    message: Message
    parent_id: str | None


@dataclass(frozen=True, slots=True)
class HeadMoved:
    """The head of the tree is now this message; nothing was deleted."""

    target_id: str


@dataclass(frozen=True, slots=True)
class DecisionCompleted:
    """A decision was taken: what runs next. `source` says who decided ("built-in": the proposal)."""

    decision_id: str
    trigger: Trigger
    actions: tuple[Action, ...]
    source: str = "built-in"


@dataclass(frozen=True, slots=True)
class WorkerStateChanged:
    """The worker's opaque state, as its raw JSON text, anchored at the head after the decision."""

    decision_id: str
    raw: str


@dataclass(frozen=True, slots=True)
class ConfigChanged:
    """The `agent` config in force from this anchor on, as its raw JSON text."""

    decision_id: str
    raw: str


@dataclass(frozen=True, slots=True)
class ModelRequested:
    """A model call is about to be made; `context_hash` is the SHA-256 of what it will receive."""

    model: str
    context_hash: str
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class ModelReplied:
    """A model call ended well. `cost_usd` None: unknown price."""

    message: Message
    parent_id: str
    model: str
    stop_reason: str
    usage: Usage
    cost_usd: float | None
    duration_s: float


@dataclass(frozen=True, slots=True)
class ModelFailed:
    """A model call failed for good (after its retries)."""

    model: str
    code: str
    text: str
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class ResultsDelivered:
    """All calls of a reply are settled; their results form this message, in the calls' order."""

    message_id: str
    parent_id: str


@dataclass(frozen=True, slots=True)
class TodoChanged:
    """The model's list is now this one."""

    items: tuple[TodoItem, ...]


@dataclass(frozen=True, slots=True)
class NoteAdded:
    """The model wrote a note to itself."""

    text: str


# --- Asking people -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ApprovalRequested:
    """A person's word is needed. `subject_hash` is the SHA-256 of exactly what would be allowed.

    call_id: the tool call, or "tests" for the first run of the repository's tests.
    dangerous: plainly destroys or leaves the machine, so that `--yes` does not cover it.
    """

    call_id: str
    kind: Literal["tests", "command"]
    question: str
    preview: str
    subject_hash: str
    dangerous: bool = False


@dataclass(frozen=True, slots=True)
class ApprovalDecided:
    """A person (or a flag they gave) decided; `by` names which."""

    call_id: str
    approved: bool
    by: str
    subject_hash: str


# --- Effects: the intent before, the outcome after -----------------------------------------------


@dataclass(frozen=True, slots=True)
class EffectIntended:
    """A tool is about to act. `step` is the run's counter; the baseline is step 0.

    expected: path -> SHA-256 of the bytes the tool expects there ("" for no file).
    """

    call_id: str
    tool: str
    effect: EffectClass
    step: int
    arguments_hash: str
    by_runtime: bool = False
    expected: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EffectSettled:
    """A tool ended; `content` is what the model is told. `summary` is one line for people."""

    call_id: str
    tool: str
    content: str
    is_error: bool
    summary: str
    duration_s: float
    exit_code: int | None = None
    blobs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EffectUnknown:
    """A crash came between intent and outcome: `found` is what a look at the world showed."""

    call_id: str
    tool: str
    effect: EffectClass
    found: str


@dataclass(frozen=True, slots=True)
class CallRejected:
    """A call was answered without acting: invalid, unknown tool, or not allowed. It is a step."""

    call_id: str
    tool: str
    step: int
    content: str
    cause: Literal["invalid", "unknown_tool", "denied"]


# --- Evidence: facts that tools and the runtime saw ----------------------------------------------


@dataclass(frozen=True, slots=True)
class FileRead:
    """The model was shown these lines of the version with this SHA-256."""

    path: str
    sha256: str
    ranges: tuple[LineRange, ...]


@dataclass(frozen=True, slots=True)
class FileWritten:
    """A file tool wrote (or, with `sha256` "", removed) a file; the hash is of the bytes read back."""

    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class FilesChanged:
    """The tree differs after a step of this run; `tree` is the tree that is there now."""

    step: int
    tree: str
    changes: tuple[FileChange, ...]
    during: Literal["tool", "command", "tests"]


@dataclass(frozen=True, slots=True)
class TreeObserved:
    """The runtime looked at the tree. `changes`: what someone else changed since the last look."""

    tree: str
    moment: Moment
    changes: tuple[FileChange, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TestsRan:
    """The runtime ran the test command(s); `tree` was there before and after, or `note` says why not.

    Only kind "complete" can prove, only "baseline" is the baseline; "partial" informs.
    """

    kind: TestRunKind
    step: int
    tree: str
    reports: tuple[TestReport, ...]
    by_products: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BaselineSkipped:
    """There is no baseline, and why."""

    why: str


# --- Ends ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DoneRefused:
    """The model wanted to end; the done check said no. `message` tells it what would satisfy it."""

    message: Message
    parent_id: str
    reason: Reason
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The run stopped: for good, or resumably."""

    status: Status
    reason: Reason
    exit_code: int
    text: str
    duration_s: float
    grade: str = "none"


@dataclass(frozen=True, slots=True)
class UnknownEvent:
    """An event that a newer Patch wrote: kept as it is; the session is read-only here."""

    type: str
    version: int
    body: str


EvidenceEvent = FileRead | FileWritten | FilesChanged | TreeObserved | TestsRan | BaselineSkipped

Event = (
    SessionStarted
    | SessionResumed
    | UserPrompted
    | HeadMoved
    | DecisionCompleted
    | WorkerStateChanged
    | ConfigChanged
    | ModelRequested
    | ModelReplied
    | ModelFailed
    | ResultsDelivered
    | TodoChanged
    | NoteAdded
    | ApprovalRequested
    | ApprovalDecided
    | EffectIntended
    | EffectSettled
    | EffectUnknown
    | CallRejected
    | EvidenceEvent
    | DoneRefused
    | TurnEnded
    | UnknownEvent
)


@dataclass(frozen=True, slots=True)
class Record:
    """An event with its place in the log.

    seq: 1, 2, ... in the session. node: id of the head when it was recorded ("" before the first
    message). generation: of the writer's lease. at: RFC 3339 UTC, for display only, never for order.
    """

    seq: int
    node: str
    generation: int
    step: int
    at: str
    event: Event
    hash: str = ""
