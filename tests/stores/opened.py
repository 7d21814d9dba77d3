"""Stores with a session in them, made alike for every kind of store."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from patch_agent.core.events import Event, NoteAdded, Record
from patch_agent.core.protocols import Lease, SessionInfo, Store
from patch_agent.stores.leases import Leases
from patch_agent.stores.memory import MemoryStore
from patch_agent.stores.owner import Owner, this_process
from patch_agent.stores.sqlite import SqliteStore

NOW = "2030-01-01T00:00:00Z"


@dataclass
class Opened:
    """A store, and what makes a session in it and takes (again) the right to write it."""

    store: Store
    take: Callable[[str], Lease]


def info(session_id: str, **changes: str) -> SessionInfo:
    """A row of the list, as it is at the start."""
    values = {
        "repo_key": "repo",
        "root": "/repo",
        "started_at": NOW,
        "task": "Fix it.",
        "status": "running",
        "reason": "",
        **changes,
    }
    return SessionInfo(session_id, **values, events=0)


def leases(store: SqliteStore, owner: Owner | None = None, clock: float | None = None) -> Leases:
    """The leases of a store, as this process or another one sees them at a time."""
    owner = owner or this_process()
    if clock is None:
        return Leases(store.connection, owner, lambda: NOW)
    return Leases(store.connection, owner, lambda: NOW, lambda: clock)


def records(first: int, *events: Event, generation: int = 1) -> tuple[Record, ...]:
    """Records of these events, numbered from `first`."""
    return tuple(
        Record(seq, "m1", generation, 0, NOW, event) for seq, event in enumerate(events, first)
    )


def notes(first: int, count: int) -> tuple[Record, ...]:
    """Records of notes `n1`, `n2`, ..., by their seq."""
    return records(first, *(NoteAdded(f"n{seq}") for seq in range(first, first + count)))


def plain(found: object) -> list[Record]:
    """Records without their hashes."""
    return [
        Record(r.seq, r.node, r.generation, r.step, r.at, r.event)
        for r in found  # type: ignore[attr-defined]
    ]


@contextmanager
def opened_sqlite(path: Path) -> Iterator[Opened]:
    """A store in a file."""
    store = SqliteStore(path)
    known: set[str] = set()

    def take(session_id: str) -> Lease:
        if session_id not in known:
            store.create_session(info(session_id))
            known.add(session_id)
        return leases(store).take_session(session_id)

    try:
        yield Opened(store, take)
    finally:
        store.close()


@contextmanager
def opened_memory(_path: Path) -> Iterator[Opened]:
    """A store in memory."""
    store = MemoryStore()
    yield Opened(store, store.take_session)
