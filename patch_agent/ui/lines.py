"""What is said of each recorded event: at most one line, the same in every front end."""

from dataclasses import dataclass
from typing import Literal

from patch_agent.core import events as ev
from patch_agent.core.evidence import BaselineSkipped, TestsRan, TreeObserved
from patch_agent.core.state import State, TestRun
from patch_agent.ui.safe import one_line, visible

Tone = Literal["plain", "good", "bad", "dim", "warn"]
MIN_SHOWN_S = 0.05
"""Durations shorter than this are not worth a reader's time."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the run. mark: step number or sign in front; duration_s: shown at its end."""

    text: str
    tone: Tone = "plain"
    mark: str = ""
    duration_s: float | None = None


def line_for(record: ev.Record, state: State) -> Line | None:
    """The line of an event, or None when it needs none; `state` is the one after it."""
    event = record.event
    match event:
        case ev.EffectSettled():
            return _settled(event, record.step, state)
        case ev.CallRejected():
            return Line(f"{event.tool}: {one_line(event.content)}", "warn", str(event.step))
        case ev.EffectUnknown(again=False):
            return Line(f"{event.tool}: {one_line(event.found)}", "warn", "?")
        case ev.ApprovalDecided():
            word = "allowed" if event.approved else "not allowed"
            return Line(f"{word} ({one_line(event.by)})", "dim")
        case ev.DoneRefused():
            return Line("not done yet: " + one_line(" ".join(event.reasons), 300), "warn")
        case ev.SessionResumed(found=found) if found:
            return Line("\n".join(visible(text) for text in found[:2]), "warn")
        case ev.ModelFailed():
            return Line(one_line(event.text), "bad")
        case _:
            return _of_evidence(event)


def _of_evidence(event: ev.Event) -> Line | None:
    match event:
        case BaselineSkipped():
            return Line(f"the tests were not run before the first edit: {event.why}", "warn")
        case TreeObserved(changes=changes) if changes:
            names = ", ".join(visible(change.path) for change in changes[:5])
            more = f" and {len(changes) - 5} more" if len(changes) > 5 else ""
            return Line(f"changed by someone else: {names}{more}", "warn")
        case TreeObserved(notes=notes) if notes:
            return Line("\n".join(one_line(note) for note in notes[:5]), "dim")
        case TestsRan(kind="baseline"):
            run = TestRun(event.kind, event.step, event.tree, event.reports)
            return Line(f"tests before the first edit: {run.summary}", "dim", "0")
        case _:
            return None


def _settled(event: ev.EffectSettled, step: int, state: State) -> Line | None:
    if event.tool == "run_tests" and step == 0:
        return None
    tone: Tone = "plain"
    if event.tool == "run_tests":
        tone = "bad" if event.is_error else "good"
    elif event.is_error:
        tone = "warn"
    summary = one_line(event.summary)
    # The summary of a test run says how long it took.
    took = None if event.tool == "run_tests" else event.duration_s
    return Line(f"{event.tool:<13} {summary}", tone, str(step), took)


def status_text(state: State) -> str:
    """The status line: step, cost, last test."""
    parts = [f"step {state.step}/{state.limits.max_steps}"]
    if state.cost_usd is None:
        parts.append(f"{state.tokens:,} tokens (price unknown)")
    elif state.cost_usd or (state.model_calls and state.model != "offline"):
        parts.append(f"${state.cost_usd:.2f}")
    run = state.last_test or state.baseline
    if run is not None:
        old = "" if run.after_step > state.last_edit_step or run is state.baseline else " (old)"
        word = "passed" if run.passed else "not passing"
        parts.append(f"tests {word}{old}")
    return " · ".join(parts)
