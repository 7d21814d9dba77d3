"""Round trips over the whole event union, versions, and what newer programs wrote."""

import json
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from patch_agent.core import codec
from patch_agent.core import events as ev
from patch_agent.core.evidence import TestsRan
from patch_agent.core.messages import Message, Opaque, Text, ToolCall, ToolResult
from patch_agent.core.state import State
from patch_agent.core.state_view import encode_state
from tests.support.records import report

TEXT = st.text(st.characters(exclude_categories=()), max_size=12)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
st.register_type_strategy(str, TEXT)
st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))
BLOCKS = st.one_of(
    st.builds(Text, text=TEXT),
    st.builds(
        ToolCall, id=TEXT, name=TEXT, arguments=st.none() | st.dictionaries(TEXT, JSON, max_size=3)
    ),
    st.builds(ToolResult),
    st.builds(Opaque),
)
st.register_type_strategy(
    Message,
    st.builds(Message, id=TEXT, role=st.sampled_from(["user", "assistant"]),
              content=st.lists(BLOCKS, max_size=3).map(tuple)),
)  # fmt: skip
KINDS = [kind for kind in get_args(ev.Event) if kind is not ev.UnknownEvent]


def made(kind: type) -> st.SearchStrategy[Any]:
    if kind is ev.SessionStarted:
        return st.builds(kind, settings=st.dictionaries(TEXT, JSON, max_size=3))
    return st.builds(kind)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_decoding_what_was_encoded_gives_the_event_back(kind: type) -> None:
    @settings(max_examples=25, deadline=None)
    @given(made(kind))
    def check(event: Any) -> None:
        name, version, body = codec.encode(event)
        assert (name, version) == (kind.__name__, codec.VERSIONS[kind.__name__])
        assert body.isascii()
        assert codec.decode(name, version, body) == event

    check()


def test_every_event_has_a_version() -> None:
    assert set(codec.VERSIONS) == {kind.__name__ for kind in KINDS}


def test_an_event_of_a_newer_patch_is_kept_as_it_is() -> None:
    body = '{"b": 1.0, "a": [1e3]}'
    for name, version in (("TurnEnded", 99), ("Teleported", 1)):
        event = codec.decode(name, version, body)
        assert event == ev.UnknownEvent(name, version, body)
        assert codec.encode(event) == (name, version, body)


def test_fields_that_an_old_log_lacks_get_their_defaults() -> None:
    name, version, body = codec.encode(ev.EffectUnknown("c1", "t", "read", "x", again=True))
    old = json.loads(body)
    del old["again"]
    event = codec.decode(name, version, json.dumps(old))
    assert event == ev.EffectUnknown("c1", "t", "read", "x", again=False)
    del old["found"]
    with pytest.raises(ValueError, match="found is missing"):
        codec.decode(name, version, json.dumps(old))


def test_an_old_version_is_raised_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(codec.VERSIONS, "NoteAdded", 3)
    monkeypatch.setitem(codec.UPCASTERS, ("NoteAdded", 1), lambda body: {"words": body["note"]})
    monkeypatch.setitem(codec.UPCASTERS, ("NoteAdded", 2), lambda body: {"text": body["words"]})
    assert codec.decode("NoteAdded", 1, '{"note":"x"}') == ev.NoteAdded("x")


def test_text_that_is_no_number_cannot_enter_the_log() -> None:
    event = ev.TurnEnded("done", "done", 0, "", float("nan"))
    with pytest.raises(ValueError, match="JSON"):
        codec.encode(event)


def test_the_hash_depends_on_every_part() -> None:
    place = {"seq": 1, "node": "m1", "type": "X"}
    base = codec.record_hash("", place, "{}")
    assert base == codec.record_hash("", dict(reversed(place.items())), "{}")
    others = [
        codec.record_hash("0", place, "{}"),
        codec.record_hash("", place | {"seq": 2}, "{}"),
        codec.record_hash("", place, "{} "),
    ]
    assert len({base, *others}) == 4


def test_a_state_is_shown_with_every_field() -> None:
    shown = encode_state(State(last_test=None))
    assert {
        "step",
        "files_read",
        "last_edit_step",
        "messages",
        "max_steps",
        "pending_approval",
    } <= set(shown)
    assert "path" not in shown
    json.dumps(shown)


def test_a_report_in_a_fact_comes_back_with_its_outcomes() -> None:
    event = TestsRan("complete", 3, "t1", (report(0, a="passed"),))
    assert codec.decode(*codec.encode(event)) == event
