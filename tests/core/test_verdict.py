"""The done check: what counts, what does not, and what the refusal says."""

from dataclasses import replace

from patch_agent.core import verdict as checks
from patch_agent.core.evidence import FilesChanged
from patch_agent.core.state import State
from patch_agent.core.testing import TestReport
from patch_agent.core.values import FileChange
from patch_agent.core.verdict import verdict
from tests.support.records import (
    PYTEST,
    changed,
    observed,
    prompted,
    ran_tests,
    report,
    started,
    state_of,
)

BASELINE = report(1, a="failed", b="passed")
GREEN = report(0, a="passed", b="passed")


def fixed_state(*last: object) -> State:
    """A run that failed before, was edited at step 1 and passed at step 2, then `last`."""
    return state_of(
        started(),
        prompted(),
        observed("t0"),
        ran_tests("baseline", 0, "t0", BASELINE),
        changed(1, "t1"),
        ran_tests("complete", 2, "t1", GREEN),
        observed("t1", "done_check"),
        *last,  # type: ignore[arg-type]
    )


def test_a_pass_after_the_last_change_on_the_tree_that_is_there_is_done() -> None:
    found = verdict(fixed_state())
    assert (found.grade, found.required, found.met, found.reason) == (
        "proven",
        "no-regressions",
        True,
        "done",
    )
    assert found.effect is not None
    assert found.effect.text == "1 test fail→pass, 0 regressions, 1 pass→pass"
    assert checks.tests_still_pass(fixed_state())


def test_an_edit_after_the_pass_asks_for_a_new_run() -> None:
    found = verdict(fixed_state(changed(3, "t2")))
    assert (found.met, found.needs_test_run, found.reason) == (False, True, "grade_too_low")
    assert not checks.tests_still_pass(fixed_state(changed(3, "t2")))


def test_a_change_from_outside_after_the_pass_asks_for_a_new_run() -> None:
    found = verdict(fixed_state(observed("t9", "done_check")))
    assert (found.met, found.needs_test_run) == (False, True)


def test_an_edit_taken_back_is_no_change() -> None:
    back = changed(3, "t0", before="new1", after="old")
    found = verdict(fixed_state(back))
    assert (found.met, found.reason) == (False, "no_change")


def test_allow_empty_lets_an_unchanged_run_count() -> None:
    state = state_of(
        started(allow_empty=True, baseline_wanted=False),
        prompted(),
        observed("t0"),
        ran_tests("complete", 1, "t0", GREEN),
    )
    assert verdict(state).met


def test_only_what_the_tests_themselves_changed_is_no_change_of_the_run() -> None:
    by_tests = FilesChanged(0, "t1", (FileChange("out.txt", "added", None, "x"),), "tests")
    state = state_of(
        started(),
        prompted(),
        observed("t0"),
        by_tests,
        ran_tests("baseline", 0, "t0", GREEN),
    )
    assert verdict(state).reason == "no_change"


def test_failing_tests_say_which() -> None:
    red = ran_tests("complete", 4, "t1", report(1, a="failed", b="passed"))
    found = verdict(fixed_state(red))
    assert found.reason == "tests_failing"
    assert found.reasons == (
        "`python -m pytest` ended with exit code 1.",
        "Failing now: a.",
    )


def test_zero_tests_and_skipped_tests_are_no_pass() -> None:
    for nothing in (report(5), report(0), report(0, a="skipped", b="skipped")):
        found = verdict(fixed_state(ran_tests("complete", 4, "t1", nothing)))
        assert (found.met, found.reason) == (False, "no_tests_ran")


def test_an_exit_code_of_zero_with_a_failed_test_or_a_broken_file_is_no_pass() -> None:
    lying = report(0, a="failed", b="passed")
    broken = replace(GREEN, collection_errors=("x.py",))
    for run in (lying, broken):
        found = verdict(fixed_state(ran_tests("complete", 4, "t1", run)))
        assert (found.met, found.reason) == (False, "tests_failing")


