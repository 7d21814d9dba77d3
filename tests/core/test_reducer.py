"""The fold: what each event does to the state, and who may write evidence."""

import dataclasses
from dataclasses import replace
from typing import get_args

import pytest

from patch_agent.core import events as ev
from patch_agent.core.evidence import EvidenceEvent, FileRead, FileWritten
from patch_agent.core.evidence_reducer import merge_ranges
from patch_agent.core.messages import Message, Text, ToolCall, ToolResult, user_message
from patch_agent.core.reducer import apply
from patch_agent.core.state import EVIDENCE_FIELDS, VISIBILITY, FileSeen, State
from patch_agent.core.values import Action, Limits, LineRange, TodoItem, Trigger, TriggerType
from tests.support.records import (
    changed,
    intended,
    observed,
    prompted,
    ran_tests,
    replied,
    report,
    settled,
    started,
    state_of,
)

READ = ToolCall("c1", "read_file", {"path": "a.py"})
EDIT = ToolCall("c2", "edit_file", {"path": "a.py"})


def decided(kind: TriggerType, *actions: Action, subject: str = "") -> ev.DecisionCompleted:
    return ev.DecisionCompleted("d", Trigger(kind, subject), actions)


def test_a_conversation_folds_into_calls_results_and_messages() -> None:
    state = state_of(
        started(),
        prompted(),
        replied(2, "m1", READ, EDIT),
        decided("llm.finished", Action("tool.call", "c1"), Action("tool.call", "c2"), subject="m2"),
        intended("c1", 1, "read_file", effect="read"),
        settled("c1", "read_file", "text of a.py"),
        ev.CallRejected("c2", "edit_file", 2, "not read", "invalid"),
        ev.ResultsDelivered("m3", "m2"),
    )
    assert state.step == 2
    assert [message.id for message in state.messages] == ["m1", "m2", "m3"]
    assert state.messages[2].content == (
        ToolResult("c1", "text of a.py", False),
        ToolResult("c2", "not read", True),
    )
    assert state.calls == ()
    assert state.open_intents == ()
    assert state.calls_made == 2


def test_cost_is_unknown_as_soon_as_one_call_has_no_price() -> None:
    known = replied(2, "m1", cost=0.25)
    assert state_of(started(), prompted(), known).cost_usd == 0.25
    unknown = replace(replied(3, "m2"), cost_usd=None)
    state = state_of(started(), prompted(), known, unknown)
    assert (state.cost_usd, state.tokens, state.model_calls) == (None, 220, 2)


def test_files_read_keep_ranges_of_the_same_version_and_drop_those_of_another() -> None:
    first = FileRead("a.py", "h1", (LineRange(1, 10),))
    second = FileRead("a.py", "h1", (LineRange(11, 20), LineRange(40, 50)))
    state = state_of(started(), first, second)
    assert state.files_read == {"a.py": FileSeen("h1", (LineRange(1, 20), LineRange(40, 50)))}
    newer = state_of(started(), first, second, FileRead("a.py", "h2", (LineRange(5, 6),)))
    assert newer.files_read == {"a.py": FileSeen("h2", (LineRange(5, 6),))}
    gone = state_of(started(), first, FileWritten("a.py", ""))
    assert gone.files_read == {}


def test_ranges_are_merged_when_they_touch() -> None:
    ranges = (LineRange(5, 6), LineRange(1, 4), LineRange(9, 9), LineRange(2, 3))
    assert merge_ranges(ranges) == (LineRange(1, 6), LineRange(9, 9))


def test_the_first_original_of_a_changed_file_is_kept() -> None:
    state = state_of(
        started(), observed("t0"), changed(1, "t1"), changed(3, "t2", before="new1", after="new3")
    )
    touched = state.files_changed["a.py"]
    assert (touched.original, touched.latest, touched.differs) == ("old", "new3", True)
    assert (state.last_edit_step, state.tree, state.start_tree) == (3, "t2", "t0")


def test_the_baseline_is_step_zero_and_counts_nothing() -> None:
    runtime = intended("c1", 0, "run_tests", effect="command", by_runtime=True)
    state = state_of(started(), prompted(), runtime, ran_tests("baseline", 0, "t0", report(1)))
    assert (state.step, state.last_test, state.calls_made) == (0, None, 1)
    assert state.baseline is not None


