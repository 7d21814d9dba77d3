"""Acting on the world: the intent on disk before, the facts and the outcome after."""

import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from patch_agent.agent.session import Session
from patch_agent.core.errors import StoreError, ToolError
from patch_agent.core.events import EffectIntended, EffectSettled, Event
from patch_agent.core.evidence import FilesChanged, TestsRan, TreeObserved
from patch_agent.core.protocols import Snapshots, ToolOutcome
from patch_agent.core.state import State
from patch_agent.core.values import Cause, FileChange, Moment


class Effects:
    """Performs one effect at a time and records what really happened."""

    def __init__(
        self,
        session: Session,
        snapshots: Snapshots,
        is_test: Callable[[str], bool],
        steers_tests: Callable[[str], bool],
    ) -> None:
        self._session = session
        self._snapshots = snapshots
        self._is_test = is_test
        self._steers_tests = steers_tests

    def observe(self, moment: Moment) -> None:
        """Look at the whole tree; a difference that no step explains is someone else's."""
        snapshot = self._snapshots.take()
        known = self._session.state.tree
        changes: tuple[FileChange, ...] = ()
        if known and snapshot.tree != known:
            changes = self._snapshots.changes(known, snapshot.tree)
        self._session.stage(TreeObserved(snapshot.tree, moment, changes, snapshot.notes))

    def perform(self, intent: EffectIntended, act: Callable[[], ToolOutcome]) -> None:
        """Run `act` between its intent and its outcome. Re-raises KeyboardInterrupt, settled."""
        is_broad = intent.effect in ("command", "external")
        if is_broad and intent.tool == "run_tests":
            self.observe("before_tests")
        elif is_broad:
            self._observe_if_changed()
        self._session.stage(intent)
        self._session.flush()
        started = time.monotonic()
        try:
            outcome = act()
        except KeyboardInterrupt:
            stopped = ToolOutcome(
                "Stopped by the user before it ended.", "stopped by the user", True, touched=None
            )
            self._settle(intent, stopped, time.monotonic() - started)
            self._session.flush()
            raise
        except ToolError as error:
            outcome = ToolOutcome(str(error), _first_line(str(error)), is_error=True)
        except StoreError:
            raise
        except Exception as error:  # a fault in a tool must not end the run
            text = "".join(traceback.format_exception_only(error)).strip()
            told = f"Internal error in {intent.tool}: {text}. Try another way."
            outcome = ToolOutcome(told, _first_line(text), is_error=True, touched=None)
        self._settle(intent, outcome, time.monotonic() - started)

    def _observe_if_changed(self) -> None:
        snapshot = self._snapshots.take()
        known = self._session.state.tree
        if snapshot.tree != known:
            changes = self._snapshots.changes(known, snapshot.tree) if known else ()
            self._session.stage(TreeObserved(snapshot.tree, "before_command", changes))

    def _settle(self, intent: EffectIntended, outcome: ToolOutcome, duration_s: float) -> None:
        facts = [self._with_by_products(fact) for fact in outcome.facts]
        self._session.stage(*facts)
        if intent.effect != "read":
            self.record_changes(intent, outcome.touched)
        self._session.stage(
            EffectSettled(
                intent.call_id,
                intent.tool,
                outcome.content,
                outcome.is_error,
                outcome.summary,
                round(duration_s, 3),
                outcome.exit_code,
                outcome.blobs,
            )
        )

    def _with_by_products(self, fact: Event) -> Event:
        if isinstance(fact, TestsRan) and fact.kind != "partial":
            return replace(fact, by_products=self._snapshots.by_products())
        return fact

    def record_changes(self, intent: EffectIntended, touched: Sequence[str] | None) -> None:
        """Record what differs in the tree after a step that may have changed files."""
        if touched is not None and not touched:
            return
        ran_tests = intent.tool == "run_tests"
        known = self._session.state.tree
        snapshot = self._snapshots.take(touched)
        if snapshot.tree != known:
            changes = tuple(
                replace(change, protected=self._is_protected(self._session.state, change))
                for change in self._snapshots.changes(known, snapshot.tree)
            )
            during: Cause = "tests" if ran_tests else "tool" if touched is not None else "command"
            self._session.stage(FilesChanged(intent.step, snapshot.tree, changes, during))
        if ran_tests:
            self._session.stage(TreeObserved(snapshot.tree, "after_tests"))

    def _is_protected(self, state: State, change: FileChange) -> bool:
        if any(fnmatchcase(change.path, pattern) for pattern in state.allowed_tests):
            return False
        known = state.files_changed.get(change.path)
        existed = (known.original if known is not None else change.before) is not None
        return self._steers_tests(change.path) or (existed and self._is_test(change.path))


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0][:200] if text.strip() else ""
