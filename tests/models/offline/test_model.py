"""What the offline model says next, for every turn that a conversation can take."""

import json

import pytest

from patch_agent.core.messages import Json, Message, Text, ToolCall, ToolResult, user_message
from patch_agent.core.protocols import ModelReply
from patch_agent.models.offline.model import decide

PASSING = "[Patch] Test command: `p`. Before any edit it passes (2 passed)."
Turn = tuple[str, dict[str, Json], str, bool]

FAILING = ("Fix it.", "[Patch] Test command: `p`. Before any edit: 1 failed.\n- t.py::test_a")
FIRST = {
    "path": "m.py", "line": 30, "old_text": "a < b", "new_text": "a <= b",
    "operator": "swap_comparison", "why": "the comparison was wrong", "score": 1.0,
}  # fmt: skip
SECOND = {**FIRST, "line": 31, "old_text": "c", "new_text": "d"}
FOUND = {
    "repairs": [FIRST, SECOND], "suspects": [], "candidates": 50, "tried": 50, "plausible": 2,
    "left_alone": [], "complete": True, "problem": "",
}  # fmt: skip
NOTHING = {
    **FOUND, "repairs": [], "plausible": 0, "left_alone": ["m.py:save (it calls open)"],
    "suspects": [{"path": "m.py", "line": 3, "score": 1.0, "source": "return a"}],
}  # fmt: skip
SEARCH = ("repair_search", {"task": "Fix it."}, json.dumps(FOUND), False)
READ = ("read_file", {"path": "m.py", "start_line": 10}, "m.py: ...", False)
EDIT = ("edit_file", {"path": "m.py", "edits": [{"old_text": "a < b", "new_text": "a <= b"}]},
        "m.py changed", False)  # fmt: skip
BACK = ("edit_file", {"path": "m.py", "edits": [{"old_text": "a <= b", "new_text": "a < b"}]},
        "m.py changed", False)  # fmt: skip
PASSED: Turn = ("run_tests", {}, "PASSED: 2 passed.", False)
FAILED: Turn = ("run_tests", {}, "FAILED: 1 failed.\n--- t.py::test_a\nassert", True)


def conversation(*turns: Turn, said: tuple[str, ...] = FAILING) -> tuple[Message, ...]:
    messages = [Message("m1", "user", tuple(Text(text) for text in said))]
    for number, (name, arguments, content, is_error) in enumerate(turns):
        call = ToolCall(f"c{number}", name, arguments)
        messages.append(Message(f"m{len(messages) + 1}", "assistant", (call,)))
        result = ToolResult(f"c{number}", content, is_error)
        messages.append(Message(f"m{len(messages) + 1}", "user", (result,)))
    return tuple(messages)


def call_of(reply: ModelReply) -> tuple[str, dict[str, Json] | None]:
    (call,) = reply.content
    assert isinstance(call, ToolCall)
    return call.name, call.arguments


def text_of(reply: ModelReply) -> str:
    (text,) = reply.content
    assert isinstance(text, Text)
    return text.text


@pytest.mark.parametrize(
    ("turns", "wanted"),
    [
        ((), ("repair_search", {"task": "Fix it."})),
        ((SEARCH,), ("read_file", {"path": "m.py", "start_line": 10})),
        ((SEARCH, READ), EDIT[:2]),
        ((SEARCH, READ, EDIT), ("run_tests", {})),
        ((SEARCH, READ, EDIT, FAILED), BACK[:2]),
        ((SEARCH, READ, EDIT, FAILED, BACK), ("read_file", {"path": "m.py", "start_line": 11})),
    ],
)
def test_the_next_call(turns: tuple[Turn, ...], wanted: tuple[str, dict[str, Json]]) -> None:
    assert call_of(decide(conversation(*turns))) == wanted


def test_the_tests_are_run_first_when_nobody_did() -> None:
    skipped = ("Fix it.", "[Patch] Test command: `p`. It was not run before the first edit.")
    assert call_of(decide(conversation(said=skipped))) == ("run_tests", {})
    assert call_of(decide(conversation(FAILED, said=skipped)))[0] == "repair_search"


def test_success_says_what_was_wrong_and_how_sure_it_is() -> None:
    reply = decide(conversation(SEARCH, READ, EDIT, PASSED))
    assert reply.stop_reason == "end_turn"
    assert text_of(reply) == (
        "m.py, line 30: the comparison was wrong. `a < b` is now `a <= b`. 1 other edit would pass "
        "the tests too; please check that this is what was meant."
    )


@pytest.mark.parametrize(
    ("turns", "said", "words"),
    [
        (
            (),
            ("x", PASSING),
            "No test fails",
        ),
        ((), ("Not done yet: tests fail.",), "not satisfied"),
        ((PASSED,), ("x",), "No test fails"),
        ((("run_tests", {}, "NO TESTS RAN: none.", True),), ("x",), "cannot be run as they are"),
        ((("repair_search", {}, "A person did not allow this.", True),), FAILING, "not allowed"),
        ((("repair_search", {}, json.dumps(NOTHING), False),), FAILING, "I found no repair"),
        ((SEARCH, (*READ[:2], "There is no file m.py", True)), FAILING, "read_file did not work"),
        ((SEARCH, READ, (*EDIT[:2], "changed on disk", True)), FAILING, "edit_file did not work"),
        (
            (SEARCH, READ, EDIT, FAILED, BACK, READ, EDIT, FAILED, BACK),
            FAILING,
            "did not pass here",
        ),
    ],
)
def test_giving_up_says_why(turns: tuple[Turn, ...], said: tuple[str, ...], words: str) -> None:
    reply = decide(conversation(*turns, said=said))
    assert reply.stop_reason == "gave_up"
    assert words in text_of(reply)


@pytest.mark.parametrize("words", ["Stopped by the user before it ended.", "Outcome unknown: x"])
def test_what_was_cut_off_is_done_again(words: str) -> None:
    cut_search = (*SEARCH[:2], words, True)
    cut_tests: Turn = ("run_tests", {}, words, True)
    assert call_of(decide(conversation(cut_search))) == SEARCH[:2]
    assert call_of(decide(conversation(cut_search, SEARCH)))[0] == "read_file"
    assert call_of(decide(conversation(SEARCH, READ, EDIT, cut_tests))) == ("run_tests", {})
    assert decide(conversation(SEARCH, READ, EDIT, cut_tests, PASSED)).stop_reason == "end_turn"


def test_no_repair_names_suspects_what_was_left_alone_and_what_else_to_do() -> None:
    text = text_of(decide(conversation(("repair_search", {}, json.dumps(NOTHING), False))))
    assert "50 of 50 small edits were tried." in text
    assert "  m.py:3: return a" in text
    assert "m.py:save (it calls open)" in text
    assert "ANTHROPIC_API_KEY" in text


def test_a_new_message_begins_anew() -> None:
    messages = (*conversation(SEARCH, READ, EDIT, PASSED), user_message("m99", "And now?"))
    assert call_of(decide(messages)) == ("run_tests", {})
