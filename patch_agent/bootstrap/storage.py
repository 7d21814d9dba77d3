"""Patch's own state on this machine, opened: log, blobs, leases, remembered answers, snapshots."""

import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from patch_agent.core.errors import UserError
from patch_agent.core.protocols import SessionInfo
from patch_agent.stores.blobs import FileBlobs
from patch_agent.stores.home import patch_home
from patch_agent.stores.leases import Leases
from patch_agent.stores.owner import this_process
from patch_agent.stores.private_files import make_folder
from patch_agent.stores.sqlite import SqliteStore
from patch_agent.stores.trust import Trust
from patch_agent.workspace.repository import Repository, find_repository
from patch_agent.workspace.snapshots import GitSnapshots


@dataclass(frozen=True, slots=True)
class Storage:
    """Everything that outlives a run."""

    home: Path
    store: SqliteStore
    blobs: FileBlobs
    leases: Leases
    trust: Trust

    def snapshots(self, repository: Repository, session_id: str) -> GitSnapshots:
        """The private git store of a working tree, with this session's index."""
        folder = self.home / "trees" / tree_key(repository.root)
        return GitSnapshots(repository, folder, session_id)

    def cache_folder(self, repository: Repository) -> Path:
        """Where test runs in a working tree keep what they keep between runs."""
        folder = self.home / "caches" / tree_key(repository.root)
        make_folder(folder)
        return folder

    @contextmanager
    def scratch_folder(self, repository: Repository) -> Iterator[Path]:
        """An empty folder for the time of the block; what a killed process left there goes.

        The lease of the working tree sees to it that nobody else uses it.
        """
        folder = (self.home / "scratch" / tree_key(repository.root)).resolve()
        shutil.rmtree(folder, ignore_errors=True)
        make_folder(folder)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def sessions(self, key: str | None) -> tuple[SessionInfo, ...]:
        """The sessions of a working tree (None: of all), newest first; empty ones never began."""
        return tuple(info for info in self.store.sessions(key) if info.events)


def find_session(storage: Storage, cwd: Path, session: str | None) -> SessionInfo:
    """A session by id or prefix, else the newest of the repository at `cwd`. Raises UserError."""
    if session is not None:
        wanted = storage.store.find(session)
        found = [info for info in storage.sessions(None) if info.session_id == wanted]
        if not found:
            raise UserError(f"session {wanted} was cut off before it began; nothing is in it")
        return found[0]
    infos = storage.sessions(tree_key(find_repository(cwd).root))
    if not infos:
        raise UserError("there are no sessions in this repository yet; start with patch fix")
    return infos[0]


@contextmanager
def open_storage(environ: Mapping[str, str]) -> Iterator[Storage]:
    """Open it, and close the database at the end. Raises UserError or StoreError."""
    home = patch_home(environ)
    store = SqliteStore(home / "log.sqlite3")
    try:
        yield Storage(
            home=home,
            store=store,
            blobs=FileBlobs(home / "blobs"),
            leases=Leases(store.connection, this_process(), now),
            trust=Trust(store.connection, now),
        )
    finally:
        store.close()


def now() -> str:
    """The time as RFC 3339 in UTC, to the millisecond: for people, never for order."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def tree_key(root: Path) -> str:
    """The name of a working tree in the state directory: a hash of where it really is."""
    return hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:16]


def new_session_id() -> str:
    """A fresh id: `p` and eight hexadecimal digits."""
    return "p" + secrets.token_hex(4)
