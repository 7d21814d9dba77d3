"""After a crash: what became of effects whose outcome was never recorded."""

from collections.abc import Callable, Mapping

from patch_agent.agent.effects import Effects
from patch_agent.agent.session import Session
from patch_agent.core.events import EffectIntended, EffectSettled, EffectUnknown
from patch_agent.core.evidence import FileWritten
from patch_agent.core.values import LineRange

HashOf = Callable[[str], str]
"""Path relative to the root -> SHA-256 of the bytes there; "" when there is no file."""

RUNS_TESTS = ("run_tests", "repair_search")
"""Tools that run the test command and nothing else: making them again does no harm."""


def settle_open_intents(session: Session, effects: Effects, hash_of: HashOf) -> tuple[str, ...]:
    """Give every open intent an outcome or queue it again; returns one line on each, for people."""
    return tuple(
        _settle_one(session, effects, hash_of, intent) for intent in session.state.open_intents
    )


def _settle_one(session: Session, effects: Effects, hash_of: HashOf, intent: EffectIntended) -> str:
    if intent.effect == "read" or intent.by_runtime:
        return _run_again(session, intent, "it only reads, so it is run again")
    if intent.effect == "probe":
        return _look(session, effects, hash_of, intent)
    if intent.tool in RUNS_TESTS:
        effects.record_changes(intent, None)
        return _run_again(session, intent, "it only runs the tests, so it is made again")
    return _tell_unknown(session, effects, intent)


def _run_again(session: Session, intent: EffectIntended, why: str) -> str:
    session.record(EffectUnknown(intent.call_id, intent.tool, intent.effect, why, again=True))
    return f"{intent.tool} (step {intent.step}) was cut off; {why}"


def _look(session: Session, effects: Effects, hash_of: HashOf, intent: EffectIntended) -> str:
    now = {path: hash_of(path) for path in {**intent.before, **intent.after}}
    if _matches(now, intent.before) or not intent.after:
        return _run_again(session, intent, "the files are as before, so it is run again")
    if not _matches(now, intent.after):
        return _tell_unknown(session, effects, intent)
    found = "the files on disk are as the call would leave them: it was applied"
    session.stage(EffectUnknown(intent.call_id, intent.tool, intent.effect, found))
    for path, digest in intent.after.items():
        seen = session.state.files_read.get(path)
        ranges = seen.ranges if seen is not None else (LineRange(1, 1),)
        session.stage(FileWritten(path, digest, ranges))
    effects.record_changes(intent, tuple(intent.after))
    text = "The change was applied; this was confirmed by looking at the files after a crash."
    session.record(EffectSettled(intent.call_id, intent.tool, text, False, found, 0.0))
    return f"{intent.tool} (step {intent.step}): {found}"


def _matches(now: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    return all(now.get(path) == digest for path, digest in wanted.items())


def _tell_unknown(session: Session, effects: Effects, intent: EffectIntended) -> str:
    before = set(session.state.files_changed.items())
    effects.record_changes(intent, None)
    changed = sorted(path for path, _ in set(session.state.files_changed.items()) - before)
    differs = "these files differ: " + ", ".join(changed) if changed else "no file differs"
    found = f"it may have run, wholly or in part; {differs}"
    session.stage(EffectUnknown(intent.call_id, intent.tool, intent.effect, found))
    text = (
        f"Outcome unknown: Patch was ended while this call ran; {found}. "
        "Look at the files before you go on; do not assume that it did or did not run."
    )
    session.record(EffectSettled(intent.call_id, intent.tool, text, True, found, 0.0))
    return f"{intent.tool} (step {intent.step}): outcome unknown; {differs}"