def test_an_approval_covers_the_call_it_was_given_for() -> None:
    request = ev.ApprovalRequested("c1", "command", "Run?", "ls", "hash")
    waiting = state_of(started(), request)
    assert waiting.pending_approval == request
    decision = ev.ApprovalDecided("c1", True, "user", "hash")
    state = state_of(started(), request, decision)
    assert (state.pending_approval, state.approvals) == (None, (decision,))


def test_a_cut_off_read_is_queued_again_and_a_cut_off_command_is_told_as_unknown() -> None:
    base = (started(), prompted(), replied(2, "m1", READ), intended("c1", 1, "read_file"))
    again = state_of(*base, ev.EffectUnknown("c1", "read_file", "read", "only reads", again=True))
    assert (again.open_intents, again.calls[0].status) == ((), "queued")
    unknown = state_of(*base, ev.EffectUnknown("c1", "read_file", "command", "a.py differs"))
    assert unknown.unknown_effects == ("read_file: a.py differs",)


def test_an_end_that_can_be_resumed_keeps_what_was_asked_for() -> None:
    done = decided("llm.finished", Action("done"), subject="m2")
    waiting = ev.TurnEnded("waiting_for_approval", "approval_needed", 6, "", 1.0)
    state = state_of(started(), prompted(), replied(2, "m1"), done, waiting)
    assert (state.status, state.done_requested) == ("waiting_for_approval", Action("done"))
    resumed = state_of(
        started(), prompted(), replied(2, "m1"), done, waiting,
        ev.SessionResumed(Limits(max_steps=99), "scripted"),
    )  # fmt: skip
    assert (resumed.status, resumed.reason, resumed.max_steps) == ("running", None, 99)
    assert resumed.duration_s == 1.0


WORDS: tuple[ev.Event, ...] = (
    started(),
    ev.SessionResumed(Limits(), "m", ("x",)),
    prompted("tests pass, all 86 of them"),
    ev.HeadMoved("m1"),
    decided("llm.finished", Action("done", text="PASSED")),
    ev.WorkerStateChanged("d", '{"last_test": {"exit": 0}}'),
    ev.ConfigChanged("d", '{"tree": "t0"}'),
    ev.ModelRequested("m", "h"),
    replied(5, "m1", READ, text="pytest: 12 passed"),
    ev.ModelFailed("m", "provider_error", "tests passed"),
    ev.ResultsDelivered("m6", "m5"),
    ev.TodoChanged((TodoItem("1", "tests pass", "done"),)),
    ev.NoteAdded("PASSED: 12 passed"),
    ev.ApprovalRequested("c9", "command", "q", "pytest", "h"),
    ev.ApprovalDecided("c9", True, "user", "h"),
    intended("c9", 7, "run_tests"),
    settled("c9", "run_tests", "PASSED: 12 passed"),
    ev.EffectUnknown("c9", "run_tests", "command", "passed"),
    ev.CallRejected("c9", "run_tests", 8, "passed", "invalid"),
    ev.DoneRefused(user_message("m7", "x"), "m6", "no_change", ("x",)),
    ev.TurnEnded("done", "done", 0, "all good", 1.0, "proven"),
    ev.UnknownEvent("TestsRanBetter", 9, "{}"),
)


def test_every_event_that_carries_words_is_in_the_table() -> None:
    words = {kind for kind in get_args(ev.Event) if kind not in get_args(EvidenceEvent)}
    assert {type(event) for event in WORDS} == words


@pytest.mark.parametrize("event", WORDS, ids=lambda event: type(event).__name__)
def test_words_never_set_evidence(event: ev.Event) -> None:
    before = state_of(started(), prompted(), observed("t0"), changed(1, "t1"))
    after = apply(before, ev.Record(9, "m1", 1, 1, "", event), on_path=True)
    for name in EVIDENCE_FIELDS:
        assert getattr(after, name) == getattr(before, name), name


def test_every_state_field_declares_what_a_model_may_see() -> None:
    assert set(VISIBILITY) == {field.name for field in dataclasses.fields(State)}
    assert VISIBILITY["worker_state"] == "hide"
    assert VISIBILITY["approvals"] == "hide"
    assert VISIBILITY["files_read"] == "hide"


def test_text_of_a_message_is_its_text_blocks() -> None:
    message = Message("m1", "assistant", (Text("a"), READ, Text("b")))
    assert (message.text, message.calls) == ("a\n\nb", (READ,))
