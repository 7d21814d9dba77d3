"""Bytes by content, and the folder where Patch keeps its own state."""

import os
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
