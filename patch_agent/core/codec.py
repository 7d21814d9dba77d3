"""Events to text and back: canonical JSON, a version for each kind, upcasters for old ones."""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Final, get_args

from patch_agent.core.codec_types import Decoder, Encoder, decoder_of, encoder_of
from patch_agent.core.events import Event, UnknownEvent
from patch_agent.core.evidence import EvidenceEvent
from patch_agent.core.messages import Json

KINDS: Final[dict[str, type]] = {
    kind.__name__: kind for kind in get_args(Event) if kind is not UnknownEvent
}
VERSIONS: Final[dict[str, int]] = {
    "SessionStarted": 1,
    "SessionResumed": 1,
    "UserPrompted": 1,
    "HeadMoved": 1,
    "DecisionCompleted": 1,
    "WorkerStateChanged": 1,
    "ConfigChanged": 1,
    "ModelRequested": 1,
    "ModelReplied": 1,
    "ModelFailed": 1,
    "ResultsDelivered": 1,
    "TodoChanged": 1,
    "NoteAdded": 1,
    "ApprovalRequested": 1,
    "ApprovalDecided": 1,
    "EffectIntended": 1,
    "EffectSettled": 1,
    "EffectUnknown": 1,
    "CallRejected": 1,
    "FileRead": 1,
    "FileWritten": 1,
    "FilesChanged": 1,
    "TreeObserved": 1,
    "TestsRan": 1,
    "BaselineSkipped": 1,
    "RestoreBegun": 1,
    "FilesRestored": 1,
    "DoneRefused": 1,
    "TurnEnded": 1,
}
"""The version that is written of each kind. A new one needs an upcaster from the one before."""

Upcaster = Callable[[dict[str, Json]], dict[str, Json]]
UPCASTERS: Final[dict[tuple[str, int], Upcaster]] = {}
"""(kind, version) -> the body as version + 1 has it."""

assert set(get_args(EvidenceEvent)) <= set(KINDS.values())
_encoders: dict[str, Encoder] = {}
_decoders: dict[str, Decoder] = {}


def canonical(value: Json) -> str:
    """One text for one value: sorted keys, no blanks, ASCII only. Raises ValueError for NaN."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )


def encode(event: Event) -> tuple[str, int, str]:
    """(kind, version, body) of an event; an unknown one goes back as it came."""
    if isinstance(event, UnknownEvent):
        return event.type, event.version, event.body
    kind = type(event).__name__
    encoder = _encoders.get(kind)
    if encoder is None:
        encoder = _encoders[kind] = encoder_of(type(event))
    return kind, VERSIONS[kind], canonical(encoder(event))


def decode(kind: str, version: int, body: str) -> Event:
    """The event; kinds and versions that this Patch does not know become `UnknownEvent`.

    Raises ValueError or TypeError for a body that does not fit its kind.
    """
    newest = VERSIONS.get(kind)
    if newest is None or version > newest:
        return UnknownEvent(kind, version, body)
    value = json.loads(body)
    while version < newest:
        value = UPCASTERS[kind, version](value)
        version += 1
    decoder = _decoders.get(kind)
    if decoder is None:
        decoder = _decoders[kind] = decoder_of(KINDS[kind])
    event: Event = decoder(value)
    return event


def record_hash(prev_hash: str, place: Mapping[str, Json], body: str) -> str:
    """The link of the chain: SHA-256 over the previous hash, the record's place and its body.

    place: seq, node, generation, step, at, type, version.
    """
    text = canonical([prev_hash, dict(place), body])
    return hashlib.sha256(text.encode("ascii")).hexdigest()
