"""The loop: budgets, consent, errors of the model, messages in between; always a recorded end."""

import os
from pathlib import Path

import pytest

from patch_agent.agent.say import PASSED_OVER, say
from patch_agent.core import events as ev
from patch_agent.core.errors import ModelError
from patch_agent.core.events import ApprovalRequested
from patch_agent.core.evidence import TreeObserved
from patch_agent.core.messages import ToolResult
from patch_agent.core.protocols import Answer, ModelReply, ModelRequest
from patch_agent.core.values import Limits
from patch_agent.models.scripted import call, calls
from patch_agent.models.scripted import say as says
from tests.support.harness import Bench, Person
from tests.support.repositories import BROKEN, make_repository

READ = call("read_file", path="calc.py")
FIX = call("edit_file", path="calc.py", edits=[{"old_text": "a - b", "new_text": "a + b"}])
DONE = says("Done.")
FAILED = ModelError("the service is down", code="service_unavailable", retryable=True)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(make_repository(tmp_path / "repo", BROKEN), tmp_path / "home")


def results(request: ModelRequest) -> list[ToolResult]:
    last = request.messages[-1]
    return [block for block in last.content if isinstance(block, ToolResult)]


def test_the_first_message_is_on_disk_before_the_first_model_call(bench: Bench) -> None:
    seen: list[list[str]] = []

    def look(_request: ModelRequest) -> ModelReply:
        seen.append([type(event).__name__ for event in bench.events])
        return READ

    bench.start([look, FIX, DONE]).run()
    assert seen[0][:2] == ["SessionStarted", "UserPrompted"]
    assert seen[0][-1] == "ModelRequested"


def test_the_intent_is_on_disk_before_a_command_acts(bench: Bench) -> None:
    bench.start([call("run_command", command="true"), READ, FIX, DONE]).run()
    kinds = [type(event).__name__ for event in bench.events]
    intent = next(
        i for i, e in enumerate(bench.events)
        if isinstance(e, ev.EffectIntended) and e.tool == "run_command"
    )  # fmt: skip
    assert "EffectSettled" in kinds[intent:]
    assert kinds.index("ModelReplied") < intent


def test_the_step_limit_ends_a_run_that_can_be_resumed(bench: Bench) -> None:
    opened = bench.start([READ, READ, READ], limits=Limits(max_steps=2))
    ended = opened.run()
    assert (ended.reason, ended.exit_code, ended.status) == ("max_steps", 5, "stopped")
    again = bench.resume([FIX, DONE])
    again.session.record(ev.SessionResumed(Limits(max_steps=30), "scripted"))
    assert again.run().exit_code == 0


def test_a_run_at_its_limit_that_is_proved_is_done(bench: Bench) -> None:
    opened = bench.start([READ, FIX], limits=Limits(max_steps=2))
    assert opened.run().exit_code == 0
    assert opened.state.step == 3


def test_the_cost_limit_ends_a_run(bench: Bench) -> None:
    dear = ModelReply(READ.content, "tool_use", cost_usd=5.0)
    ended = bench.start([dear, READ], limits=Limits(max_cost_usd=2.0)).run()
    assert (ended.reason, ended.exit_code) == ("max_cost", 5)


def test_a_model_that_declines_ends_with_its_words(bench: Bench) -> None:
    ended = bench.start([says("I would rather not.", stop_reason="refusal")]).run()
    assert (ended.reason, ended.exit_code, ended.text) == ("declined", 1, "I would rather not.")


def test_a_service_that_is_down_stops_the_run_and_it_goes_on_later(bench: Bench) -> None:
    ended = bench.start([READ, FAILED]).run()
    assert (ended.reason, ended.exit_code) == ("service_unavailable", 7)
    again = bench.resume([FIX, DONE])
    again.session.record(ev.SessionResumed(Limits(), "scripted"))
    assert again.run().exit_code == 0


# --- Consent ----------------------------------------------------------------------------


def test_without_a_word_nothing_runs_and_the_run_waits(bench: Bench) -> None:
    bench.person.answer = "later"
    opened = bench.start([READ])
    ended = opened.run()
    assert (ended.reason, ended.exit_code) == ("approval_needed", 6)
    assert opened.model.requests == []
    assert not any(isinstance(event, ev.EffectIntended) for event in bench.events)
    bench.person = Person("yes")
    assert bench.resume([READ, FIX, DONE]).run().exit_code == 0


