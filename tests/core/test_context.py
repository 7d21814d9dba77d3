"""The view of one model call: a stable front, a changing note, nothing hidden."""

from dataclasses import replace

import pytest

from patch_agent.core.context import Visible, build_context, context_hash
from patch_agent.core.messages import ToolCall
from patch_agent.core.protocols import ToolSpec
from patch_agent.core.state import VISIBILITY
from patch_agent.core.testing import Failure
from tests.support.records import (
    changed,
    observed,
    prompted,
    ran_tests,
    replied,
    report,
    started,
    state_of,
)

SPEC = ToolSpec("read_file", "Read.", {"type": "object"})
BEGUN = (
    started(),
    prompted("Fix the test."),
    observed("t0"),
    ran_tests("baseline", 0, "t0", report(1, a="failed", b="passed")),
)


def test_the_first_message_carries_the_baseline() -> None:
    request = build_context(state_of(*BEGUN), [SPEC])
    assert [block.text for block in request.messages[0].content] == [  # type: ignore[union-attr]
        "Fix the test.",
        "[Patch] Test command: `python -m pytest`. Before any edit: 1 failed, 1 passed.\n- a",
    ]


def test_the_front_stays_the_same_while_the_note_changes() -> None:
    call = ToolCall("c1", "read_file", {})
    before = build_context(state_of(*BEGUN), [SPEC])
    later = state_of(*BEGUN, replied(2, "m1", call), changed(1, "t1"))
    after = build_context(later, [SPEC])
    assert after.system == before.system
    assert after.messages[: len(before.messages)] == before.messages
    assert after.note != before.note
    assert "changed by this run: a.py" in after.note
    assert context_hash(after) != context_hash(before)


def test_the_note_tells_whether_the_last_test_run_is_still_true() -> None:
    ran = ran_tests("complete", 1, "t0", report(0, a="passed"))
    assert "(current)" in build_context(state_of(*BEGUN, ran), []).note
    stale = build_context(state_of(*BEGUN, ran, changed(2, "t1")), []).note
    assert "(older than your last change)" in stale


@pytest.mark.parametrize("name", [n for n, v in VISIBILITY.items() if v == "hide"])
def test_hidden_fields_cannot_be_read_for_a_view(name: str) -> None:
    with pytest.raises(AttributeError):
        getattr(Visible(state_of(*BEGUN)), name)


def test_a_repository_without_tests_is_told_so_at_the_start() -> None:
    request = build_context(state_of(started(test_commands=()), prompted()), [])
    assert "No test command was found" in request.messages[0].text


def test_the_first_failures_are_told_and_cut_at_their_beginning() -> None:
    failures = tuple(
        Failure(name, "x" * 2_000 + f"\nassert {name}") for name in ("a", "b", "c", "d")
    )
    failing = replace(report(1, a="failed", b="failed"), failures=failures)
    state = state_of(started(), prompted(), ran_tests("baseline", 0, "t0", failing))
    text = build_context(state, []).messages[0].text
    assert "\n--- a\nx" in text
    assert "\n--- b\n[...]x" in text
    assert text.endswith("assert b")
    assert len(text) < 3_000
