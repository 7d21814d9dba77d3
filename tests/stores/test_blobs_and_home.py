"""Bytes by content, and the folder where Patch keeps its own state."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from patch_agent.core.errors import StoreError, UserError
from patch_agent.stores.blobs import FileBlobs
from patch_agent.stores.home import patch_home
from patch_agent.stores.memory import MemoryBlobs


@pytest.mark.parametrize("data", [b"", b"a", b"same " * 10_000, os.urandom(5_000)])
def test_bytes_come_back_by_their_id(tmp_path: Path, data: bytes) -> None:
    one, other = FileBlobs(tmp_path / "blobs"), MemoryBlobs()
    blob_id = one.put(data)
    assert blob_id == one.put(data) == other.put(data)
    assert one.get(blob_id) == other.get(blob_id) == data


def test_large_texts_take_little_room(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path)
    blobs.put(b"the same line\n" * 100_000)
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) < 20_000


def test_what_is_missing_or_damaged_is_never_handed_out(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path)
    blob_id = blobs.put(b"content")
    (path,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    for damaged in (b"0other", b"zno zlib", b""):
        path.write_bytes(damaged)
        with pytest.raises(StoreError):
            blobs.get(blob_id)
    path.unlink()
    with pytest.raises(StoreError, match="are missing"):
        blobs.get(blob_id)


@pytest.mark.parametrize("blob_id", ["", "x", "../../etc/passwd", "a" * 63 + "/"])
def test_an_id_that_is_none_is_refused(tmp_path: Path, blob_id: str) -> None:
    with pytest.raises(StoreError, match="is no id"):
        FileBlobs(tmp_path).get(blob_id)


def test_a_named_folder_is_made_private(tmp_path: Path) -> None:
    home = patch_home({"PATCH_HOME": str(tmp_path / "a" / "b")})
    assert home == tmp_path / "a" / "b"
    assert home.stat().st_mode & 0o077 == 0


def test_a_relative_folder_is_refused() -> None:
    with pytest.raises(UserError, match="must be an absolute path"):
        patch_home({"PATCH_HOME": "state"})


def test_the_platforms_folder_is_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert patch_home({}).is_relative_to(tmp_path)


def test_damaged_bytes_are_mended_when_they_are_put_again(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path)
    blob_id = blobs.put(b"content")
    (path,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    path.write_bytes(b"")
    assert blobs.put(b"content") == blob_id
    assert blobs.get(blob_id) == b"content"


def test_bytes_that_are_there_are_not_written_again(tmp_path: Path) -> None:
    blobs = FileBlobs(tmp_path)
    blobs.put(b"content")
    (path,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    before = path.stat()
    blobs.put(b"content")
    assert path.stat() == before


@pytest.mark.parametrize("umask", [0o000, 0o777])
def test_blobs_are_for_the_user_alone_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        FileBlobs(tmp_path / "blobs").put(b"content")
    finally:
        os.umask(before)
    found = {path.is_dir(): oct(path.stat().st_mode & 0o777) for path in tmp_path.rglob("*")}
    assert found == {True: "0o700", False: "0o600"}


def test_a_place_that_takes_no_bytes_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "blobs").write_text("in the way")
    with pytest.raises(StoreError, match=r"^cannot write to .*/blobs: [^\n]+$"):
        FileBlobs(tmp_path / "blobs").put(b"content")


def test_the_parents_that_are_made_are_private_and_those_that_were_there_stay(
    tmp_path: Path,
) -> None:
    there = tmp_path / "there"
    there.mkdir(mode=0o755)
    there.chmod(0o755)
    home = patch_home({"PATCH_HOME": str(there / "a" / "b")})
    found = [oct(path.stat().st_mode & 0o777) for path in (there, home.parent, home)]
    assert found == ["0o755", "0o700", "0o700"]
    assert list(home.iterdir()) == []


def test_a_named_folder_that_cannot_be_used_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UserError, match=r"^PATCH_HOME .*/file/x cannot be used \([^\n]+\); set"):
        patch_home({"PATCH_HOME": str(tmp_path / "file" / "x")})


@pytest.fixture
def no_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No home that can be used; the folder for temporary files is what is returned."""
    (tmp_path / "in-the-way").write_text("")
    (tmp_path / "temporary").mkdir()
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "in-the-way"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    return tmp_path / "temporary"


def test_without_a_usable_home_a_private_temporary_folder_is_used(no_home: Path) -> None:
    found = patch_home({})
    assert found == no_home / f"patch-agent-{os.getuid()}"
    assert oct(found.stat().st_mode & 0o777) == "0o700"
    assert patch_home({}) == found


NO_ENTRY = """
import os, sys, platformdirs, tempfile
from patch_agent.stores import home
os.environ.pop("XDG_STATE_HOME", None)
os.environ.pop("HOME", None)
tempfile.tempdir = sys.argv[1]
if os.geteuid() == 0:
    os.setuid(54321)
print(home.patch_home({}))
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become a user without an entry")
def test_a_user_without_a_home_and_an_entry_gets_a_temporary_folder() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o1777)
        ended = subprocess.run(
            [sys.executable, "-c", NO_ENTRY, folder], capture_output=True, text=True, check=False
        )
        assert (ended.stdout, ended.stderr) == (f"{folder}/patch-agent-54321\n", "")


@pytest.mark.parametrize("trap", ["link", "file", "other"])
def test_a_temporary_folder_that_somebody_else_prepared_is_refused(
    no_home: Path, trap: str
) -> None:
    place = no_home / f"patch-agent-{os.getuid()}"
    if trap == "link":
        (no_home / "elsewhere").mkdir()
        place.symlink_to(no_home / "elsewhere")
    elif trap == "file":
        place.write_text("")
    else:
        if os.getuid() != 0:
            pytest.skip("only root can give a folder to somebody else")
        place.mkdir()
        os.chown(place, 65534, 65534)
    with pytest.raises(UserError, match="set PATCH_HOME"):
        patch_home({})
