"""The only place where evidence fields of the state are set, and only from evidence events."""

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from patch_agent.core.evidence import (
    BaselineSkipped,
    EvidenceEvent,
    FileRead,
    FilesChanged,
    FileWritten,
    TestsRan,
    TreeObserved,
)
from patch_agent.core.state import FileSeen, FileTouched, State, TestRun, is_test_output
from patch_agent.core.values import FileChange, LineRange


def apply_evidence(state: State, event: EvidenceEvent) -> State:
    """The state after one fact."""
    match event:
        case FileRead():
            return _file_read(state, event)
        case FileWritten():
            return _file_written(state, event)
        case FilesChanged():
            return _files_changed(state, event)
        case TreeObserved():
            return _tree_observed(state, event)
        case TestsRan():
            return _tests_ran(state, event)
        case BaselineSkipped():
            return replace(state, baseline_skipped=event.why)
    assert_never(event)


def _file_read(state: State, event: FileRead) -> State:
    seen = state.files_read.get(event.path)
    same = seen is not None and seen.sha256 == event.sha256
    ranges = merge_ranges((*(seen.ranges if seen and same else ()), *event.ranges))
    files = {**state.files_read, event.path: FileSeen(event.sha256, ranges)}
    return replace(state, files_read=files)


def _file_written(state: State, event: FileWritten) -> State:
    files = {path: seen for path, seen in state.files_read.items() if path != event.path}
    if event.sha256:
        files[event.path] = FileSeen(event.sha256, merge_ranges(event.ranges))
    return replace(state, files_read=files)


def _files_changed(state: State, event: FilesChanged) -> State:
    files = dict(state.files_changed)
    for change in event.changes:
        files[change.path] = _touch(files.get(change.path), change, event.during == "tests")
    if event.during == "tests" and all(
        is_test_output(c.path, files[c.path]) for c in event.changes
    ):
        return _with_test_output(replace(state, files_changed=files, tree=event.tree), event)
    changed_by_tests = state.changed_by_tests
    if event.during == "tests":
        changed_by_tests = tuple(change.path for change in event.changes)
    return replace(
        state,
        files_changed=files,
        last_edit_step=max(state.last_edit_step, event.step),
        changed_by_tests=changed_by_tests,
        tree=event.tree,
    )


def _with_test_output(state: State, event: FilesChanged) -> State:
    # A run that leaves nothing but output still speaks for the tree that is there now.
    run = state.last_test
    if run is None or run.after_step != event.step:
        return state
    return replace(state, last_test=replace(run, tree_after=event.tree))


def _touch(known: FileTouched | None, change: FileChange, by_tests: bool) -> FileTouched:
    if known is None:
        known = FileTouched(
            change.before, change.before_mode, None, "", change.protected, by_tests=True
        )
    return replace(
        known,
        latest=change.after,
        latest_mode=change.after_mode,
        protected=known.protected or change.protected,
        by_tests=known.by_tests and by_tests,
    )


def _tree_observed(state: State, event: TreeObserved) -> State:
    outside = {**state.outside_changes, **{change.path: change for change in event.changes}}
    notices = tuple(dict.fromkeys((*state.notices, *event.notes)))
    return replace(
        state,
        tree=event.tree,
        start_tree=state.start_tree or event.tree,
        outside_changes=outside,
        notices=notices,
    )


def _tests_ran(state: State, event: TestsRan) -> State:
    run = TestRun(event.kind, event.step, event.tree, event.reports)
    products = tuple(dict.fromkeys((*state.by_products, *event.by_products)))
    state = replace(state, by_products=products)
    if event.kind == "baseline":
        return replace(state, baseline=run)
    if event.kind == "complete":
        return replace(state, last_test=run)
    return replace(state, partial_tests=(*state.partial_tests, run)[-20:])


def merge_ranges(ranges: Iterable[LineRange]) -> tuple[LineRange, ...]:
    """The same lines as sorted ranges that neither overlap nor touch."""
    merged: list[LineRange] = []
    for item in sorted(ranges, key=lambda r: (r.first, r.last)):
        if merged and item.first <= merged[-1].last + 1:
            merged[-1] = LineRange(merged[-1].first, max(merged[-1].last, item.last))
        else:
            merged.append(item)
    return tuple(merged)
