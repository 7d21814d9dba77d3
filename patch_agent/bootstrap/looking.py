"""Looking at sessions without taking them: nothing is written, no lease is needed."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from patch_agent.bootstrap.storage import find_session, open_storage, tree_key
from patch_agent.core.errors import StoreError, UserError
from patch_agent.core.events import Record
from patch_agent.core.messages import Json
from patch_agent.core.protocols import SessionInfo
from patch_agent.core.state import State
from patch_agent.core.tree import fold, sequence_at
from patch_agent.ui.result import result_object
from patch_agent.workspace.repository import find_repository
from patch_agent.workspace.snapshots import GitSnapshots

NO_STAT = {"files": 0, "insertions": 0, "deletions": 0}


@dataclass(frozen=True, slots=True)
class Opened:
    """A session as it is in the log."""

    records: tuple[Record, ...]
    state: State
    snapshots: GitSnapshots | None

    def state_at(self, position: str) -> State:
        """The state at a position, rebuilt by replay. Raises UserError for no such position."""
        return fold(self.records[: sequence_at(self.records, position)])

    def result(self) -> dict[str, Json]:
        """The run in short, as the object that a run prints at its end."""
        state = self.state
        stat = NO_STAT
        if self.snapshots is not None and state.start_tree:
            stat = self.snapshots.trees.diff_stat(
                state.start_tree, state.tree, sorted(state.net_changes)
            )
        return result_object(self.records, state, stat)

    def diff(self, from_: str | None, to: str | None) -> bytes:
        """What the run changed between two positions (its start and its end by default)."""
        if self.snapshots is None:
            raise UserError(f"the repository {self.state.root} is not there any more", "repository")
        start = self.state if from_ is None else self.state_at(from_)
        end = self.state if to is None else self.state_at(to)
        before = start.start_tree if from_ is None else start.tree
        if not before or not end.tree:
            return b""
        paths = sorted({*end.net_changes, *(start.net_changes if from_ is not None else ())})
        return self.snapshots.trees.diff(before, end.tree, paths)


def look(cwd: Path, session: str | None, environ: Mapping[str, str]) -> Opened:
    """Open a session: by id or prefix, else the newest of the repository at `cwd`."""
    with open_storage(environ) as storage:
        session_id = find_session(storage, cwd, session).session_id
        records = tuple(storage.store.records(session_id))
        state = fold(records)
        snapshots = None
        try:
            if state.root:
                snapshots = storage.snapshots(find_repository(Path(state.root)), session_id)
        except (UserError, StoreError):
            snapshots = None
    return Opened(records, state, snapshots)


def list_sessions(cwd: Path | None, environ: Mapping[str, str]) -> tuple[SessionInfo, ...]:
    """The sessions of the repository at `cwd` (None: of all), newest first."""
    key = None if cwd is None else tree_key(find_repository(cwd).root)
    with open_storage(environ) as storage:
        return storage.sessions(key)
