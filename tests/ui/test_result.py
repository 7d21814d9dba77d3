"""The result object: always valid against its schema, with a command to go on that works."""

import jsonschema
import pytest

from patch_agent.cli.failures import failure_object
from patch_agent.core import events as ev
from patch_agent.core.reasons import REASONS, Reason, exit_code, status_of
from patch_agent.core.tree import fold
from patch_agent.core.values import Limits
from patch_agent.ui.result import result_object, resume_command, schema
from patch_agent.ui.summary import summary_text
from patch_agent.ui.views import log_text, state_text
from tests.support.records import (
    changed,
    intended,
    observed,
    prompted,
    ran_tests,
    records_of,
    replied,
    report,
    settled,
    started,
)

NO_STAT = {"files": 0, "insertions": 0, "deletions": 0}


def ended(reason: Reason) -> ev.TurnEnded:
    return ev.TurnEnded(status_of(reason), reason, exit_code(reason), "why", 1.5)


@pytest.mark.parametrize("reason", REASONS)
def test_every_end_gives_a_valid_object_and_words(reason: Reason) -> None:
    records = records_of([started(), prompted(), observed("t1"), ended(reason)])
    result = result_object(records, fold(records), NO_STAT)
    jsonschema.validate(result, schema())
    assert (result["reason"], result["exit_code"]) == (reason, exit_code(reason))
    assert summary_text(result)


@pytest.mark.parametrize("reason", REASONS)
def test_a_call_that_never_became_a_run_gives_a_valid_object(reason: Reason) -> None:
    jsonschema.validate(failure_object(reason, "what is wrong"), schema())


def test_a_proved_run_carries_its_evidence() -> None:
    records = records_of(
        [
            started(), prompted(), observed("t1"),
            ran_tests("baseline", 0, "t1", report(1, a="failed", b="passed")),
            intended("c2", 1), changed(1, "t2"), settled("c2"),
            intended("c3", 2, "run_tests", effect="command"),
            ran_tests("complete", 2, "t2", report(0, a="passed", b="passed")),
            settled("c3", "run_tests"), observed("t2", "done_check"), ended("done"),
        ]
    )  # fmt: skip
    result = result_object(records, fold(records), {"files": 1, "insertions": 1, "deletions": 1})
    jsonschema.validate(result, schema())
    assert result["verdict"]["proving_run"]["tree"] == "t2"
    assert result["verdict"]["effect"]["fail_to_pass"] == ["a"]
    assert result["files_changed"] == ["a.py"]
    assert result["resume"] is None
    assert "proof    python -m pytest: 2 passed, step 2, tree t2" in summary_text(result)


def test_a_run_that_was_cut_off_says_so() -> None:
    records = records_of([started(), prompted(), replied(2, "m1")])
    result = result_object(records, fold(records), NO_STAT)
    jsonschema.validate(result, schema())
    assert (result["status"], result["exit_code"]) == ("running", None)
    assert result["resume"] == "patch resume p1"
    assert summary_text(result).startswith("CUT OFF")


@pytest.mark.parametrize(
    ("limits", "reason", "command"),
    [
        (Limits(max_steps=30), "max_steps", "patch resume p1 --max-steps 60"),
        (Limits(max_cost_usd=2.0), "max_cost", "patch resume p1 --max-cost 4.00"),
        (Limits(max_time_s=90), "max_time", "patch resume p1 --max-time 3m"),
        (Limits(), "interrupted", "patch resume p1"),
        (Limits(), "tests_failing", 'patch resume p1 -m "..."'),
    ],
)
def test_the_command_to_go_on_raises_what_ran_out(
    limits: Limits, reason: Reason, command: str
) -> None:
    state = fold(records_of([started(limits=limits), prompted(), ended(reason)]))
    assert resume_command(state) == command


def test_hostile_names_are_shown_as_escapes_everywhere() -> None:
    records = records_of(
        [started(), prompted("\x1b[2J fix"), observed("t1"),
         changed(1, "t2", "\x1b]0;title\x07.py"), ended("tests_failing")]
    )  # fmt: skip
    state = fold(records)
    texts = [
        log_text(records),
        state_text(state),
        summary_text(result_object(records, state, NO_STAT)),
    ]
    assert not any("\x1b" in text or "\x07" in text for text in texts)
