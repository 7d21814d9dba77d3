"""`fix` and `resume`: from a directory and flags to a run, and to its exit code."""

import contextlib
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from patch_agent import __version__
from patch_agent.agent.drive import drive
from patch_agent.agent.recovery import settle_open_intents
from patch_agent.agent.say import say
from patch_agent.bootstrap.build import Commands, Place, Running, build_run, endpoint_of
from patch_agent.bootstrap.front import make_front
from patch_agent.bootstrap.storage import (
    Storage,
    find_session,
    new_session_id,
    now,
    open_storage,
    tree_key,
)
from patch_agent.core.errors import StoreError, UserError
from patch_agent.core.events import Record, SessionResumed, SessionStarted
from patch_agent.core.messages import Json
from patch_agent.core.protocols import Lease, SessionInfo
from patch_agent.core.reasons import exit_code
from patch_agent.core.state import State
from patch_agent.core.tree import fold
from patch_agent.core.values import Limits
from patch_agent.models.choice import OFFLINE, Choice, check_price, choose
from patch_agent.runners.command_line import parse_command
from patch_agent.runners.registry import detect
from patch_agent.settings import Flags, Settings, limits, resolve
from patch_agent.ui.result import result_object
from patch_agent.workspace.files import hash_on_disk
from patch_agent.workspace.repository import Repository, find_repository

FROM_FLAG = "--test-cmd"


def fix(cwd: Path, task: str, flags: Flags, environ: Mapping[str, str], named: str = "") -> int:
    """Start a session and run it to its end; returns the exit code.

    named: what else, besides `--test-cmd`, is a person's word for running the tests here.
    """
    settings = resolve(flags, environ)
    repository = usable_repository(cwd, environ)
    commands, source = _test_commands(repository, settings.test_commands, environ)
    choice = choose(settings.model, endpoint_of(settings))
    check_price(choice.name, settings.cost_limit_given)
    if not commands and choice.name == OFFLINE:
        raise UserError(
            "no test command was found, and without one the offline model cannot work; "
            "name it with --test-cmd",
            "no_test_command",
        )
    with open_storage(environ) as storage:
        front = make_front(settings.output_format, environ)
        place = Place(repository, storage, front, settings, environ)
        session_id = new_session_id()
        storage.leases.take_tree(tree_key(repository.root), session_id)
        try:
            named = FROM_FLAG if settings.test_commands else named
            running = build_run(
                place, _new_session(place, session_id, task), choice, commands, named
            )
            _introduce(place, session_id, choice, commands, source)
            running.session.record(_started(place, session_id, choice, commands, source))
            say(running.session, task)
            return _run(place, running)
        finally:
            storage.leases.release(session_id)


def _new_session(place: Place, session_id: str, task: str) -> Lease:
    key, root = tree_key(place.repository.root), str(place.repository.root)
    info = SessionInfo(session_id, key, root, now(), task, "running", "", 0)
    place.storage.store.create_session(info)
    return place.storage.leases.take_session(session_id)


def _started(
    place: Place, session_id: str, choice: Choice, commands: Commands, source: str
) -> SessionStarted:
    settings = place.settings
    return SessionStarted(
        session_id=session_id,
        root=str(place.repository.root),
        base_commit=place.repository.head_commit,
        model=choice.name,
        limits=settings.limits,
        test_commands=commands,
        test_source=source,
        baseline_wanted=settings.baseline and bool(commands),
        allow_empty=settings.allow_empty,
        allowed_tests=settings.allow_tests,
        patch_version=__version__,
        settings=_kept(settings),
    )


def _kept(settings: Settings) -> dict[str, Json]:
    """What a resumed session goes on with unless told otherwise; nothing secret."""
    has_secret = settings.base_url is not None and "@" in settings.base_url
    return {
        "origins": dict(settings.origins),
        "base_url": None if has_secret else settings.base_url,
        "test_timeout_s": settings.test_timeout_s,
    }


def resume(
    cwd: Path, session: str | None, message: str | None, flags: Flags, environ: Mapping[str, str]
) -> int:
    """Go on with a session where its log ends; returns the exit code."""
    settings = resolve(flags, environ)
    with open_storage(environ) as storage:
        info = _session_to_resume(storage, cwd, session, message is not None)
        repository = usable_repository(Path(info.root), environ, info.session_id)
        storage.leases.take_tree(tree_key(repository.root), info.session_id)
        try:
            lease = storage.leases.take_session(info.session_id)
            records = tuple(storage.store.records(info.session_id))
            state = fold(records)
            _check_resumable(state, message is not None)
            wanted = _as_before(settings, state, records)
            choice = choose(wanted.model, endpoint_of(wanted))
            check_price(choice.name, settings.cost_limit_given)
            place = Place(
                repository, storage, make_front(settings.output_format, environ), wanted, environ
            )
            named = FROM_FLAG if state.test_source == FROM_FLAG else ""
            running = build_run(place, lease, choice, state.test_commands, named)
            _take_up(running, repository, limits(flags, state.limits))
            if message is not None:
                say(running.session, message)
            return _run(place, running)
        finally:
            storage.leases.release(info.session_id)


