"""One writer for a session, one run for a tree; dead holders lose theirs; nothing acknowledged is
lost when a writer is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from patch_agent.core.errors import ConflictError, StoreError
from patch_agent.core.events import NoteAdded
from patch_agent.stores.leases import LIFE_S
from patch_agent.stores.owner import Owner, is_gone, this_process
from patch_agent.stores.sqlite import SqliteStore
from patch_agent.stores.trust import Trust
from tests.stores.opened import NOW, info, leases

OTHER_HOST = Owner("elsewhere", 1, "1")


def store_with(path: Path, *sessions: str) -> SqliteStore:
    store = SqliteStore(path)
    for session in sessions:
        store.create_session(info(session))
    return store


def test_a_living_holder_is_named(tmp_path: Path) -> None:
    store = store_with(tmp_path / "log", "p1", "p2")
    holder = subprocess.Popen(["sleep", "60"])
    try:
        token = Path(f"/proc/{holder.pid}/stat").read_text().rsplit(")", 1)[1].split()[19]
        other = Owner(this_process().host, holder.pid, token)
        leases(store, other).take_session("p1")
        leases(store, other).take_tree("tree", "p1")
        words = f"session p1 \\(process {holder.pid} on "
        with pytest.raises(ConflictError, match=words):
            leases(store).take_session("p1")
        with pytest.raises(ConflictError, match="this working tree is held by " + words):
            leases(store).take_tree("tree", "p2")
    finally:
        holder.kill()
        holder.wait()
    assert leases(store).take_session("p1").generation == 2
    leases(store).take_tree("tree", "p2")


def test_a_pid_that_was_used_again_is_no_holder(tmp_path: Path) -> None:
    mine = this_process()
    assert not is_gone(mine)
    assert is_gone(Owner(mine.host, mine.pid, "another start"))


def test_a_holder_on_another_host_is_waited_for_until_its_time_is_over(tmp_path: Path) -> None:
    store = store_with(tmp_path / "log", "p1")
    leases(store, OTHER_HOST, clock=1000.0).take_session("p1")
    with pytest.raises(ConflictError, match="process 1 on elsewhere"):
        leases(store, clock=1000.0 + LIFE_S - 1).take_session("p1")
    assert leases(store, clock=1000.0 + LIFE_S + 1).take_session("p1").generation == 2


def test_what_was_given_back_is_free(tmp_path: Path) -> None:
    store = store_with(tmp_path / "log", "p1")
    one = leases(store, OTHER_HOST, clock=0.0)
    one.take_tree("tree", "p1")
    one.release("p1")
    leases(store, clock=0.0).take_tree("tree", "p1")


RACE = """
import sys, time
from pathlib import Path
from patch_agent.core.errors import ConflictError, StoreError
from patch_agent.stores.leases import Leases
from patch_agent.stores.owner import this_process
from patch_agent.stores.sqlite import SqliteStore
leases = Leases(SqliteStore(Path(sys.argv[1])).connection, this_process(), lambda: "now")
print("ready", flush=True)
sys.stdin.readline()
try:
    leases.take_tree("tree", "p1")
    print("won", flush=True)
    sys.stdin.readline()
except ConflictError:
    print("lost", flush=True)
"""


def test_of_two_processes_one_gets_the_tree(tmp_path: Path) -> None:
    store_with(tmp_path / "log", "p1").close()
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, str(tmp_path / "log")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for _ in range(4)
    ]  # fmt: skip
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    results = sorted(racer.stdout.readline().strip() for racer in racers if racer.stdout)
    for racer in racers:
        racer.kill()
        racer.communicate()
    assert results == ["lost", "lost", "lost", "won"]


WRITER = """
import sys
from pathlib import Path
from patch_agent.core.events import NoteAdded, Record
from patch_agent.stores.leases import Leases
from patch_agent.stores.owner import this_process
from patch_agent.stores.sqlite import SqliteStore
store = SqliteStore(Path(sys.argv[1]))
lease = Leases(store.connection, this_process(), lambda: "now").take_session("p1")
seq = 0
while True:
    note, place = NoteAdded("x" * 500), lease.generation
    batch = [Record(seq + n, "", place, 0, "now", note) for n in (1, 2, 3)]
    store.append(lease, seq, batch)
    seq += 3
    print(seq, flush=True)
"""


@pytest.mark.parametrize("delay", [0.0, 0.05, 0.2])
def test_a_killed_writer_loses_nothing_that_was_acknowledged(tmp_path: Path, delay: float) -> None:
    store_with(tmp_path / "log", "p1").close()
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path / "log")], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    writer.stdout.readline()
    time.sleep(delay)
    os.kill(writer.pid, signal.SIGKILL)
    told = [int(line) for line in writer.communicate()[0].splitlines() if line.strip()]
    records = list(SqliteStore(tmp_path / "log").records("p1"))
    assert len(records) >= max(told, default=3)
    assert len(records) % 3 == 0
    assert all(record.event == NoteAdded("x" * 500) for record in records)


def test_an_answer_is_remembered_for_exactly_its_content(tmp_path: Path) -> None:
    trust = Trust(store_with(tmp_path / "log").connection, lambda: NOW)
    trust.remember("repo", "tests", "hash")
    trust.remember("repo", "tests", "hash")
    assert trust.is_remembered("repo", "tests", "hash")
    assert not trust.is_remembered("repo", "tests", "other")
    assert not trust.is_remembered("other", "tests", "hash")


def test_a_living_process_of_this_host_keeps_its_lease_however_long(tmp_path: Path) -> None:
    store = store_with(tmp_path / "log", "p1")
    leases(store, clock=0.0).take_tree("tree", "p1")
    other = Owner(this_process().host, os.getppid(), "another start")
    with pytest.raises(ConflictError, match=f"process {os.getpid()} on "):
        leases(store, other, clock=3 * LIFE_S).take_tree("tree", "p2")


def test_a_dead_process_that_nobody_waited_for_is_gone() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    stat = Path(f"/proc/{child.pid}/stat")
    token = stat.read_text().rsplit(")", 1)[1].split()[19]
    owner = Owner(this_process().host, child.pid, token)
    assert not is_gone(owner)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert stat.exists()
    assert is_gone(owner)
    child.communicate()
    assert is_gone(owner)


def test_a_session_that_is_not_there_has_no_lease(tmp_path: Path) -> None:
    store = store_with(tmp_path / "log")
    with pytest.raises(StoreError, match="there is no session p9"):
        leases(store).take_session("p9")
    assert store.connection.execute("SELECT count(*) FROM leases").fetchone() == (0,)


OPENER = """
import sys
from pathlib import Path
from patch_agent.stores.sqlite import SqliteStore
print("ready", flush=True)
sys.stdin.readline()
print(len(SqliteStore(Path(sys.argv[1])).sessions(None)), flush=True)
"""


def test_many_first_runs_at_once_make_one_log(tmp_path: Path) -> None:
    openers = [
        subprocess.Popen(
            [sys.executable, "-c", OPENER, str(tmp_path / "home" / "log")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(6)
    ]  # fmt: skip
    for opener in openers:
        assert opener.stdout is not None
        assert opener.stdout.readline() == "ready\n"
    for opener in openers:
        assert opener.stdin is not None
        opener.stdin.write("go\n")
        opener.stdin.flush()
    assert [opener.communicate() for opener in openers] == [("0\n", "")] * 6
