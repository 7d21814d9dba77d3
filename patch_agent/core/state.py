"""The state of a run: what follows from the records on the active path, and nothing else.

Every field declares what a model may see of it (`VISIBILITY`); the context builder reads through
that table. Fields marked "all branches" count every record of the session: what is spent is spent.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Literal

from patch_agent.core.events import ApprovalDecided, ApprovalRequested, EffectIntended
from patch_agent.core.evidence import RestoreBegun
from patch_agent.core.messages import Message, Path, ToolCall, ToolResult
from patch_agent.core.reasons import Reason, Status
from patch_agent.core.testing import Outcome, TestReport
from patch_agent.core.values import (
    Action,
    Cause,
    ChangeKey,
    FileChange,
    Limits,
    LineRange,
    TodoItem,
    Trigger,
)

Visibility = Literal["show", "summarise", "point", "hide"]
CallStatus = Literal["proposed", "queued", "running", "settled"]


@dataclass(frozen=True, slots=True)
class FileSeen:
    """The version of a file that the model saw, and which lines of it."""

    sha256: str
    ranges: tuple[LineRange, ...]


@dataclass(frozen=True, slots=True)
class FileTouched:
    """A path this run changed: its first original and what it is now (git blob ids, modes).

    by_tests: only runs of the test command changed it.
    """

    original: str | None
    original_mode: str
    latest: str | None
    latest_mode: str
    protected: bool = False
    by_tests: bool = False

    @property
    def differs(self) -> bool:
        """Whether anything is left of the change: an edit taken back is none."""
        return (self.original, self.original_mode) != (self.latest, self.latest_mode)


@dataclass(frozen=True, slots=True)
class RunChange:
    """What one step of the run did to one path, as undo takes it back."""

    step: int
    change: FileChange
    during: Cause

    @property
    def key(self) -> ChangeKey:
        """Its name in the log."""
        return ChangeKey(self.step, self.change.path)


@dataclass(frozen=True, slots=True)
class Undone:
    """An undo that can be made again: what it did on disk, and which changes it took back."""

    changes: tuple[FileChange, ...]
    taken: tuple[RunChange, ...]


_CODE = (".py", ".pyi", ".pyc", ".pth", ".so", ".pyd", ".js", ".mjs", ".cjs", ".ts", ".toml",
         ".ini", ".cfg")  # fmt: skip


def is_test_output(path: str, file: FileTouched) -> bool:
    """Whether a file is only what test runs left behind: new, made by them alone, and no code."""
    return (
        file.by_tests
        and file.original is None
        and not file.protected
        and (not path.endswith(_CODE))
    )


@dataclass(frozen=True, slots=True)
class TestRun:
    """A run of the test command(s) by the runtime, on the tree `tree`, as step `after_step`.

    tree_after: the tree that the run left, when it differs in nothing but test output; else "".
    """

    __test__ = False

    kind: str
    after_step: int
    tree: str
    reports: tuple[TestReport, ...]
    tree_after: str = ""

    @property
    def passed(self) -> bool:
        """Every command passed, and there was one."""
        return bool(self.reports) and all(report.passed for report in self.reports)

    @property
    def summary(self) -> str:
        """One line for people: `1 failed, 11 passed in 0.42 s`."""
        counts = ", ".join(f"{number} {outcome}" for outcome, number in sorted(self.counts.items()))
        broken = sum(len(report.collection_errors) for report in self.reports)
        parts = [counts or "no test ran"]
        if broken:
            parts.append(f"{broken} file{'' if broken == 1 else 's'} failed to load")
        parts += sorted({report.ending for report in self.reports} - {"exit"})
        took = f" in {sum(r.duration_s for r in self.reports):.2f} s"
        notes = "; ".join(report.note for report in self.reports if report.note)
        return ", ".join(parts) + took + (f" ({notes})" if notes and not counts else "")

    @property
    def executed(self) -> int:
        """How many tests really ran, over all commands."""
        return sum(report.executed for report in self.reports)

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """Test id -> outcome over all commands; the ids of later commands carry their number."""
        merged: dict[str, Outcome] = {}
        for number, report in enumerate(self.reports):
            prefix = f"{number + 1}:" if number else ""
            merged.update({prefix + key: value for key, value in report.outcomes.items()})
        return merged

    @property
    def counts(self) -> dict[str, int]:
        """Outcome -> number of tests, over all commands."""
        total: dict[str, int] = {}
        for report in self.reports:
            for outcome, number in report.counts.items():
                total[outcome] = total.get(outcome, 0) + number
        return total


@dataclass(frozen=True, slots=True)
class CallState:
    """Where one call of the newest reply stands."""

    call: ToolCall
    status: CallStatus
    result: ToolResult | None = None


@dataclass(frozen=True, slots=True)
class State:
    """Everything that the loop, the done check and the views decide on."""

    # the session
    session_id: str = ""
    root: str = ""
    base_commit: str | None = None
    model: str = ""
    limits: Limits = Limits()
    test_commands: tuple[tuple[str, ...], ...] = ()
    test_source: str = ""
    allow_empty: bool = False
    allowed_tests: tuple[str, ...] = ()
    baseline_wanted: bool = False
    # the conversation
    path: Path | None = None
    task: str = ""
    last_stop_reason: str = ""
    context_hash: str = ""
    # what runs
    status: Status = "running"
    reason: Reason | None = None
    exit_code: int | None = None
    end_text: str = ""
    grade: str = "none"
    due: tuple[Trigger, ...] = ()
    calls: tuple[CallState, ...] = ()
    model_call_due: bool = False
    done_requested: Action | None = None
    done_refusals: int = 0
    model_error: str = ""
    decisions: int = 0
    open_intents: tuple[EffectIntended, ...] = ()
    unknown_effects: tuple[str, ...] = ()
    pending_approvals: tuple[ApprovalRequested, ...] = ()
    approvals: tuple[ApprovalDecided, ...] = ()
    # budgets: all branches
    step: int = 0
    cost_usd: float | None = 0.0
    tokens: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    model_calls: int = 0
    duration_s: float = 0.0
    messages_made: int = 0
    calls_made: int = 0
    # evidence
    files_read: Mapping[str, FileSeen] = field(default_factory=dict)
    stale_reads: Mapping[str, str] = field(default_factory=dict)
    files_changed: Mapping[str, FileTouched] = field(default_factory=dict)
    run_changes: tuple[RunChange, ...] = ()
    folders_made: tuple[str, ...] = ()
    undone: tuple[Undone, ...] = ()
    restore_open: RestoreBegun | None = None
    outside_changes: Mapping[str, FileChange] = field(default_factory=dict)
    last_edit_step: int = 0
    start_tree: str = ""
    tree: str = ""
    baseline: TestRun | None = None
    baseline_skipped: str = ""
    last_test: TestRun | None = None
    partial_tests: tuple[TestRun, ...] = ()
    by_products: tuple[str, ...] = ()
    changed_by_tests: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    # the model's own
    todo: tuple[TodoItem, ...] = ()
    notes: tuple[str, ...] = ()
    # the worker's own
    worker_state: str | None = None
    config: str | None = None
    # the log
    seq: int = 0
    unreadable: tuple[str, ...] = ()

    @property
    def head(self) -> str:
        """The id of the newest message on the path; "" before the first."""
        return self.path.message.id if self.path is not None else ""

    @property
    def messages(self) -> tuple[Message, ...]:
        """The active path, root to head."""
        return tuple(self.path) if self.path is not None else ()

    @property
    def max_steps(self) -> int:
        """The limit of the step counter."""
        return self.limits.max_steps

    @property
    def max_cost_usd(self) -> float | None:
        """The limit of the cost; None when there is none."""
        return self.limits.max_cost_usd

    @property
    def pending_approval(self) -> ApprovalRequested | None:
        """The first of the open questions."""
        return self.pending_approvals[0] if self.pending_approvals else None

    @property
    def net_changes(self) -> dict[str, FileTouched]:
        """The paths where something is left of what this run changed."""
        return {path: file for path, file in self.files_changed.items() if file.differs}

    @property
    def left_behind(self) -> tuple[str, ...]:
        """By-products, and new files that test runs alone wrote."""
        outputs = [p for p, f in self.files_changed.items() if f.differs and is_test_output(p, f)]
        return tuple(sorted({*self.by_products, *outputs}))

    @property
    def is_unchanged(self) -> bool:
        """Whether nothing is left of what this run (other than its test runs) changed."""
        return all(file.by_tests for file in self.net_changes.values())


def initial_state() -> State:
    """The state before the first record."""
    return State()


EVIDENCE_FIELDS: frozenset[str] = frozenset(
    {
        "files_read",
        "stale_reads",
        "files_changed",
        "run_changes",
        "folders_made",
        "undone",
        "restore_open",
        "outside_changes",
        "last_edit_step",
        "start_tree",
        "tree",
        "baseline",
        "baseline_skipped",
        "last_test",
        "partial_tests",
        "by_products",
        "changed_by_tests",
        "notices",
    }
)

_SHOWN: frozenset[str] = frozenset(
    {"task", "status", "step", "limits", "todo", "notes", "last_edit_step"}
)
_SUMMARISED: frozenset[str] = frozenset(
    {
        "test_commands",
        "files_changed",
        "stale_reads",
        "undone",
        "baseline",
        "baseline_skipped",
        "last_test",
        "partial_tests",
        "cost_usd",
        "outside_changes",
        "unknown_effects",
        "path",
        "done_refusals",
    }
)

VISIBILITY: dict[str, Visibility] = {
    f.name: "show" if f.name in _SHOWN else "summarise" if f.name in _SUMMARISED else "hide"
    for f in fields(State)
}