def _as_before(settings: Settings, state: State, records: Sequence[Record]) -> Settings:
    started = next(r.event for r in records if isinstance(r.event, SessionStarted))
    base_url, timeout_s = started.settings.get("base_url"), started.settings.get("test_timeout_s")
    return replace(
        settings,
        model=settings.model or state.model,
        base_url=settings.base_url or (base_url if isinstance(base_url, str) else None),
        test_timeout_s=timeout_s if isinstance(timeout_s, float) else settings.test_timeout_s,
    )


def _take_up(running: Running, repository: Repository, new_limits: Limits) -> None:
    session = running.session
    session.load()
    running.snapshots.expect(session.state.tree)
    found = settle_open_intents(
        session, running.effects, lambda path: hash_on_disk(repository.root / path)
    )
    if session.state.start_tree:
        running.effects.observe("resume")
    session.record(SessionResumed(new_limits, running.model.name, found))


def usable_repository(cwd: Path, environ: Mapping[str, str], session_id: str = "") -> Repository:
    """The repository at `cwd`, if Patch can work there. Raises UserError with what to do."""
    if session_id and not cwd.is_dir():
        raise UserError(f"{cwd}, where session {session_id} worked, is not there", "repository")
    repository = find_repository(cwd)
    root = str(repository.root)
    if root in (repository.root.anchor, os.path.realpath(os.environ.get("HOME") or "/")):
        raise UserError(f"{root} is too large a place to work in; use a project's folder")
    home = environ.get("PATCH_HOME")
    if home and Path(home).resolve().is_relative_to(repository.root):
        raise UserError(
            f"PATCH_HOME {home} lies inside the repository, whose snapshots would then hold "
            "themselves; set it to a folder outside"
        )
    if repository.head_commit is None:
        raise UserError(
            f"the repository {root} has no commit yet; make one first: git add -A && git commit",
            "repository",
        )
    return repository


def _test_commands(
    repository: Repository, asked: tuple[str, ...], environ: Mapping[str, str]
) -> tuple[Commands, str]:
    if asked:
        return tuple(parse_command(text) for text in asked), FROM_FLAG
    found = detect(repository.root, environ.get("PATH", os.defpath))
    return ((found.argv,), found.why) if found is not None else ((), "none found")


def _introduce(
    place: Place, session_id: str, choice: Choice, commands: Commands, source: str
) -> None:
    show = place.front.observer.say
    show(f"patch {session_id} · {choice.name} · {place.repository.root}")
    if choice.why:
        show(choice.why)
    for argv in commands:
        show(f"tests: {' '.join(argv)}  ({source})")
    if not commands:
        show("No test command was found, so the result cannot be verified (exit 3); see --test-cmd")


def _session_to_resume(
    storage: Storage, cwd: Path, session: str | None, has_message: bool
) -> SessionInfo:
    if session is not None:
        return find_session(storage, cwd, session)
    infos = storage.sessions(tree_key(find_repository(cwd).root))
    unfinished = [info for info in infos if info.status not in ("done", "failed")]
    usable = unfinished or (list(infos) if has_message else [])
    if not usable:
        raise UserError(
            "there is no unfinished session in this repository; `patch sessions` lists all, "
            'and -m "..." goes on with the newest'
        )
    return usable[0]


def _check_resumable(state: State, has_message: bool) -> None:
    if state.restore_open is not None:
        raise UserError(
            f"{state.restore_open.kind} of session {state.session_id} was cut off; finish it: "
            f"patch {state.restore_open.kind} {state.session_id}"
        )
    if state.unreadable:
        raise UserError(
            f"session {state.session_id} was written by a newer Patch ({state.unreadable[0]}); "
            "it can be looked at here, but not gone on with: upgrade Patch"
        )
    if not state.session_id or (not state.head and not has_message):
        raise UserError("the session was cut off before it began; start again with patch fix")
    if state.status in ("done", "failed") and not has_message:
        raise UserError(
            f"session {state.session_id} has ended ({state.reason}); say what is to be done "
            'next with -m "..."'
        )


def _run(place: Place, running: Running) -> int:
    front, session = place.front, running.session
    threading.Thread(target=_prepare, args=(running,), daemon=True).start()
    try:
        ended = drive(
            running.loop, session, lambda end: front.ask_to_go_on(end, session.state.limits)
        )
    except StoreError as error:
        error.session_id = session.state.session_id
        raise
    finally:
        front.observer.close()
    state = session.state
    paths = sorted(state.net_changes)
    records = tuple(place.storage.store.records(state.session_id))
    stat = running.snapshots.trees.diff_stat(state.start_tree, state.tree, paths)
    diff = running.snapshots.trees.diff(state.start_tree, state.tree, paths)
    is_shown = front.show_result(result_object(records, state, stat), diff)
    return ended.exit_code if is_shown else ended.exit_code or exit_code("storage")


def _prepare(running: Running) -> None:
    # Whatever is wrong shows again at the first call, which reports it properly.
    with contextlib.suppress(Exception):
        running.model.prepare()
