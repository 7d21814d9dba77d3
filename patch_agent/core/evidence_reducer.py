"""The only place where evidence fields of the state are set, and only from evidence events."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import assert_never

from patch_agent.core.evidence import (
    BaselineSkipped,
    EvidenceEvent,
    FileRead,
    FilesChanged,
    FilesRestored,
    FileWritten,
    RestoreBegun,
    TestsRan,
    TreeObserved,
)
from patch_agent.core.restore_reducer import begin_restore, end_restore, touch
from patch_agent.core.state import FileSeen, RunChange, State, TestRun, is_test_output
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
        case RestoreBegun():
            return begin_restore(state, event)
        case FilesRestored():
            return _with_stale(end_restore(state, event), event.changes)
    assert_never(event)


def _file_read(state: State, event: FileRead) -> State:
    seen = state.files_read.get(event.path)
    same = seen is not None and seen.sha256 == event.sha256
    ranges = merge_ranges((*(seen.ranges if seen and same else ()), *event.ranges))
    files = {**state.files_read, event.path: FileSeen(event.sha256, ranges)}
    return replace(state, files_read=files, stale_reads=_without(state, event.path))


def _without(state: State, path: str) -> Mapping[str, str]:
    return {key: blob for key, blob in state.stale_reads.items() if key != path}


def _with_stale(state: State, changes: Iterable[FileChange]) -> State:
    """Keep in mind which of the files that the model has read are other ones now."""
    stale = dict(state.stale_reads)
    for change in changes:
        if change.path not in state.files_read:
            continue
        if stale.setdefault(change.path, change.before or "") == (change.after or ""):
            del stale[change.path]
    return replace(state, stale_reads=stale)


def _file_written(state: State, event: FileWritten) -> State:
    files = {path: seen for path, seen in state.files_read.items() if path != event.path}
    if event.sha256:
        files[event.path] = FileSeen(event.sha256, merge_ranges(event.ranges))
    return replace(state, files_read=files, stale_reads=_without(state, event.path))


def _files_changed(state: State, event: FilesChanged) -> State:
    files = dict(state.files_changed)
    for change in event.changes:
        files[change.path] = touch(files.get(change.path), change, event.during == "tests")
    made = tuple(RunChange(event.step, change, event.during) for change in event.changes)
    state = replace(
        state,
        run_changes=(*state.run_changes, *made),
        folders_made=(*state.folders_made, *event.folders),
        # What was taken back before is not made again on top of something new.
        undone=(),
    )
    if event.during != "tool":
        state = _with_stale(state, event.changes)
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


def _tree_observed(state: State, event: TreeObserved) -> State:
    outside = {**state.outside_changes, **{change.path: change for change in event.changes}}
    state = _with_stale(state, event.changes)
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
