"""The message tree: branches see their own path, spending counts on all of them."""

import pytest

from patch_agent.core import events as ev
from patch_agent.core.errors import UserError
from patch_agent.core.messages import ToolCall
from patch_agent.core.tree import fold, head_of, sequence_at
from tests.support.records import (
    changed,
    intended,
    observed,
    prompted,
    records_of,
    replied,
    settled,
    started,
)

CALL = ToolCall("c1", "edit_file", {})
TRUNK: list[ev.Event] = [
    started(),
    prompted("first"),
    observed("t0"),
    replied(2, "m1", CALL),
    intended("c1", 1),
    changed(1, "t1"),
    settled("c1"),
    ev.ResultsDelivered("m3", "m2"),
    ev.NoteAdded("on the trunk"),
]


def test_any_prefix_of_a_log_gives_the_state_there() -> None:
    records = records_of(TRUNK)
    assert fold(records[:5]).open_intents != ()
    assert fold(records[:5]).tree == "t0"
    assert fold(records).tree == "t1"


def test_editing_an_earlier_message_leaves_the_old_branch_behind() -> None:
    records = records_of([*TRUNK, prompted("another way", 4, parent=None)])
    state = fold(records)
    assert [message.id for message in state.messages] == ["m4"]
    assert (state.files_changed, state.notes) == ({}, ())
    assert (state.step, state.cost_usd, state.calls_made) == (1, 0.01, 1)


def test_moving_the_head_back_finds_everything_as_it_was() -> None:
    records = records_of([*TRUNK, prompted("another way", 4), ev.HeadMoved("m3")])
    state = fold(records)
    assert head_of(records) == "m3"
    assert [message.id for message in state.messages] == ["m1", "m2", "m3"]
    assert (state.tree, state.notes) == ("t1", ("on the trunk",))


def test_positions_are_events_steps_and_messages() -> None:
    records = records_of(TRUNK)
    assert sequence_at(records, "e3") == 3
    assert sequence_at(records, "s1") == 9
    assert sequence_at(records, "m2") == 4


@pytest.mark.parametrize("position", ["x1", "e0", "e99", "s", "m9", "s7", ""])
def test_a_position_that_is_none_is_one_clear_line(position: str) -> None:
    with pytest.raises(UserError, match="position"):
        sequence_at(records_of(TRUNK), position)
