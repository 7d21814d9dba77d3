"""The log in SQLite: one row an event, appended under a lease, chained by hashes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from patch_agent.core.codec import decode, record_hash
from patch_agent.core.errors import ConflictError, StoreError, UserError
from patch_agent.core.events import Record, TurnEnded, UnknownEvent
from patch_agent.core.protocols import Lease, SessionInfo
from patch_agent.stores.chain import link, shown
from patch_agent.stores.database import DAMAGE, open_database, transaction

_INSERT = (
    "INSERT INTO events (session, seq, node, generation, type, version, step, at, body, prev_hash,"
    " hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_SELECT = (
    "SELECT seq, node, generation, type, version, step, at, body, prev_hash, hash"
    " FROM events WHERE session = ? AND seq <= ? ORDER BY seq"
)
_EVERYTHING = 2**62


class SqliteStore:
    """All sessions in one database file; used by the thread that opened it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.connection = open_database(path)

    def close(self) -> None:
        """Close the file; SQLite then folds its write-ahead log in."""
        self.connection.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except DAMAGE as error:
            raise StoreError(f"cannot use the log {self._path}: {error}") from None

    def create_session(self, info: SessionInfo) -> None:
        """Add a session without events. Raises StoreError when it cannot be written."""
        with self._errors(), transaction(self.connection):
            self.connection.execute(
                "INSERT INTO sessions (id, repo_key, root, started_at, task)"
                " VALUES (?, ?, ?, ?, ?)",
                (
                    info.session_id,
                    shown(info.repo_key),
                    shown(info.root),
                    info.started_at,
                    shown(info.task),
                ),
            )

    def append(
        self, lease: Lease, expected_seq: int, records: Sequence[Record]
    ) -> tuple[Record, ...]:
        """Write all or nothing, synced; see `core.protocols.Store`."""
        with self._errors(), transaction(self.connection):
            prev_hash = self._check_place(lease, expected_seq)
            saved = []
            for seq, record in enumerate(records, expected_seq + 1):
                new = link(record, seq, prev_hash)
                row = (lease.session_id, *new.place.values(), new.body, prev_hash, new.hash)
                self.connection.execute(_INSERT, row)
                prev_hash = new.hash
                saved.append(replace(record, hash=prev_hash))
            self._keep_summary(lease, records)
        return tuple(saved)

    def _check_place(self, lease: Lease, expected_seq: int) -> str:
        session = lease.session_id
        if self._generation(session) != lease.generation:
            raise ConflictError(f"session {session} was taken over by another process")
        last = self.connection.execute(
            "SELECT seq, hash FROM events WHERE session = ? ORDER BY seq DESC LIMIT 1", (session,)
        ).fetchone()
        seq, last_hash = last if last is not None else (0, "")
        if seq != expected_seq:
            raise ConflictError(
                f"session {session} has {seq} events, not {expected_seq}: another process wrote"
            )
        return str(last_hash)

    def _generation(self, session_id: str) -> int:
        found = self.connection.execute(
            "SELECT generation FROM sessions WHERE id = ?", (session_id,)
        ).fetchone()
        if found is None:
            raise StoreError(f"there is no session {session_id}")
        return int(found[0])

    def _keep_summary(self, lease: Lease, records: Sequence[Record]) -> None:
        ends = [r.event for r in records if isinstance(r.event, TurnEnded)]
        status, reason = (ends[-1].status, ends[-1].reason) if ends else ("running", "")
        self.connection.execute(
            "UPDATE sessions SET status = ?, reason = ? WHERE id = ?",
            (status, reason, lease.session_id),
        )

    def records(self, session_id: str, up_to: int | None = None) -> Iterator[Record]:
        """The records in order, the chain checked on the way; see `core.protocols.Store`."""
        prev_hash, seq = "", 0
        with self._errors():
            self._generation(session_id)
            limit = _EVERYTHING if up_to is None else up_to
            for row in self.connection.execute(_SELECT, (session_id, limit)):
                seq += 1
                record = _read(row, prev_hash, seq)
                prev_hash = record.hash
                yield record

    def sessions(self, repo_key: str | None) -> tuple[SessionInfo, ...]:
        """The sessions of a repository (None: of all), newest first."""
        query = (
            "SELECT id, repo_key, root, started_at, task, status, reason,"
            " (SELECT count(*) FROM events WHERE session = sessions.id) FROM sessions"
            " WHERE ? IS NULL OR repo_key = ? ORDER BY started_at DESC, rowid DESC"
        )
        key = None if repo_key is None else shown(repo_key)
        with self._errors():
            rows = self.connection.execute(query, (key, key)).fetchall()
        return tuple(SessionInfo(*row) for row in rows)

    def find(self, prefix: str) -> str:
        """The id that begins with `prefix` (an exact one wins). Raises UserError for none, many."""
        ids = [info.session_id for info in self.sessions(None)]
        if prefix in ids:
            return prefix
        found = [session_id for session_id in ids if prefix and session_id.startswith(prefix)]
        if not found:
            raise UserError(f"there is no session {prefix!r}; `patch sessions --all` lists them")
        if len(found) > 1:
            raise UserError(f"{prefix!r} could be {', '.join(sorted(found)[:5])}; write more of it")
        return found[0]


def _read(row: tuple[object, ...], prev_hash: str, expected_seq: int) -> Record:
    seq, node, generation, kind, version, step, at, body, prev, digest = row
    place = {
        "seq": seq,
        "node": node,
        "generation": generation,
        "type": kind,
        "version": version,
        "step": step,
        "at": at,
    }
    whole = seq == expected_seq and prev == prev_hash
    if not whole or record_hash(prev_hash, place, str(body)) != digest:
        raise StoreError(f"the log is damaged from event {expected_seq} on: its hash is not right")
    try:
        event = decode(str(kind), int(str(version)), str(body))
    except (ValueError, TypeError, KeyError):
        event = UnknownEvent(str(kind), int(str(version)), str(body))
    return Record(
        expected_seq, str(node), int(str(generation)), int(str(step)), str(at), event, str(digest)
    )
