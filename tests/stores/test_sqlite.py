"""What the log in SQLite does beyond every store: list, find, damage, disks, permissions."""

import itertools
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from patch_agent.core import events as ev
from patch_agent.core.errors import PatchError, StoreError, UserError
from patch_agent.stores.sqlite import SqliteStore
from tests.stores.opened import NOW, info, leases, notes, opened_sqlite, records


def modes(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): oct(path.stat().st_mode & 0o777)
        for path in [folder, *sorted(folder.rglob("*"))]
    }


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_files_are_for_the_user_alone_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        with opened_sqlite(tmp_path / "a" / "b" / "log.db") as opened:
            opened.store.append(opened.take("p1"), 0, notes(1, 1))
            found = modes(tmp_path / "a")
    finally:
        os.umask(before)
    assert found == {
        ".": "0o700",
        "b": "0o700",
        "b/log.db": "0o600",
        "b/log.db-shm": "0o600",
        "b/log.db-wal": "0o600",
    }


def test_a_log_that_others_could_read_is_narrowed(tmp_path: Path) -> None:
    path = tmp_path / "home" / "log.db"
    SqliteStore(path).close()
    path.chmod(0o644)
    path.parent.chmod(0o755)
    SqliteStore(path).close()
    assert modes(path.parent) == {".": "0o700", "log.db": "0o600"}


def test_every_append_is_synced(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "log.db")
    asked = ("journal_mode", "synchronous", "foreign_keys")
    found = [store.connection.execute(f"PRAGMA {name}").fetchone()[0] for name in asked]
    assert found == ["wal", 2, 1]


def test_sessions_are_listed_newest_first_with_their_ends(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "log.db")
    store.create_session(info("p1", started_at="2030-01-01T00:00:00Z"))
    store.create_session(info("p2", started_at="2030-01-02T00:00:00Z", task="More \udc80"))
    store.create_session(info("p3", repo_key="other", root="/b\udcff"))
    lease = leases(store).take_session("p1")
    store.append(lease, 0, records(1, ev.TurnEnded("stopped", "interrupted", 130, "", 1.0)))
    one = info("p1", status="stopped", reason="interrupted")
    ended = replace(one, events=1)
    two = info("p2", started_at="2030-01-02T00:00:00Z", task="More \\udc80")
    other = info("p3", repo_key="other", root="/b\\udcff")
    assert store.sessions("repo") == (two, ended)
    assert store.sessions(None) == (two, other, ended)
    store.append(lease, 1, notes(2, 1))
    assert store.sessions("repo")[1].status == "running"


def test_a_session_is_found_by_any_unique_beginning(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "log.db")
    for name in ("ab12", "ab13", "ab1", "zz"):
        store.create_session(info(name))
    assert [store.find(prefix) for prefix in ("ab12", "ab1", "z")] == ["ab12", "ab1", "zz"]
    with pytest.raises(UserError, match="'ab' could be ab1, ab12, ab13; write more of it"):
        store.find("ab")
    for unknown in ("", "q", "ab_", "ab%"):
        with pytest.raises(UserError, match="there is no session"):
            store.find(unknown)


@pytest.mark.parametrize(
    ("change", "at"),
    [
        ("UPDATE events SET body = replace(body, 'n2', 'n9') WHERE seq = 2", 2),
        ("UPDATE events SET type = 'HeadMoved' WHERE seq = 1", 1),
        ("UPDATE events SET generation = 7 WHERE seq = 3", 3),
        ("UPDATE events SET at = 'x', node = 'm9' WHERE seq = 3", 3),
        ("UPDATE events SET hash = upper(hash) WHERE seq = 1", 1),
        ("DELETE FROM events WHERE seq = 2", 2),
        ("DELETE FROM events WHERE seq = 1", 1),
        ("UPDATE events SET seq = CASE seq WHEN 2 THEN 9 ELSE seq END WHERE seq = 2", 2),
    ],
)
def test_a_log_that_was_changed_by_hand_is_found_out(tmp_path: Path, change: str, at: int) -> None:
    path = tmp_path / "log.db"
    with opened_sqlite(path) as opened:
        saved = opened.store.append(opened.take("p1"), 0, notes(1, 4))
    connection = sqlite3.connect(path)
    connection.execute(change)
    connection.commit()
    connection.close()
    found = SqliteStore(path).records("p1")
    assert tuple(itertools.islice(found, at - 1)) == saved[: at - 1]
    with pytest.raises(StoreError, match=f"damaged from event {at} on"):
        next(found)


def test_a_body_that_no_longer_fits_its_kind_is_kept_as_unknown(tmp_path: Path) -> None:
    with opened_sqlite(tmp_path / "log.db") as opened:
        odd = ev.UnknownEvent("NoteAdded", 1, '{"words":"n"}')
        opened.store.append(opened.take("p1"), 0, records(1, odd))
        assert [record.event for record in opened.store.records("p1")] == [odd]


