"""The message tree: which records are on the active path, and the state that follows from them."""

from collections.abc import Iterable, Sequence

from patch_agent.core import events as ev
from patch_agent.core.errors import UserError
from patch_agent.core.reducer import apply
from patch_agent.core.state import State, initial_state


def parents(records: Iterable[ev.Record]) -> dict[str, str]:
    """Message id -> id of its parent ("" for a root), for every message of every branch."""
    found: dict[str, str] = {}
    for record in records:
        node = _node_made(record.event)
        if node is not None:
            found[node[0]] = node[1]
    return found


def _node_made(event: ev.Event) -> tuple[str, str] | None:
    match event:
        case ev.UserPrompted(message=message, parent_id=parent):
            return message.id, parent or ""
        case ev.ModelReplied(message=message, parent_id=parent):
            return message.id, parent
        case ev.DoneRefused(message=message, parent_id=parent):
            return message.id, parent
        case ev.ResultsDelivered(message_id=message_id, parent_id=parent):
            return message_id, parent
        case _:
            return None


def head_of(records: Iterable[ev.Record]) -> str:
    """The head: the newest message, or the target of a later `HeadMoved`; "" before the first."""
    head = ""
    for record in records:
        if isinstance(record.event, ev.HeadMoved):
            head = record.event.target_id
        else:
            node = _node_made(record.event)
            head = node[0] if node is not None else head
    return head


def path_to(head: str, parent_of: dict[str, str]) -> frozenset[str]:
    """The ids from the root to `head`, and "" (what came before the first message)."""
    path = {""}
    while head and head not in path:
        path.add(head)
        head = parent_of.get(head, "")
    return frozenset(path)


def fold(records: Sequence[ev.Record]) -> State:
    """The state of the active path of these records; any prefix of a log gives the state there."""
    path = path_to(head_of(records), parents(records))
    state = initial_state()
    for record in records:
        state = apply(state, record, _is_on(record, path))
    return state


def _is_on(record: ev.Record, path: frozenset[str]) -> bool:
    node = _node_made(record.event)
    # A record that makes a message belongs to that message, others to the head they were made at.
    return (node[0] if node is not None else record.node) in path


def sequence_at(records: Sequence[ev.Record], position: str) -> int:
    """The last `seq` that belongs to a position: `e12` (event), `s7` (step) or `m3` (message).

    Raises UserError when there is no such position.
    """
    kind, number = position[:1], position[1:]
    if kind not in ("e", "s", "m") or not number.isdigit():
        raise UserError(f"{position!r} is no position: use e12 (event), s7 (step) or m3 (message)")
    last = _last_sequence(records, kind, position, int(number))
    if last is None:
        raise UserError(f"there is no position {position} in this session")
    return last


def _last_sequence(
    records: Sequence[ev.Record], kind: str, position: str, number: int
) -> int | None:
    if kind == "e":
        return number if 1 <= number <= len(records) else None
    path = path_to(head_of(records), parents(records))
    found = None
    for record in records:
        if not _is_on(record, path):
            continue
        if kind == "s" and record.step == number:
            found = record.seq
        node = _node_made(record.event)
        if kind == "m" and node is not None and node[0] == position:
            found = record.seq
    return found
