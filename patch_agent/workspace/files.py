"""Reading and writing the user's files: whole bytes in, whole bytes out, never half of them."""

import contextlib
import errno
import hashlib
import os
import stat
from pathlib import Path

from patch_agent.core.errors import ToolError


def content_hash(data: bytes) -> str:
    """SHA-256 of the bytes, in hex."""
    return hashlib.sha256(data).hexdigest()


def hash_on_disk(path: Path) -> str:
    """SHA-256 of a file's bytes; "" when there is no such file, or none that can be read."""
    try:
        descriptor = _open(path)
    except OSError:
        return ""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ""
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    # Non-blocking: a pipe or a device that took the file's place must not hold us.
    return os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)


def read_bytes(path: Path, limit: int) -> bytes:
    """The bytes of a regular file of at most `limit` bytes. Raises ToolError otherwise."""
    try:
        with os.fdopen(_open_checked(path, limit), "rb") as file:
            return file.read(limit)
    except OSError as error:
        raise ToolError(_cannot_read(path, error)) from None


def _open_checked(path: Path, limit: int) -> int:
    descriptor = _open(path)
    try:
        _check_readable(path.name, os.fstat(descriptor), limit)
    except ToolError:
        os.close(descriptor)
        raise
    return descriptor


def _check_readable(name: str, info: os.stat_result, limit: int) -> None:
    if stat.S_ISDIR(info.st_mode):
        raise ToolError(f"{name} is a folder; list_files shows what is in it.")
    if not stat.S_ISREG(info.st_mode):
        raise ToolError(f"{name} is not a regular file.")
    if info.st_size > limit:
        raise ToolError(f"{name} has {info.st_size} bytes, more than can be read here.")


def _cannot_read(path: Path, error: OSError) -> str:
    if error.errno == errno.ENOENT:
        return f"There is no file {path.name} there; list_files shows what is."
    if error.errno == errno.EISDIR:
        return f"{path.name} is a folder; list_files shows what is in it."
    return f"{path.name} cannot be read: {error.strerror}."


def atomic_write(path: Path, data: bytes, *, expect_sha256: str | None) -> str:
    """Replace a file's bytes, or make a new file; returns the SHA-256 read back from disk.

    expect_sha256: of the bytes that must be there now; None: there must be no file. Raises
    ToolError, with nothing changed, when that is not so or the file cannot be written.
    """
    made: list[Path] = []
    try:
        if expect_sha256 is None:
            _make_folders(path.parent, made)
        info = _check_before(path, expect_sha256)
        if info is not None and info.st_nlink > 1:
            _write_in_place(path, data)
        else:
            _replace(path, data, info, expect_sha256)
    except BaseException as error:
        for folder in reversed(made):
            with contextlib.suppress(OSError):
                folder.rmdir()
        if isinstance(error, OSError):
            raise ToolError(
                f"{path.name} could not be written ({error.strerror}); nothing was changed."
            ) from None
        raise
    return hash_on_disk(path)


def _make_folders(folder: Path, made: list[Path]) -> None:
    missing = [here for here in (folder, *folder.parents) if not here.exists()]
    for here in reversed(missing):
        here.mkdir(exist_ok=True)
        made.append(here)


def _check_before(path: Path, expect_sha256: str | None) -> os.stat_result | None:
    try:
        info = path.lstat()
    except FileNotFoundError:
        info = None
    if expect_sha256 is None and info is not None:
        raise ToolError(f"{path.name} exists by now; read it first, then edit it.")
    if info is not None and not stat.S_ISREG(info.st_mode):
        raise ToolError(f"{path.name} is not a regular file any more; look at it again.")
    if expect_sha256 is not None and hash_on_disk(path) != expect_sha256:
        raise ToolError(f"{path.name} changed while it was edited; read it again.")
    return info


def _replace(
    path: Path, data: bytes, info: os.stat_result | None, expect_sha256: str | None
) -> None:
    temporary = path.with_name(f".{_short(path.name)}.patch-new")
    # One run writes in a working tree: what has this name is of a write that was killed.
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if info is not None:
                _keep_attributes(path, file.fileno(), info)
            os.fsync(file.fileno())
        # As late as can be: whoever wrote in the meantime must not be overwritten.
        _check_before(path, expect_sha256)
        os.rename(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    # The file is there now, whatever follows.
    with contextlib.suppress(OSError):
        _sync_folder(path.parent)


def _short(name: str) -> str:
    # A file's name has at most 255 bytes on most file systems.
    return os.fsencode(name)[:200].decode("utf-8", "ignore")


def _keep_attributes(path: Path, descriptor: int, info: os.stat_result) -> None:
    # Owner first: changing it clears set-id bits. What the user may not keep is not kept.
    with contextlib.suppress(OSError):
        os.fchown(descriptor, info.st_uid, info.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(info.st_mode))
    if hasattr(os, "listxattr"):
        names: list[str] = []
        with contextlib.suppress(OSError):
            names = os.listxattr(path)
        for name in names:
            with contextlib.suppress(OSError):
                os.setxattr(descriptor, name, os.getxattr(path, name))


def _write_in_place(path: Path, data: bytes) -> None:
    # Another name shares these bytes: a rename would part the two.
    before = path.read_bytes()
    try:
        _overwrite(path, data)
    except BaseException:
        # What was there had its room: it fits again.
        with contextlib.suppress(OSError):
            _overwrite(path, before)
        raise


def _overwrite(path: Path, data: bytes) -> None:
    with path.open("r+b") as file:
        file.write(data)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
