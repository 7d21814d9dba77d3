"""One link of a log's hash chain: how a record is written down, and what its hash covers."""

from dataclasses import dataclass

from patch_agent.core.codec import encode, record_hash
from patch_agent.core.errors import StoreError
from patch_agent.core.events import Record
from patch_agent.core.messages import Json


@dataclass(frozen=True, slots=True)
class Link:
    """A record as a row: `place` is everything about it but its body and the hashes."""

    place: dict[str, Json]
    body: str
    hash: str


def link(record: Record, expected_seq: int, prev_hash: str) -> Link:
    """The link of a record. Raises StoreError for a gap: what follows it could not be read."""
    if record.seq != expected_seq:
        raise StoreError(f"event {record.seq} cannot follow event {expected_seq - 1}")
    kind, version, body = encode(record.event)
    place = {
        "seq": record.seq,
        "node": record.node,
        "generation": record.generation,
        "type": kind,
        "version": version,
        "step": record.step,
        "at": record.at,
    }
    return Link(place, body, record_hash(prev_hash, place, body))


def shown(text: str) -> str:
    """The text without lone surrogates (paths in no encoding), which no column may hold."""
    return text.encode("utf-8", "backslashreplace").decode()
