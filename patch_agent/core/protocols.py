"""The seams: what the shell round the core may be given. Each has one small protocol."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from patch_agent.core.events import ApprovalRequested, Event, Record
from patch_agent.core.messages import Block, Json, Message
from patch_agent.core.state import State
from patch_agent.core.testing import TestReport
from patch_agent.core.values import Action, EffectClass, FileChange, TestRunKind, Trigger, Usage

# --- Models -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model sees it; `schema` is a JSON Schema of an object.

    runs_tests: all it runs is the test command (the word given for the tests covers it).
    """

    name: str
    description: str
    schema: Mapping[str, Json]
    effect: EffectClass = "read"
    runs_tests: bool = False


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call's view, built for the call and thrown away.

    note: changing facts (status, last test); goes behind the stable prefix, never into history.
    """

    system: str
    tools: tuple[ToolSpec, ...]
    messages: tuple[Message, ...]
    note: str = ""
    max_tokens: int = 16_000


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A whole reply; a call's id in `content` is the provider's own (the session renames it).

    stop_reason: the Messages API's words, and "gave_up" from a model that knows it cannot go on.
    """

    content: tuple[Block, ...]
    stop_reason: str
    usage: Usage = Usage()
    cost_usd: float | None = 0.0
    model: str = ""


class Model(Protocol):
    """A source of replies. Raises ModelError; never acts on the world by itself."""

    @property
    def name(self) -> str:
        """The id as it was resolved, for example `claude-sonnet-5` or `offline`."""
        ...

    def prepare(self) -> None:
        """Load what is heavy; may be called from a thread, more than once."""
        ...

    def complete(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """One reply; `on_text` gets pieces of text as they come. Nothing partial is returned."""
        ...


# --- Tools ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a tool did.

    content: for the model. facts: evidence and notes, in order. touched: the paths it wrote, when
    it knows them all; None: anything may have changed. summary: one line for people.
    """

    content: str
    summary: str
    is_error: bool = False
    facts: tuple[Event, ...] = ()
    touched: tuple[str, ...] | None = ()
    exit_code: int | None = None
    blobs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Invocation:
    """One call of a tool: its checked arguments, the frozen state, and its step."""

    call_id: str
    arguments: Mapping[str, Json]
    state: State
    step: int
    progress: Callable[[str], None] = field(default=lambda _text: None)


@dataclass(frozen=True, slots=True)
class Expectation:
    """Path -> SHA-256 of the bytes there before and after ("" for no file); both may be empty."""

    before: Mapping[str, str] = field(default_factory=dict)
    after: Mapping[str, str] = field(default_factory=dict)


class Tool(Protocol):
    """Something the model can do."""

    @property
    def spec(self) -> ToolSpec:
        """Name, text for the model, argument schema, effect class."""
        ...

    def expected(self, call: Invocation) -> Expectation:
        """What the call relies on and what it will write, for the intent; empty for most tools."""
        ...

    def run(self, call: Invocation) -> ToolOutcome:
        """Do it. Raises ToolError with a text for the model; nothing is changed then."""
        ...


# --- The world --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The workspace at a moment. `notes`: what it does not cover (borders, sizes), for people.

    Since the snapshot before: `permissions` (bits) of the files that are gone, `folders` made.
    """

    tree: str
    notes: tuple[str, ...] = ()
    permissions: Mapping[str, int] = field(default_factory=dict)
    folders: tuple[str, ...] = ()


class Snapshots(Protocol):
    """Trees of the working tree, in a private store; the user's git folder is never written."""

    def take(self, touched: Sequence[str] | None = None) -> Snapshot:
        """The tree as it is now; with `touched`, only these paths are looked at again."""
        ...

    def cover(self, paths: Sequence[str]) -> Snapshot | None:
        """The tree with these files too, which an ignore rule may have kept out; None: it has
        them."""
        ...

    def looks_unchanged(self) -> bool:
        """Whether nothing differs from the last snapshot, by names and stats; costs no process."""
        ...

    def changes(self, before: str, after: str) -> tuple[FileChange, ...]:
        """What differs between two trees, by path. Raises StoreError when a tree is missing."""
        ...

    def by_products(self) -> tuple[str, ...]:
        """Untracked files of known by-product patterns that are there now, kept out of trees."""
        ...


class Tester(Protocol):
    """The test command(s) of this run."""

    def run(
        self, selection: Sequence[str], progress: Callable[[str], None]
    ) -> tuple[TestReport, ...]:
        """Run every command (or, with a selection of test ids or paths, that part). Never raises
        for failing tests; a command that could not start ends as "not_started"."""
        ...


# --- Storage ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to write one session, until someone takes a later generation."""

    session_id: str
    generation: int


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A row of the list of sessions. `status` and `reason` as of its last end, if any."""

    session_id: str
    repo_key: str
    root: str
    started_at: str
    task: str
    status: str
    reason: str
    events: int


class Store(Protocol):
    """Append-only logs, one per session."""

    def append(
        self, lease: Lease, expected_seq: int, records: Sequence[Record]
    ) -> tuple[Record, ...]:
        """Write all or nothing, synced; returns the records with their hashes. Raises StoreError
        when it cannot be written, ConflictError when the lease or the sequence is not ours."""
        ...

    def records(self, session_id: str, up_to: int | None = None) -> Iterable[Record]:
        """The records in order. Raises StoreError for an unknown session or a broken chain."""
        ...


class Blobs(Protocol):
    """Bytes by content; ids are SHA-256 in hex."""

    def put(self, data: bytes) -> str:
        """Keep the bytes (synced); the same bytes have the same id."""
        ...

    def get(self, blob_id: str) -> bytes:
        """The bytes. Raises StoreError when they are missing or damaged."""
        ...


# --- Decisions and people ---------------------------------------------------------------

Answer = Literal["yes", "no", "later"]


class Worker(Protocol):
    """Decides what follows a trigger; it may take what is proposed (propose.py) or amend it."""

    def decide(self, state: State, trigger: Trigger) -> tuple[tuple[Action, ...], str]:
        """The actions, and who decided ("built-in" when the proposal was taken as it is)."""
        ...


class Approver(Protocol):
    """Who answers a question. "later": nobody can be asked now."""

    def ask(self, request: ApprovalRequested) -> tuple[Answer, str]:
        """The answer, and who gave it ("user", "--yes", ...)."""
        ...


class Observer(Protocol):
    """Who is shown what happened. Called after the record is on disk, never before."""

    def recorded(self, record: Record, state: State) -> None:
        """One record was saved and folded."""
        ...

    def text(self, piece: str) -> None:
        """A piece of the model's text, as it comes."""
        ...

    def progress(self, text: str) -> None:
        """What a running step is at; may come often."""
        ...


__all__ = [
    "Answer",
    "Approver",
    "Blobs",
    "Expectation",
    "Invocation",
    "Lease",
    "Model",
    "ModelReply",
    "ModelRequest",
    "Observer",
    "SessionInfo",
    "Snapshot",
    "Snapshots",
    "Store",
    "TestRunKind",
    "Tester",
    "Tool",
    "ToolOutcome",
    "ToolSpec",
    "Worker",
]