def test_tests_are_asked_for_once(bench: Bench) -> None:
    bench.start([call("run_tests"), READ, FIX, call("run_tests"), DONE]).run()
    assert [request.kind for request in bench.person.asked] == ["tests"]


def test_each_command_is_asked_for_with_its_text(bench: Bench) -> None:
    bench.start([call("run_command", command="echo one"), call("run_command", command="echo two"),
                 READ, FIX, DONE]).run()  # fmt: skip
    asked = [request.preview for request in bench.person.asked if request.kind == "command"]
    assert asked == ["echo one", "echo two"]


def test_a_refused_command_is_told_to_the_model_and_the_run_goes_on(bench: Bench) -> None:
    bench.person.answer = lambda request: "no" if request.kind == "command" else "yes"
    marker = bench.root / "marker"
    opened = bench.start([call("run_command", command=f"touch {marker}"), READ, FIX, DONE])
    assert opened.run().exit_code == 0
    assert not marker.exists()
    assert "did not allow" in results(opened.model.requests[1])[0].content


def test_what_is_dangerous_is_marked_for_whoever_decides(bench: Bench) -> None:
    def decide(request: ApprovalRequested) -> Answer:
        return "later" if request.dangerous else "yes"

    bench.person.answer = decide
    ended = bench.start([call("run_command", command="git push origin main")]).run()
    assert (ended.reason, ended.exit_code) == ("approval_needed", 6)
    assert (
        bench.person.asked[-1].question == "Run this command? It sends commits to another machine."
    )


def test_calls_before_the_one_that_waits_are_settled(bench: Bench) -> None:
    bench.person.answer = lambda request: "later" if request.kind == "command" else "yes"
    reply = calls(
        ("read_file", {"path": "calc.py"}),
        ("run_command", {"command": "true"}),
        ("read_file", {"path": "conftest.py"}),
    )
    opened = bench.start([reply])
    assert opened.run().exit_code == 6
    assert [item.status for item in opened.state.calls] == ["settled", "queued", "queued"]
    bench.person = Person("yes")
    again = bench.resume([FIX, DONE])
    assert again.run().exit_code == 0
    assert [item.call_id for item in results(again.model.requests[0])] == ["c2", "c3", "c4"]


# --- Calls that cannot be made ------------------------------------------------------------


def test_bad_calls_are_answered_with_what_is_wrong(bench: Bench) -> None:
    opened = bench.start(
        [call("fly"), call("read_file", file="calc.py"), call("read_file", path="gone.py"),
         READ, FIX, DONE]
    )  # fmt: skip
    assert opened.run().exit_code == 0
    told = [results(request)[0].content for request in opened.model.requests[1:4]]
    assert told[0].startswith("There is no tool 'fly'. The tools are: read_file")
    assert told[1].startswith("The call was not made: ")
    assert told[2].startswith("There is no file gone.py")


def test_an_edit_of_a_file_that_was_not_read_is_refused(bench: Bench) -> None:
    opened = bench.start([FIX, READ, FIX, DONE])
    assert opened.run().exit_code == 0
    assert "was not read" in results(opened.model.requests[1])[0].content


# --- Someone else ------------------------------------------------------------------------


def test_what_the_user_did_before_is_not_in_the_diff(bench: Bench) -> None:
    (bench.root / "mine.txt").write_text("my own work\n")
    (bench.root / "conftest.py").write_text("# mine\n")
    opened = bench.start([READ, FIX, DONE])
    assert opened.run().exit_code == 0
    assert "mine" not in opened.diff()
    assert list(opened.state.files_changed) == ["calc.py"]


def test_a_message_in_between_answers_what_was_open(bench: Bench) -> None:
    bench.person.answer = lambda request: "later" if request.kind == "command" else "yes"
    assert bench.start([call("run_command", command="true")]).run().exit_code == 6
    again = bench.resume([READ, FIX, DONE])
    say(again.session, "Do not run commands.")
    again.session.record(ev.SessionResumed(Limits(), "scripted"))
    assert again.run().exit_code == 0
    messages = again.model.requests[0].messages
    assert [m.role for m in messages] == ["user", "assistant", "user", "user"]
    assert messages[2].content == (ToolResult("c2", PASSED_OVER, is_error=True),)
    assert messages[3].text == "Do not run commands."


