"""What happened, in the past tense: the events of a session's log.

Only the events of `EvidenceEvent` (evidence.py) can set evidence; tools and the runtime make them.
Those here, which may carry words of a model, a worker or a person, never do.
A new event: a class here, its name in the union, an arm in the reducer, a version in the codec.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from patch_agent.core.evidence import EvidenceEvent
from patch_agent.core.messages import Json, Message
from patch_agent.core.reasons import Reason, Status
from patch_agent.core.values import (
    Action,
    EffectClass,
    Limits,
    RejectionCause,
    TodoItem,
    Trigger,
    Usage,
)

# --- The session and its conversation: words of people, models, workers -----------------


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """A session began in a working tree. `test_commands` are argv lists; `base_commit` may be None.
    `allowed_tests`: globs of protected test files that this run may change.

    `settings`: what a resumed session goes on with (origins, base URL, time limit of tests).
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
    allowed_tests: tuple[str, ...] = ()
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
    """A decision was taken: what runs next. `source`: who decided ("built-in": as proposed)."""

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


# --- Asking people ----------------------------------------------------------------------


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


# --- Effects: the intent before, the outcome after --------------------------------------


@dataclass(frozen=True, slots=True)
class EffectIntended:
    """A tool is about to act. `step` is the run's counter; the baseline is step 0.

    before, after: path -> SHA-256 of the bytes that the tool expects there and will write ("" for
    no file), so that a look at the disk settles what happened when a crash came in between.
    """

    call_id: str
    tool: str
    effect: EffectClass
    step: int
    arguments_hash: str
    by_runtime: bool = False
    before: Mapping[str, str] = field(default_factory=dict)
    after: Mapping[str, str] = field(default_factory=dict)


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
    """A crash came between intent and outcome: `found` is what a look at the world showed.

    again: nothing happened that matters, so the call is queued once more.
    """

    call_id: str
    tool: str
    effect: EffectClass
    found: str
    again: bool = False


@dataclass(frozen=True, slots=True)
class CallRejected:
    """A call was answered without acting: invalid, unknown tool, or not allowed. It is a step."""

    call_id: str
    tool: str
    step: int
    content: str
    cause: RejectionCause


# --- Ends -------------------------------------------------------------------------------


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
    message). generation: of the writer's lease. at: RFC 3339 UTC, for display, never for order.
    """

    seq: int
    node: str
    generation: int
    step: int
    at: str
    event: Event
    hash: str = ""
