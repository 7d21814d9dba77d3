"""What runs next follows from the state, and budgets are checked in one place."""

from dataclasses import replace

import pytest

from patch_agent.core import events as ev
from patch_agent.core import planner as plan_
from patch_agent.core.messages import ToolCall
from patch_agent.core.propose import propose, to_protocol
from patch_agent.core.state import State
from patch_agent.core.values import Action, Limits, Trigger
from tests.support.records import (
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

CALL = ToolCall("c1", "read_file", {"path": "a.py"})
START = Trigger("session.start")


def decided(trigger: Trigger, *actions: Action) -> ev.DecisionCompleted:
    return ev.DecisionCompleted("d", trigger, actions)


BEGUN = (
    started(baseline_wanted=False),
    decided(START),
    prompted(),
    decided(Trigger("client.messages", "m1"), Action("llm.call")),
    observed("t0"),
)
REPLIED = (
    *BEGUN,
    replied(2, "m1", CALL),
    decided(Trigger("llm.finished", "m2"), Action("tool.call", "c1")),
)


def test_decisions_come_first_then_the_look_then_the_baseline_then_the_model() -> None:
    events: list[ev.Event] = [started(), prompted()]
    assert plan_.plan(state_of(*events), 0.0) == plan_.Decide(START)
    events += [decided(START)]
    assert plan_.plan(state_of(*events), 0.0) == plan_.Decide(Trigger("client.messages", "m1"))
    events += [decided(Trigger("client.messages", "m1"), Action("llm.call"))]
    assert plan_.plan(state_of(*events), 0.0) == plan_.ObserveStart()
    events += [observed("t0")]
    assert plan_.plan(state_of(*events), 0.0) == plan_.RunBaseline()
    events += [ran_tests("baseline", 0, "t0", report(0, a="passed"))]
    assert plan_.plan(state_of(*events), 0.0) == plan_.CallModel()


def test_calls_run_in_order_and_results_are_delivered_before_the_next_request() -> None:
    assert plan_.plan(state_of(*REPLIED), 0.0) == plan_.RunCall(CALL)
    done: tuple[ev.Event, ...] = REPLIED
    done += (intended("c1", 1, "read_file", effect="read"), settled("c1", "read_file"))
    assert plan_.plan(state_of(*done), 0.0) == plan_.Decide(Trigger("tool.finished", "c1"))
    done = (*done, decided(Trigger("tool.finished", "c1"), Action("llm.call")))
    assert plan_.plan(state_of(*done), 0.0) == plan_.DeliverResults()
    done = (*done, ev.ResultsDelivered("m3", "m2"))
    assert plan_.plan(state_of(*done), 0.0) == plan_.CallModel()


def test_an_open_question_comes_before_everything_but_decisions() -> None:
    request = ev.ApprovalRequested("c1", "command", "Run?", "ls", "hash")
    assert plan_.plan(state_of(*REPLIED, request), 0.0) == plan_.AwaitApproval(request)


@pytest.mark.parametrize(
    ("limits", "elapsed", "reason"),
    [
        (Limits(max_steps=1), 0.0, "max_steps"),
        (Limits(max_time_s=5.0), 6.0, "max_time"),
        (Limits(max_cost_usd=0.01), 0.0, "max_cost"),
        (Limits(max_cost_usd=0.0), 0.0, "max_cost"),
    ],
)
def test_a_budget_that_is_used_up_leads_to_a_last_check(
    limits: Limits, elapsed: float, reason: str
) -> None:
    spent = (*REPLIED, ev.CallRejected("c1", "read_file", 1, "no", "invalid"))
    state = replace(state_of(*spent), limits=limits, calls=(), due=(), model_call_due=True)
    assert plan_.plan(state, elapsed) == plan_.CheckDone(Action("done"), out_of=reason)  # type: ignore[arg-type]


def test_an_unknown_price_is_limited_by_tokens() -> None:
    state = State(cost_usd=None, tokens=1000, limits=Limits(max_tokens=1000))
    assert plan_.budget_spent(state, 0.0) == "max_cost"
    assert "1,000 of 1,000 tokens" in plan_.explain_budget(state, "max_cost")


def test_a_free_model_never_spends_its_cost_limit() -> None:
    assert plan_.budget_spent(State(limits=Limits(max_cost_usd=0.0)), 0.0) is None


@pytest.mark.parametrize(
    ("stop", "expected"),
    [
        ("end_turn", Action("done", text="bye")),
        ("refusal", Action("done", reason="declined", text="bye")),
        ("gave_up", Action("done", reason="gave_up", text="bye")),
        ("pause_turn", Action("llm.call")),
    ],
)
def test_the_end_of_a_reply_is_never_a_silent_done(stop: str, expected: Action) -> None:
    state = state_of(*BEGUN, replied(2, "m1", text="bye", stop=stop))
    assert propose(state, Trigger("llm.finished", "m2")) == (expected,)


def test_a_proposal_is_the_same_each_time_and_has_the_shape_of_the_protocol() -> None:
    state = state_of(*BEGUN, replied(2, "m1", CALL))
    trigger = Trigger("llm.finished", "m2")
    actions = propose(state, trigger)
    assert actions == propose(state, trigger)
    assert to_protocol(state, actions) == {
        "actions": [
            {
                "type": "tool.call",
                "call_id": "c1",
                "name": "read_file",
                "arguments": {"path": "a.py"},
            }
        ]
    }
    assert to_protocol(state, ()) == {}
