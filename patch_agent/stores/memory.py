"""The same store and blobs in memory: for tests and for trying things out."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from patch_agent.core.codec import decode
from patch_agent.core.errors import ConflictError, StoreError
from patch_agent.core.events import Record
from patch_agent.core.protocols import Lease
from patch_agent.stores.chain import link


class MemoryStore:
    """Logs as lists; every event goes through the codec, as it would on disk."""

    def __init__(self) -> None:
        self._logs: dict[str, list[Record]] = {}
        self._generations: dict[str, int] = {}

    def take_session(self, session_id: str) -> Lease:
        """The next generation of a session's lease; the one before is stale from now on."""
        generation = self._generations.get(session_id, 0) + 1
        self._generations[session_id] = generation
        self._logs.setdefault(session_id, [])
        return Lease(session_id, generation)

    def append(
        self, lease: Lease, expected_seq: int, records: Sequence[Record]
    ) -> tuple[Record, ...]:
        """All or nothing; see `core.protocols.Store`."""
        log = self._logs.get(lease.session_id)
        if log is None:
            raise StoreError(f"there is no session {lease.session_id}")
        if self._generations[lease.session_id] != lease.generation:
            raise ConflictError(f"session {lease.session_id} was taken over by another process")
        if len(log) != expected_seq:
            raise ConflictError(
                f"session {lease.session_id} has {len(log)} events, not {expected_seq}: "
                "another process wrote"
            )
        saved = []
        prev_hash = log[-1].hash if log else ""
        for seq, record in enumerate(records, expected_seq + 1):
            new = link(record, seq, prev_hash)
            prev_hash = new.hash
            event = decode(new.place["type"], new.place["version"], new.body)
            saved.append(replace(record, event=event, hash=prev_hash))
        log.extend(saved)
        return tuple(saved)

    def records(self, session_id: str, up_to: int | None = None) -> tuple[Record, ...]:
        """The records in order; see `core.protocols.Store`."""
        log = self._logs.get(session_id)
        if log is None:
            raise StoreError(f"there is no session {session_id}")
        return tuple(log if up_to is None else log[:up_to])


class MemoryBlobs:
    """Bytes by content, in a dict."""

    def __init__(self) -> None:
        self._blobs: dict[str, bytes] = {}

    def put(self, data: bytes) -> str:
        """Keep the bytes."""
        blob_id = hashlib.sha256(data).hexdigest()
        self._blobs[blob_id] = data
        return blob_id

    def get(self, blob_id: str) -> bytes:
        """The bytes. Raises StoreError when they are missing."""
        if blob_id not in self._blobs:
            raise StoreError(f"the stored bytes {blob_id} are missing")
        return self._blobs[blob_id]