# --- Interrupts and crashes ---------------------------------------------------------------


def test_ctrl_c_while_the_model_thinks_ends_the_run_and_it_goes_on(bench: Bench) -> None:
    def interrupt(_request: ModelRequest) -> ModelReply:
        raise KeyboardInterrupt

    ended = bench.start([READ, interrupt]).run()
    assert (ended.reason, ended.exit_code) == ("interrupted", 130)
    again = bench.resume([FIX, DONE])
    again.session.record(ev.SessionResumed(Limits(), "scripted"))
    assert again.run().exit_code == 0


class Crash(BaseException):
    """Ends the run as kill -9 would: nothing more is recorded."""


def crash(_request: ModelRequest) -> ModelReply:
    raise Crash


def test_a_crash_in_a_model_call_costs_that_call_only(bench: Bench) -> None:
    with pytest.raises(Crash):
        bench.start([READ, crash]).run()
    assert bench.resume([FIX, DONE]).run().exit_code == 0


def test_an_edit_that_was_made_before_a_crash_is_found_by_looking(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = bench.start([READ, FIX])
    monkeypatch.setattr(opened.effects, "_settle", _crash_for("edit_file", opened.effects._settle))
    with pytest.raises(Crash):
        opened.run()
    assert "a + b" in (bench.root / "calc.py").read_text()
    again = bench.resume([DONE])
    assert again.run().exit_code == 0
    told = results(again.model.requests[0])[0]
    assert (told.is_error, "was applied" in told.content) == (False, True)
    assert list(again.state.files_changed) == ["calc.py"]


def test_an_edit_that_was_not_made_before_a_crash_is_made_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = bench.start([READ, FIX])
    monkeypatch.setattr(os, "rename", _crash)
    with pytest.raises(Crash):
        opened.run()
    monkeypatch.undo()
    assert "a - b" in (bench.root / "calc.py").read_text()
    assert sorted(p.name for p in bench.root.iterdir()) == [
        ".git", "calc.py", "conftest.py", "tests",
    ]  # fmt: skip
    again = bench.resume([DONE])
    assert again.run().exit_code == 0


def test_a_command_cut_off_by_a_crash_is_never_run_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = "echo ran >> ran.txt && sed -i 's/a - b/a + b/' calc.py"
    opened = bench.start([call("run_command", command=command)])
    settle = _crash_for("run_command", opened.effects._settle)
    monkeypatch.setattr(opened.effects, "_settle", settle)
    with pytest.raises(Crash):
        opened.run()
    again = bench.resume([DONE])
    assert again.run().exit_code == 0
    assert (bench.root / "ran.txt").read_text() == "ran\n"
    told = results(again.model.requests[0])[0]
    assert told.is_error
    assert "Outcome unknown" in told.content
    assert "calc.py, ran.txt" in told.content
    assert again.state.last_edit_step == 1


def _crash(*_args: object) -> None:
    raise Crash


def _crash_for(tool: str, settle):  # type: ignore[no-untyped-def]
    def wrapped(intent, *rest):  # type: ignore[no-untyped-def]
        if intent.tool == tool:
            raise Crash
        settle(intent, *rest)

    return wrapped


def test_changes_made_while_no_process_ran_are_someone_elses(bench: Bench) -> None:
    assert bench.start([READ, FAILED]).run().exit_code == 7
    (bench.root / "calc.py").write_text(BROKEN["calc.py"] + "# mine\n")
    again = bench.resume([FIX, READ, FIX, DONE])
    again.session.record(ev.SessionResumed(Limits(), "scripted"))
    assert again.run().exit_code == 0
    assert "changed on disk since you read it" in results(again.model.requests[1])[0].content
    looks = [event for event in bench.events if isinstance(event, TreeObserved)]
    assert [c.path for look in looks for c in look.changes] == ["calc.py"]


def test_a_fault_in_a_tool_is_told_to_the_model_and_the_run_goes_on(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_args: object) -> object:
        raise PermissionError(13, "Permission denied")

    opened = bench.start([READ, call("write_file", path="x.py", content="x"), FIX, DONE])
    monkeypatch.setattr("patch_agent.tools.write_file.resolve", broken)
    assert opened.run().exit_code == 0
    assert "Permission denied" in results(opened.model.requests[2])[0].content
