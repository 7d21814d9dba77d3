"""One run put together: model, tools, tests, snapshots and consent round a session."""

import os
import sysconfig
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from patch_agent.agent.checks import DoneCheck
from patch_agent.agent.dispatch import Dispatch
from patch_agent.agent.effects import Effects
from patch_agent.agent.loop import Loop
from patch_agent.agent.parts import Parts
from patch_agent.agent.runtime_tests import RuntimeTests
from patch_agent.agent.session import Session
from patch_agent.bootstrap.consent import Consent
from patch_agent.bootstrap.front import Front
from patch_agent.bootstrap.storage import Storage, now, tree_key
from patch_agent.core.errors import UserError
from patch_agent.core.protocols import Lease, Model
from patch_agent.execution.environment import child_environment, find_program
from patch_agent.models.anthropic import Endpoint
from patch_agent.models.choice import OFFLINE, Choice, build
from patch_agent.runners.caches import redirected_caches
from patch_agent.runners.registry import runner_for
from patch_agent.runners.tester import CommandTester
from patch_agent.settings import Settings
from patch_agent.tools.registry import build_tools
from patch_agent.tools.toolbox import RepairSearch, Toolbox
from patch_agent.workers.builtin import BuiltinWorker
from patch_agent.workspace.repository import Repository
from patch_agent.workspace.snapshots import GitSnapshots

Commands = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run happens and what shows it."""

    repository: Repository
    storage: Storage
    front: Front
    settings: Settings
    environ: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Running:
    """A session and the loop that drives it."""

    session: Session
    loop: Loop
    effects: Effects
    model: Model
    snapshots: GitSnapshots


def endpoint_of(settings: Settings) -> Endpoint:
    """Where the model service is."""
    return Endpoint(settings.base_url, settings.api_key, settings.auth_token)


def build_run(
    place: Place, lease: Lease, choice: Choice, commands: Commands, tests_named: str
) -> Running:
    """Everything that one session needs; nothing is started yet."""
    storage, front = place.storage, place.front
    session = Session(storage.store, lease, now, (front.observer,))
    snapshots = storage.snapshots(place.repository, lease.session_id)
    effects = make_effects(session, snapshots, commands)
    environment = child_environment(place.environ)
    caches = storage.cache_folder(place.repository)
    tester = CommandTester(
        place.repository.root,
        commands,
        place.settings.test_timeout_s,
        {**environment, **redirected_caches(caches)},
        storage.blobs,
    )
    box = Toolbox(
        root=place.repository.root,
        tester=tester,
        blobs=storage.blobs,
        environment=environment,
        ripgrep=find_ripgrep(environment["PATH"], place.repository.root),
        repair_search=_search_in_copy(place, snapshots, commands, environment)
        if choice.name == OFFLINE
        else None,
    )
    model = build(choice, endpoint_of(place.settings), _offline_model, front.observer.say)
    tests = RuntimeTests(session, effects, tester)
    parts = Parts(
        model=model,
        worker=BuiltinWorker(),
        approver=_consent(place, tests_named),
        effects=effects,
        dispatch=Dispatch(session, effects, build_tools(box)),
        tests=tests,
        done_check=DoneCheck(session, effects, tests),
    )
    return Running(session, Loop(session, parts), effects, model, snapshots)


def make_effects(session: Session, snapshots: GitSnapshots, commands: Commands) -> Effects:
    """Effects that know which files are tests, or steer them, under these commands."""
    runners = [runner_for(argv) for argv in commands]
    return Effects(
        session,
        snapshots,
        is_test=lambda path: any(runner.is_test_path(path) for runner in runners),
        steers_tests=lambda path: any(runner.steers_tests(path) for runner in runners),
    )


def _offline_model() -> Model:
    from patch_agent.models.offline.model import OfflineModel

    return OfflineModel()


def _search_in_copy(
    place: Place, snapshots: GitSnapshots, commands: Commands, environment: Mapping[str, str]
) -> RepairSearch:
    def search(task: str, failing: tuple[str, ...], progress: Callable[[str], None]) -> str:
        from patch_agent.models.offline.search import SearchRequest
        from patch_agent.models.offline.search import search as search_repairs

        with place.storage.scratch_folder(place.repository) as folder:
            root = folder / "tree"
            root.mkdir()
            snapshots.trees.materialise(snapshots.take().tree, root)
            request = SearchRequest(root, commands[0], failing, task, environment)
            return search_repairs(request, progress)

    return search


def _consent(place: Place, tests_named: str) -> Consent:
    trust, key = place.storage.trust, tree_key(place.repository.root)
    return Consent(
        tests_named=tests_named,
        yes=place.settings.yes,
        is_remembered=lambda subject: trust.is_remembered(key, "tests", subject),
        remember=lambda subject: trust.remember(key, "tests", subject),
        person=place.front.ask if place.front.asks else None,
    )


def find_ripgrep(path: str, outside: Path) -> str:
    """The `rg` that was installed with Patch, else one on PATH. Raises UserError for none."""
    own = os.path.join(sysconfig.get_path("scripts"), "rg")
    if os.path.isfile(own):
        return own
    found = find_program("rg", path, outside)
    if found is None:
        raise UserError("ripgrep (rg) was not found; install Patch again, or ripgrep")
    return found
