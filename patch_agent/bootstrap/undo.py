"""`undo` and `redo`: the files of a run taken back or made again; later edits of others stay."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from patch_agent.agent.recovery import settle_open_intents
from patch_agent.agent.session import Session
from patch_agent.bootstrap.build import make_effects
from patch_agent.bootstrap.runs import usable_repository
from patch_agent.bootstrap.storage import Storage, find_session, now, open_storage, tree_key
from patch_agent.core.errors import ConflictError, ToolError
from patch_agent.core.evidence import FilesRestored, RestoreBegun
from patch_agent.core.state import RunChange, State, is_test_output
from patch_agent.core.tree import fold, sequence_at
from patch_agent.core.values import FileChange, RestoreKind
from patch_agent.workspace.files import hash_on_disk
from patch_agent.workspace.repository import Repository
from patch_agent.workspace.restore_files import carry_out
from patch_agent.workspace.restore_plan import Plan, plan_restore, reversed_changes
from patch_agent.workspace.snapshots import GitSnapshots


@dataclass(frozen=True, slots=True)
class Wanted:
    """to: a position; "" is before the first change. paths: a glob or a folder; "" is all."""

    to: str = ""
    paths: str = ""
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Restored:
    """What was done, or (dry run) would be. left_alone: test output that stays where it is."""

    kind: RestoreKind
    session_id: str
    plan: Plan
    taken: int
    left_alone: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Opened:
    session: Session
    snapshots: GitSnapshots
    repository: Repository
    storage: Storage

    @property
    def state(self) -> State:
        return self.session.state


def undo(cwd: Path, session: str | None, wanted: Wanted, environ: Mapping[str, str]) -> Restored:
    """Take back what the run changed. Raises ConflictError, with nothing written, with names."""
    with _opened(cwd, session, environ) as opened:
        if opened.state.restore_open is not None:
            return _finish(opened, opened.state.restore_open, wanted.dry_run)
        keep = _kept_at(opened, wanted.to)
        chosen = [
            made
            for made in opened.state.run_changes
            if made.key not in keep and _matches(made.change.path, wanted.paths)
        ]
        alone = _test_output(opened.state) & {made.change.path for made in chosen}
        taken = [made for made in chosen if made.change.path not in alone]
        plan = _plan(opened, [made.change for made in taken])
        if not wanted.dry_run and taken:
            _restore(opened, "undo", plan, taken)
        return Restored("undo", opened.state.session_id, plan, len(taken), tuple(sorted(alone)))


def redo(cwd: Path, session: str | None, wanted: Wanted, environ: Mapping[str, str]) -> Restored:
    """Make again what the last undo took back. Raises ConflictError like `undo`."""
    with _opened(cwd, session, environ) as opened:
        if opened.state.restore_open is not None:
            return _finish(opened, opened.state.restore_open, wanted.dry_run)
        if not opened.state.undone:
            return Restored("redo", opened.state.session_id, Plan(), 0, ())
        last = opened.state.undone[-1]
        plan = _plan(opened, last.changes)
        if not wanted.dry_run:
            _restore(opened, "redo", plan, last.taken)
        return Restored("redo", opened.state.session_id, plan, len(last.taken), ())


def _test_output(state: State) -> set[str]:
    return {path for path, file in state.files_changed.items() if is_test_output(path, file)}


@contextmanager
def _opened(cwd: Path, session: str | None, environ: Mapping[str, str]) -> Iterator[_Opened]:
    with open_storage(environ) as storage:
        info = find_session(storage, cwd, session)
        session_id = info.session_id
        repository = usable_repository(Path(info.root), environ, session_id)
        storage.leases.take_tree(tree_key(repository.root), session_id)
        try:
            log = Session(storage.store, storage.leases.take_session(session_id), now)
            log.load()
            snapshots = storage.snapshots(repository, session_id)
            opened = _Opened(log, snapshots, repository, storage)
            if log.state.start_tree:
                _look(opened)
            yield opened
        finally:
            storage.leases.release(session_id)


def _look(opened: _Opened) -> None:
    """The tree as it is, after an earlier run that was cut off was brought to its end."""
    session, snapshots = opened.session, opened.snapshots
    snapshots.expect(session.state.tree)
    effects = make_effects(session, snapshots, session.state.test_commands)
    settle_open_intents(session, effects, lambda p: hash_on_disk(opened.repository.root / p))
    if session.state.restore_open is None:
        effects.observe("before_restore")
    session.flush()


def _finish(opened: _Opened, begun: RestoreBegun, dry_run: bool) -> Restored:
    """What is left of an undo or redo that was cut off, whichever of the two it was."""
    plan = plan_restore(
        opened.snapshots.trees,
        opened.repository.root,
        opened.snapshots.take().tree,
        reversed_changes(begun.changes),
        finishing=True,
    )
    if not dry_run:
        _check(plan, f"the {begun.kind} that was cut off", "Move these files aside, and try again.")
        _carry_out(opened, begun, plan.changes)
    return Restored(begun.kind, opened.state.session_id, plan, len(begun.keys), ())


def _kept_at(opened: _Opened, position: str) -> set[object]:
    if not position:
        return set()
    records = tuple(opened.storage.store.records(opened.state.session_id))
    return {made.key for made in fold(records[: sequence_at(records, position)]).run_changes}


def _matches(path: str, pattern: str) -> bool:
    folder = pattern.rstrip("/") + "/"
    return not pattern or fnmatchcase(path, pattern) or path.startswith(folder)


def _plan(opened: _Opened, changes: "list[FileChange] | tuple[FileChange, ...]") -> Plan:
    if not changes:
        return Plan()
    # A file that an ignore rule keeps out may stand where one has to come back.
    covered = opened.snapshots.cover([change.path for change in changes])
    tree = covered.tree if covered is not None else opened.state.tree
    return plan_restore(opened.snapshots.trees, opened.repository.root, tree, changes)


def _check(plan: Plan, what: str, advice: str) -> None:
    if plan.conflicts:
        named = "; ".join(f"{conflict.path} ({conflict.why})" for conflict in plan.conflicts)
        raise ConflictError(
            f"{what} would lose later changes, so nothing was written: {named}. {advice}",
            "files_conflict",
        )


def _restore(
    opened: _Opened, kind: RestoreKind, plan: Plan, taken: "list[RunChange] | tuple[RunChange, ...]"
) -> None:
    advice = {
        "undo": "--path takes back the others; patch diff shows what the run did to these",
        "redo": "patch log shows what was taken back",
    }
    _check(plan, kind, advice[kind])
    keys = tuple(made.key for made in taken)
    begun = RestoreBegun(kind, opened.state.tree, plan.changes, keys)
    opened.session.record(begun)
    _carry_out(opened, begun, plan.changes)


def _carry_out(opened: _Opened, begun: RestoreBegun, changes: tuple[FileChange, ...]) -> None:
    folders = opened.state.folders_made if begun.kind == "undo" else ()
    try:
        carry_out(opened.snapshots.trees, opened.repository.root, changes, folders)
    except (ToolError, OSError) as error:
        again = f"patch {begun.kind} {opened.state.session_id}"
        why = str(error).rstrip(".")
        raise ConflictError(
            f"{begun.kind} stopped half-way: {why}. Mend that, then go on with: {again}",
            "files_conflict",
        ) from None
    tree = opened.snapshots.take().tree
    opened.session.record(FilesRestored(begun.kind, tree, begun.changes, begun.keys))
