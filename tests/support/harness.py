"""A run on a real repository with a scripted model: everything else is the real thing."""

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from patch_agent.agent.checks import DoneCheck
from patch_agent.agent.dispatch import Dispatch
from patch_agent.agent.drive import drive
from patch_agent.agent.effects import Effects
from patch_agent.agent.loop import Loop
from patch_agent.agent.parts import Parts
from patch_agent.agent.recovery import settle_open_intents
from patch_agent.agent.runtime_tests import RuntimeTests
from patch_agent.agent.say import say
from patch_agent.agent.session import Session
from patch_agent.core.events import ApprovalRequested, Event, SessionStarted, TurnEnded
from patch_agent.core.protocols import Answer
from patch_agent.core.state import State
from patch_agent.core.values import Limits
from patch_agent.execution.environment import child_environment
from patch_agent.models.scripted import Scripted, ScriptedModel
from patch_agent.runners.registry import runner_for
from patch_agent.runners.tester import CommandTester
from patch_agent.stores.memory import MemoryBlobs, MemoryStore
from patch_agent.tools.registry import build_tools
from patch_agent.tools.toolbox import Toolbox
from patch_agent.workers.builtin import BuiltinWorker
from patch_agent.workspace.files import hash_on_disk
from patch_agent.workspace.repository import find_repository
from patch_agent.workspace.snapshots import GitSnapshots

PYTEST = (sys.executable, "-m", "pytest")
SESSION = "p1"
NOW = "2030-01-01T00:00:00.000Z"


@dataclass
class Person:
    """Answers questions; keeps them."""

    answer: Answer | Callable[[ApprovalRequested], Answer] = "yes"
    asked: list[ApprovalRequested] = field(default_factory=list)

    def ask(self, request: ApprovalRequested) -> tuple[Answer, str]:
        self.asked.append(request)
        answer = self.answer if isinstance(self.answer, str) else self.answer(request)
        return answer, "a person"


@dataclass
class Bench:
    """A repository with a store: several runs, one after the other, as processes would do it."""

    root: Path
    home: Path
    commands: tuple[tuple[str, ...], ...] = (PYTEST,)
    person: Person = field(default_factory=Person)
    store: MemoryStore = field(default_factory=MemoryStore)
    blobs: MemoryBlobs = field(default_factory=MemoryBlobs)

    def open(self, replies: Sequence[Scripted]) -> "OpenRun":
        """The session with a model that says these things; a new process, so to speak."""
        lease = self.store.take_session(SESSION)
        session = Session(self.store, lease, lambda: NOW)
        snapshots = GitSnapshots(find_repository(self.root), self.home / "tree", SESSION)
        runners = [runner_for(argv) for argv in self.commands]
        effects = Effects(
            session,
            snapshots,
            lambda path: any(runner.is_test_path(path) for runner in runners),
            lambda path: any(runner.steers_tests(path) for runner in runners),
        )
        environment = {
            **child_environment(os.environ),
            # The plugins of the environment that runs these tests are no part of the fixture.
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        }
        tester = CommandTester(self.root, self.commands, 60, environment, self.blobs)
        ripgrep = str(Path(sys.executable).parent / "rg")
        box = Toolbox(self.root, tester, self.blobs, environment, ripgrep)
        model = ScriptedModel(replies)
        tests = RuntimeTests(session, effects, tester)
        parts = Parts(
            model=model,
            worker=BuiltinWorker(),
            approver=self.person,
            effects=effects,
            dispatch=Dispatch(session, effects, build_tools(box)),
            tests=tests,
            done_check=DoneCheck(session, effects, tests),
        )
        return OpenRun(self, session, Loop(session, parts), effects, model, snapshots)

    def start(self, replies: Sequence[Scripted], **changes: object) -> "OpenRun":
        """A new session with its first message."""
        opened = self.open(replies)
        values: dict[str, object] = {
            "session_id": SESSION,
            "root": str(self.root),
            "base_commit": "abc",
            "model": "scripted",
            "limits": Limits(),
            "test_commands": self.commands,
            "test_source": "given",
            "baseline_wanted": bool(self.commands),
        }
        opened.session.record(SessionStarted(**(values | changes)))  # type: ignore[arg-type]
        say(opened.session, "Fix it.")
        return opened

    def resume(self, replies: Sequence[Scripted] = ()) -> "OpenRun":
        """The session taken up again where its log ends."""
        opened = self.open(replies)
        opened.session.load()
        settle_open_intents(
            opened.session, opened.effects, lambda path: hash_on_disk(self.root / path)
        )
        if opened.session.state.start_tree:
            opened.effects.observe("resume")
        return opened

    @property
    def events(self) -> list[Event]:
        """Everything in the log."""
        return [record.event for record in self.store.records(SESSION)]


@dataclass
class OpenRun:
    """One process's view of the session."""

    bench: Bench
    session: Session
    loop: Loop
    effects: Effects
    model: ScriptedModel
    snapshots: GitSnapshots

    def run(self) -> TurnEnded:
        """Run to the end."""
        return drive(self.loop, self.session, lambda _ended: None)

    @property
    def state(self) -> State:
        """The state now."""
        return self.session.state

    def diff(self) -> str:
        """What the run changed."""
        state = self.state
        paths = sorted(state.net_changes)
        return self.snapshots.trees.diff(state.start_tree, state.tree, paths).decode()
