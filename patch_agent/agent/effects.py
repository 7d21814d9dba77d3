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

BROAD = ("command", "external")
"""Effects that may change any file."""


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
        is_broad = intent.effect in BROAD
        if is_broad and intent.tool == "run_tests":
            self.observe("before_tests")
        elif is_broad:
            self._observe_if_changed("before_command")
        else:
            self._cover([path for path, digest in intent.before.items() if digest])
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
            told = str(error)
            outcome = ToolOutcome(told, _first_line(told), is_error=True, facts=error.facts)
        except StoreError:
            raise
        except Exception as error:  # a fault in a tool must not end the run
            text = "".join(traceback.format_exception_only(error)).strip()
            told = f"Internal error in {intent.tool}: {text}. Try another way."
            outcome = ToolOutcome(told, _first_line(text), is_error=True, touched=None)
        self._settle(intent, outcome, time.monotonic() - started)

    def notice(self) -> None:
        """Record what someone else changed since the last look; cheap when nothing did."""
        if self._session.state.start_tree and not self._snapshots.looks_unchanged():
            self._observe_if_changed("before_call")

    def _observe_if_changed(self, moment: Moment) -> None:
        snapshot = self._snapshots.take()
        known = self._session.state.tree
        if snapshot.tree != known:
            changes = self._snapshots.changes(known, snapshot.tree) if known else ()
            self._session.stage(TreeObserved(snapshot.tree, moment, changes))

    def _cover(self, paths: Sequence[str]) -> None:
        # A file that an ignore rule keeps out: its bytes are kept from before the first change.
        snapshot = self._snapshots.cover(paths)
        if snapshot is not None:
            self._session.stage(TreeObserved(snapshot.tree, "before_edit"))

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
                replace(
                    change,
                    protected=self._is_protected(self._session.state, change),
                    permissions=snapshot.permissions.get(change.path),
                )
                for change in self._snapshots.changes(known, snapshot.tree)
            )
            broad: Cause = "command" if intent.effect in BROAD else "tool"
            during = "tests" if ran_tests else broad
            self._session.stage(
                FilesChanged(intent.step, snapshot.tree, changes, during, snapshot.folders)
            )
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