def test_damaged_bytes_are_never_a_traceback_and_never_another_record(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with opened_sqlite(path) as opened:
        saved = opened.store.append(opened.take("p1"), 0, notes(1, 12))
    whole = path.read_bytes()
    chance = random.Random(4)
    lines: list[str] = []
    for _ in range(300):
        at = chance.randrange(len(whole))
        path.write_bytes(
            whole[:at] + bytes([whole[at] ^ chance.randrange(1, 256)]) + whole[at + 1 :]
        )
        read = []
        try:
            store = SqliteStore(path)
            try:
                for record in store.records("p1"):
                    read.append(record)
            finally:
                store.close()
        except StoreError as error:
            lines.append(str(error))
        assert tuple(read) == saved[: len(read)]
    assert not any("\n" in line for line in lines)


@pytest.mark.parametrize("content", [b"not a database, only words " * 9, b"SQLite format 3\x00"])
def test_a_file_that_is_no_database_is_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "log.db"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"cannot use the log .*log\.db: [^\n]+$"):
        SqliteStore(path)
    assert path.read_bytes() == content


def test_a_log_of_a_newer_patch_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    SqliteStore(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    with pytest.raises(StoreError, match=r"written by a newer Patch \(schema 2\); upgrade Patch"):
        SqliteStore(path)


def test_a_full_disk_is_one_line_and_leaves_the_log_whole(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with opened_sqlite(path) as opened:
        lease = opened.take("p1")
        saved = opened.store.append(lease, 0, notes(1, 1))
        assert isinstance(opened.store, SqliteStore)
        opened.store.connection.execute("PRAGMA max_page_count = 1")
        with pytest.raises(StoreError, match=r"^cannot use the log .*log\.db: [^\n]*full[^\n]*$"):
            opened.store.append(lease, 1, records(2, ev.NoteAdded("x" * 100_000)))
        assert tuple(opened.store.records("p1")) == saved
        opened.store.connection.execute("PRAGMA max_page_count = 10000")
        assert len(opened.store.append(lease, 1, notes(2, 1))) == 1


FILES_OF_LIMITED_SIZE = """
import resource, sys
from pathlib import Path
from patch_agent.core.errors import StoreError
from tests.stores.opened import notes, opened_sqlite
with opened_sqlite(Path(sys.argv[1])) as opened:
    lease = opened.take("p1")
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
    done = 0
    try:
        while True:
            opened.store.append(lease, done, notes(done + 1, 50))
            done += 50
    except StoreError as error:
        assert chr(10) not in str(error), error
    print(done, len(tuple(opened.store.records("p1"))))
"""


def test_writes_that_stop_halfway_lose_no_event_that_was_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    ended = run(FILES_OF_LIMITED_SIZE, str(path))
    done, read = map(int, ended.split())
    assert done == read > 0
    store = SqliteStore(path)
    assert len(tuple(store.records("p1"))) == done


@pytest.mark.parametrize("blocked", ["parent", "itself"])
def test_a_place_that_cannot_hold_a_log_is_one_line(tmp_path: Path, blocked: str) -> None:
    if blocked == "parent":
        (tmp_path / "file").write_text("in the way")
        path = tmp_path / "file" / "log.db"
    else:
        path = tmp_path / "log.db"
        path.mkdir()
    with pytest.raises(StoreError, match=r"^cannot open the log .*log\.db: [^\n]+$"):
        SqliteStore(path)


READ_ONLY = """
import os, sys
from pathlib import Path
from patch_agent.core.errors import StoreError
from patch_agent.stores import leases, sqlite
if os.geteuid() == 0:
    os.setuid(65534)
try:
    sqlite.SqliteStore(Path(sys.argv[1]) / "log.db")
except StoreError as error:
    print(error)
"""


def test_a_folder_that_may_not_be_written_is_one_line() -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "home"
        folder.mkdir()
        os.chmod(made, 0o755)
        folder.chmod(0o500 if os.geteuid() else 0o555)
        ended = run(READ_ONLY, str(folder))
        folder.chmod(0o700)
    assert ended.startswith(f"cannot open the log {folder}/log.db: ")
    assert ended.count("\n") == 1


def run(code: str, *arguments: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


def test_a_session_id_that_is_taken_is_an_error_of_the_store(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "log.db")
    store.create_session(info("p1"))
    with pytest.raises(PatchError, match="cannot use the log"):
        store.create_session(info("p1"))
    assert store.sessions(None) == (info("p1", started_at=NOW),)


def test_a_closed_store_says_so_in_one_line(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "log.db")
    store.close()
    with pytest.raises(StoreError, match="cannot use the log"):
        store.sessions(None)
