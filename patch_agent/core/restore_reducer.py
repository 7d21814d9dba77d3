"""What undo and redo do to the state: which changes of the run are in force, which undone.

A run's change is in force until an undo takes it back. `files_changed` follows from the changes in
force, so a run whose changes were all taken back has changed nothing.
"""

from collections.abc import Iterable
from dataclasses import replace

from patch_agent.core.evidence import FilesRestored, RestoreBegun
from patch_agent.core.state import FileTouched, RunChange, State, Undone
from patch_agent.core.values import FileChange


def begin_restore(state: State, event: RestoreBegun) -> State:
    """The state while an undo or redo is under way."""
    return replace(state, restore_open=event)


def end_restore(state: State, event: FilesRestored) -> State:
    """The state after an undo or redo."""
    if event.kind == "undo":
        keys = set(event.keys)
        taken = tuple(change for change in state.run_changes if change.key in keys)
        in_force = tuple(change for change in state.run_changes if change.key not in keys)
        undone = (*state.undone, Undone(event.changes, taken))
    else:
        taken = state.undone[-1].taken if state.undone else ()
        in_force = tuple(sorted((*state.run_changes, *taken), key=lambda change: change.step))
        undone = state.undone[:-1]
    return replace(
        state,
        run_changes=in_force,
        undone=undone,
        restore_open=None,
        files_changed=_files(state, in_force, {change.change.path for change in taken}),
        # Whatever a test run proved, it was of other files.
        last_edit_step=max(state.last_edit_step, state.step),
        tree=event.tree,
    )


def _files(state: State, in_force: Iterable[RunChange], paths: set[str]) -> dict[str, FileTouched]:
    files = {path: file for path, file in state.files_changed.items() if path not in paths}
    for made in in_force:
        if made.change.path in paths:
            known = files.get(made.change.path)
            files[made.change.path] = touch(known, made.change, made.during == "tests")
    return files


def touch(known: FileTouched | None, change: FileChange, by_tests: bool) -> FileTouched:
    """What is known of a path after one more change of it."""
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
