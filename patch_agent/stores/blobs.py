"""Bytes by content, as files: `ab/cdef...`, compressed, written once, checked when read."""

import hashlib
import os
import threading
import zlib
from pathlib import Path

from patch_agent.core.errors import StoreError
from patch_agent.stores.private_files import make_folder, sync_folder

_PLAIN, _ZLIB = b"0", b"z"


class FileBlobs:
    """A content-addressed folder; ids are SHA-256 in hex."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, data: bytes) -> str:
        """Keep the bytes, synced. Raises StoreError when they cannot be written."""
        blob_id = hashlib.sha256(data).hexdigest()
        path = self._path(blob_id)
        if path.exists() and self._is_whole(blob_id):
            return blob_id
        packed = zlib.compress(data, 3)
        body = _ZLIB + packed if len(packed) < len(data) else _PLAIN + data
        try:
            _write(path, body)
        except OSError as error:
            raise StoreError(f"cannot write to {self._folder}: {error.strerror}") from None
        return blob_id

    def get(self, blob_id: str) -> bytes:
        """The bytes. Raises StoreError when they are missing or damaged."""
        if len(blob_id) != 64 or not blob_id.isalnum():
            raise StoreError(f"{blob_id[:80]!r} is no id of a stored output")
        try:
            body = self._path(blob_id).read_bytes()
            data = zlib.decompress(body[1:]) if body[:1] == _ZLIB else body[1:]
        except FileNotFoundError:
            raise StoreError(f"the stored bytes {blob_id} are missing") from None
        except (OSError, zlib.error) as error:
            raise StoreError(f"the stored bytes {blob_id} cannot be read: {error}") from None
        if hashlib.sha256(data).hexdigest() != blob_id:
            raise StoreError(f"the stored bytes {blob_id} are damaged")
        return data

    def _is_whole(self, blob_id: str) -> bool:
        try:
            self.get(blob_id)
        except StoreError:
            return False
        return True

    def _path(self, blob_id: str) -> Path:
        return self._folder / blob_id[:2] / blob_id[2:]


def _write(path: Path, body: bytes) -> None:
    make_folder(path.parent)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    descriptor = os.open(temporary, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        os.rename(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)
