"""One session: the only writer of its log, and the state that follows from it.

Order for every event: append, fold, notify. What happens between two effects (outcome, decisions,
next intent) is staged and then saved as one transaction: nothing acts and nothing is shown before
it is on disk.
"""

from collections.abc import Callable, Sequence

from patch_agent.core import events as ev
from patch_agent.core.protocols import Lease, Observer, Store
from patch_agent.core.reducer import apply
from patch_agent.core.state import State, initial_state
from patch_agent.core.tree import fold


class Session:
    """The log of one session, open for writing under a lease."""

    def __init__(
        self,
        store: Store,
        lease: Lease,
        now: Callable[[], str],
        observers: Sequence[Observer] = (),
    ) -> None:
        self._store = store
        self._lease = lease
        self._now = now
        self._observers = tuple(observers)
        self._state = initial_state()
        self._saved_seq = 0
        self._staged: list[tuple[ev.Record, State]] = []

    def load(self) -> None:
        """Take up what the log holds. Raises StoreError when it cannot be read or trusted."""
        records = tuple(self._store.records(self._lease.session_id))
        self._state = fold(records)
        self._saved_seq = records[-1].seq if records else 0

    @property
    def state(self) -> State:
        """The state after everything staged; it is shown to nobody before it is saved."""
        return self._state

    def stage(self, *events: ev.Event) -> None:
        """Fold events that are saved together with whatever comes before the next effect."""
        for event in events:
            record = ev.Record(
                seq=self._state.seq + 1,
                node=self._state.head,
                generation=self._lease.generation,
                step=_step_of(event, self._state.step),
                at=self._now(),
                event=event,
            )
            self._state = apply(self._state, record)
            self._staged.append((record, self._state))

    def flush(self) -> None:
        """Save what is staged in one synced transaction, then show it."""
        if not self._staged:
            return
        staged = self._staged
        records = self._store.append(self._lease, self._saved_seq, [record for record, _ in staged])
        self._staged = []
        self._saved_seq = records[-1].seq
        for record, (_, state) in zip(records, staged, strict=True):
            for observer in self._observers:
                observer.recorded(record, state)

    def record(self, *events: ev.Event) -> None:
        """Stage and save."""
        self.stage(*events)
        self.flush()

    def next_message_id(self) -> str:
        """The id of the next message: `m1`, `m2`, ... over all branches."""
        return f"m{self._state.messages_made + 1}"

    def next_call_id(self, offset: int = 0) -> str:
        """The id of the next call: `c1`, `c2`, ... over all branches."""
        return f"c{self._state.calls_made + 1 + offset}"

    def show_text(self, piece: str) -> None:
        """Pass a piece of the model's text on to whoever watches."""
        for observer in self._observers:
            observer.text(piece)

    def show_progress(self, text: str) -> None:
        """Pass on what a running step is at."""
        for observer in self._observers:
            observer.progress(text)


def _step_of(event: ev.Event, step: int) -> int:
    if isinstance(event, ev.EffectIntended | ev.CallRejected):
        return max(step, event.step)
    return step
