"""Makers of logs: events become records the way a session numbers them."""

from collections.abc import Sequence

from patch_agent.core import events as ev
from patch_agent.core.evidence import FilesChanged, TestsRan, TreeObserved
from patch_agent.core.messages import Message, Text, ToolCall, user_message
from patch_agent.core.state import State
from patch_agent.core.testing import Outcome, TestReport
from patch_agent.core.tree import fold
from patch_agent.core.values import FileChange, Limits, TestRunKind, Usage

PYTEST = ("python", "-m", "pytest")


def records_of(events: Sequence[ev.Event]) -> tuple[ev.Record, ...]:
    """Records with seq 1, 2, ...; node and step as a session would write them."""
    records: list[ev.Record] = []
    for event in events:
        state = fold(records)
        step = getattr(event, "step", 0) if hasattr(event, "call_id") else 0
        records.append(
            ev.Record(
                seq=len(records) + 1,
                node=state.head,
                generation=1,
                step=max(state.step, step),
                at="2030-01-01T00:00:00Z",
                event=event,
            )
        )
    return tuple(records)


def state_of(*events: ev.Event) -> State:
    """The state after these events."""
    return fold(records_of(events))


def started(**changes: object) -> ev.SessionStarted:
    """A session in /repo with pytest as its test command."""
    values: dict[str, object] = {
        "session_id": "p1",
        "root": "/repo",
        "base_commit": "abc",
        "model": "scripted",
        "limits": Limits(),
        "test_commands": (PYTEST,),
        "test_source": "detected",
        "baseline_wanted": True,
    }
    return ev.SessionStarted(**(values | changes))  # type: ignore[arg-type]


def prompted(text: str = "Fix it.", number: int = 1, parent: str | None = None) -> ev.UserPrompted:
    """A person's message `mN`."""
    return ev.UserPrompted(user_message(f"m{number}", text), parent)


def replied(
    number: int, parent: str, *calls: ToolCall, text: str = "", stop: str = "", cost: float = 0.01
) -> ev.ModelReplied:
    """A reply `mN` with these calls."""
    blocks = ((Text(text),) if text else ()) + calls
    return ev.ModelReplied(
        message=Message(f"m{number}", "assistant", blocks),
        parent_id=parent,
        model="scripted",
        stop_reason=stop or ("tool_use" if calls else "end_turn"),
        usage=Usage(100, 10, 0, 0),
        cost_usd=cost,
        duration_s=0.1,
    )


def report(exit_code: int = 0, **outcomes: Outcome) -> TestReport:
    """A finished run of pytest with these outcomes by test name."""
    return TestReport("pytest", PYTEST, ".", "exit", exit_code, 0.5, outcomes)


def ran_tests(kind: TestRunKind, step: int, tree: str, *reports: TestReport) -> TestsRan:
    """A run of the test command."""
    return TestsRan(kind, step, tree, reports)


def observed(tree: str, moment: str = "start") -> TreeObserved:
    """A look at the tree."""
    return TreeObserved(tree, moment)  # type: ignore[arg-type]


def changed(step: int, tree: str, path: str = "a.py", **fields: object) -> FilesChanged:
    """A change of one file at a step."""
    values: dict[str, object] = {"kind": "modified", "before": "old", "after": f"new{step}"}
    change = FileChange(path, **(values | fields))  # type: ignore[arg-type]
    return FilesChanged(step, tree, (change,), "tool")


def intended(
    call_id: str, step: int, tool: str = "edit_file", **fields: object
) -> ev.EffectIntended:
    """An intent."""
    values: dict[str, object] = {"effect": "probe", "arguments_hash": "h"}
    return ev.EffectIntended(call_id, tool, step=step, **(values | fields))  # type: ignore[arg-type]


def settled(call_id: str, tool: str = "edit_file", content: str = "ok") -> ev.EffectSettled:
    """An outcome."""
    return ev.EffectSettled(call_id, tool, content, False, content, 0.01)