def test_a_time_out_is_not_an_exit_code() -> None:
    cut = TestReport("pytest", PYTEST, ".", "timeout", None, 600.0, {"a": "passed"})
    found = verdict(fixed_state(ran_tests("complete", 4, "t1", cut)))
    assert found.reason == "tests_failing"
    assert "ran into its time limit" in found.reasons[0]


def test_a_test_that_vanished_or_is_skipped_now_is_a_regression() -> None:
    for run in (report(0, a="passed"), report(0, a="passed", b="skipped")):
        found = verdict(fixed_state(ran_tests("complete", 4, "t1", run)))
        assert (found.grade, found.met, found.reason) == ("passing", False, "grade_too_low")
        assert found.reasons == ("These tests passed before and did not run and pass now: b.",)


def test_without_a_baseline_passing_is_enough() -> None:
    state = state_of(
        started(baseline_wanted=False),
        prompted(),
        observed("t0"),
        changed(1, "t1"),
        ran_tests("complete", 2, "t1", GREEN),
    )
    found = verdict(state)
    assert (found.grade, found.required, found.met) == ("passing", "passing", True)


def test_without_a_failing_test_at_the_start_the_grade_is_no_regressions() -> None:
    state = state_of(
        started(),
        prompted(),
        observed("t0"),
        ran_tests("baseline", 0, "t0", GREEN),
        changed(1, "t1"),
        ran_tests("complete", 2, "t1", GREEN),
    )
    assert (verdict(state).grade, verdict(state).met) == ("no-regressions", True)


def test_without_a_test_command_nothing_is_proved() -> None:
    state = state_of(started(test_commands=()), prompted(), observed("t0"), changed(1, "t1"))
    assert verdict(state).reason == "no_test_command"


def test_a_partial_run_proves_nothing() -> None:
    partial = ran_tests("partial", 4, "t2", GREEN)
    found = verdict(fixed_state(changed(3, "t2"), partial))
    assert (found.met, found.needs_test_run) == (False, True)


def test_a_changed_protected_file_blocks_the_verdict() -> None:
    edit = changed(3, "t2", path="tests/test_a.py", protected=True)
    found = verdict(fixed_state(edit, ran_tests("complete", 4, "t2", GREEN)))
    assert (found.met, found.reason) == (False, "tests_changed")
    assert "tests/test_a.py" in found.reasons[0]


def test_tests_that_change_files_are_named() -> None:
    by_tests = FilesChanged(2, "t2", (FileChange("data.json", "modified", "a", "b"),), "tests")
    found = verdict(fixed_state(by_tests))
    assert found.needs_test_run
    assert "The tests themselves change files: data.json." in found.reasons[0]


def test_tests_of_a_file_that_did_not_load_before_count_as_repaired() -> None:
    broken = replace(report(2), collection_errors=("tests/test_a.py",))
    state = state_of(
        started(),
        prompted(),
        observed("t0"),
        ran_tests("baseline", 0, "t0", broken),
        changed(1, "t1"),
        ran_tests("complete", 2, "t1", GREEN),
    )
    assert verdict(state).grade == "proven"


def test_new_output_of_the_proving_run_is_no_change() -> None:
    output = FilesChanged(2, "t2", (FileChange("report.xml", "added", None, "x"),), "tests")
    state = fixed_state(output, observed("t2", "done_check"))
    assert verdict(state).met
    assert list(state.net_changes) == ["a.py", "report.xml"]
    assert state.left_behind == ("report.xml",)
    assert state.last_edit_step == 1


def test_new_output_of_an_older_run_is_no_excuse_for_another_tree() -> None:
    output = FilesChanged(2, "t2", (FileChange("report.xml", "added", None, "x"),), "tests")
    assert not verdict(fixed_state(output, observed("t3", "done_check"))).met
    assert not verdict(fixed_state(output, changed(3, "t3"))).met


def test_code_that_a_test_run_wrote_is_a_change() -> None:
    for path in ("conftest.py", "pkg/new.py", "x.pth", "pytest.ini"):
        wrote = FilesChanged(2, "t2", (FileChange(path, "added", None, "x"),), "tests")
        state = fixed_state(wrote, observed("t2", "done_check"))
        assert not verdict(state).met
        assert path in state.net_changes
