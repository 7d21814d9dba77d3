"""Reading the user's files: whole bytes, and their hash."""

import errno
import hashlib
import os
import stat
from pathlib import Path

from patch_agent.core.errors import ToolError


def content_hash(data: bytes) -> str:
    """SHA-256 of the bytes, in hex."""
    return hashlib.sha256(data).hexdigest()


def link_hash(target: str) -> str:
    """What stands for a link where a file would have the hash of its bytes."""
    return content_hash(b"link\x00" + os.fsencode(target))


def hash_on_disk(path: Path) -> str:
    """SHA-256 of a file's bytes, or of what a link says; "" where neither is, or can be read."""
    try:
        if path.is_symlink():
            return link_hash(os.readlink(path))
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
