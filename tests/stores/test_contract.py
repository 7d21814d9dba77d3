"""What every store promises, asked of each of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from patch_agent.core import events as ev
from patch_agent.core.errors import ConflictError, StoreError
from patch_agent.core.messages import Message, Text, ToolCall
from patch_agent.core.protocols import Lease
from patch_agent.core.values import Usage
from tests.stores.opened import (
    Opened,
    notes,
    opened_memory,
    opened_sqlite,
    plain,
    records,
)
from tests.support.records import changed, prompted, ran_tests, replied, report, started


@pytest.fixture(params=[opened_sqlite, opened_memory], ids=["sqlite", "memory"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opened]:
    with request.param(tmp_path / "home" / "log.db") as made:
        yield made


def test_events_come_back_as_they_were_appended_with_the_hashes_given_then(opened: Opened) -> None:
    lease = opened.take("p1")
    written = records(
        1,
        started(),
        prompted("Grüße, 你好 \x00 \udc80"),
        replied(2, "m1", ToolCall("c1", "read_file", {"path": "a.py", "n": [1, 2.5, None]})),
        ran_tests("baseline", 0, "tree", report(1, a="failed")),
        changed(3, "tree2"),
    )
    saved = opened.store.append(lease, 0, written)
    assert plain(saved) == list(written)
    assert all(len(record.hash) == 64 for record in saved)
    assert tuple(opened.store.records("p1")) == saved


def test_the_same_records_have_the_same_hashes_in_every_store(tmp_path: Path) -> None:
    saved = []
    for kind in (opened_sqlite, opened_memory):
        with kind(tmp_path / "log.db") as opened:
            saved.append(opened.store.append(opened.take("p1"), 0, notes(1, 3)))
    assert saved[0] == saved[1]


def test_a_log_grows_by_many_appends_and_can_be_read_up_to_a_point(opened: Opened) -> None:
    lease = opened.take("p1")
    first = opened.store.append(lease, 0, notes(1, 2))
    second = opened.store.append(lease, 2, notes(3, 1))
    assert tuple(opened.store.records("p1")) == first + second
    assert tuple(opened.store.records("p1", 2)) == first
    assert tuple(opened.store.records("p1", 0)) == ()
    assert tuple(opened.store.records("p1", 99)) == first + second


def test_nothing_of_an_append_is_kept_when_one_event_cannot_be_written(opened: Opened) -> None:
    lease = opened.take("p1")
    saved = opened.store.append(lease, 0, notes(1, 1))
    cost = float("nan")
    bad = ev.ModelReplied(
        Message("m2", "assistant", (Text("x"),)), "m1", "m", "end_turn", Usage(), cost, 0.1
    )
    with pytest.raises(ValueError, match=r"NaN|nan|JSON"):
        opened.store.append(lease, 1, records(2, ev.NoteAdded("good"), bad))
    assert tuple(opened.store.records("p1")) == saved
    assert len(opened.store.append(lease, 1, notes(2, 1))) == 1


def test_an_empty_append_changes_nothing(opened: Opened) -> None:
    lease = opened.take("p1")
    assert opened.store.append(lease, 0, ()) == ()
    assert tuple(opened.store.records("p1")) == ()


@pytest.mark.parametrize("expected", [0, 1, 3])
def test_an_append_that_expects_another_length_is_refused(opened: Opened, expected: int) -> None:
    lease = opened.take("p1")
    saved = opened.store.append(lease, 0, notes(1, 2))
    with pytest.raises(ConflictError, match="has 2 events"):
        opened.store.append(lease, expected, notes(expected + 1, 1))
    assert tuple(opened.store.records("p1")) == saved


def test_an_append_with_a_gap_is_refused_whole(opened: Opened) -> None:
    lease = opened.take("p1")
    with pytest.raises(StoreError, match="event 3 cannot follow event 1"):
        opened.store.append(lease, 0, (*notes(1, 1), *notes(3, 1)))
    assert tuple(opened.store.records("p1")) == ()


def test_a_stale_generation_cannot_write_and_the_new_one_can(opened: Opened) -> None:
    old = opened.take("p1")
    saved = opened.store.append(old, 0, notes(1, 1))
    new = opened.take("p1")
    assert new == Lease("p1", old.generation + 1)
    with pytest.raises(ConflictError, match="session p1 was taken over by another process"):
        opened.store.append(old, 1, notes(2, 1))
    assert tuple(opened.store.records("p1")) == saved
    assert len(opened.store.append(new, 1, notes(2, 1))) == 1


def test_sessions_do_not_mix(opened: Opened) -> None:
    one, two = opened.take("p1"), opened.take("p2")
    first = opened.store.append(one, 0, notes(1, 2))
    second = opened.store.append(two, 0, notes(1, 1))
    assert (tuple(opened.store.records("p1")), tuple(opened.store.records("p2"))) == (first, second)


def test_an_unknown_session_is_an_error_for_reading_and_for_writing(opened: Opened) -> None:
    with pytest.raises(StoreError, match="there is no session p9"):
        tuple(opened.store.records("p9"))
    with pytest.raises(StoreError, match="there is no session p9"):
        opened.store.append(Lease("p9", 1), 0, notes(1, 1))


def test_an_event_of_a_newer_patch_is_kept_and_read_as_unknown(opened: Opened) -> None:
    lease = opened.take("p1")
    newer = (
        ev.UnknownEvent("SomethingNew", 1, '{"a":1}'),
        ev.UnknownEvent("NoteAdded", 99, '{"text":"n","more":[]}'),
    )
    opened.store.append(lease, 0, records(1, *newer, ev.NoteAdded("after")))
    found = tuple(opened.store.records("p1"))
    assert [record.event for record in found] == [*newer, ev.NoteAdded("after")]
