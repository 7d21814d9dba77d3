"""Writing the user's files: whole bytes or nothing, with all that belongs to the file kept."""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from patch_agent.core.errors import ToolError
from patch_agent.workspace.files import hash_on_disk


@dataclass(frozen=True, slots=True)
class Written:
    """sha256: of the bytes read back from disk. not_kept: what the file had and has no more."""

    sha256: str
    not_kept: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """A sentence on what was not kept, with a blank in front; "" when all was."""
        return f" Not kept: its {', '.join(self.not_kept)}." if self.not_kept else ""


def atomic_write(path: Path, data: bytes, *, expect_sha256: str | None) -> Written:
    """Replace a file's bytes, or make a new file.

    expect_sha256: of the bytes that must be there now; None: there must be no file. Raises
    ToolError, with nothing changed, when that is not so or the file cannot be written.
    """
    not_kept: list[str] = []
    with _all_or_nothing(path, "written") as made:
        if expect_sha256 is None:
            _make_folders(path.parent, made)
        info = _check_before(path, expect_sha256)
        if info is not None and info.st_nlink > 1:
            _write_in_place(path, data)
        else:
            not_kept = _replace_or_fill(path, data, info, expect_sha256)
    return Written(hash_on_disk(path), tuple(not_kept))


def remove_file(path: Path, *, expect_sha256: str) -> None:
    """Remove a file, or a link (never what it leads to). Raises ToolError like atomic_write."""
    with _all_or_nothing(path, "removed"):
        _check_before(path, expect_sha256, link_too=True)
        path.unlink()
    _sync_folder(path.parent)


def move_file(path: Path, to: Path, *, expect_sha256: str) -> None:
    """Give a file or link another name, which must be free. Raises ToolError like atomic_write."""
    with _all_or_nothing(path, "moved") as made:
        _make_folders(to.parent, made)
        _check_before(path, expect_sha256, link_too=True)
        # On a file system that folds case, the new name may be the old one.
        if os.path.lexists(to) and not _is_same_entry(path, to):
            raise ToolError(f"{to.name} exists by now; nothing was moved.")
        os.rename(path, to)
    _sync_folder(to.parent)
    _sync_folder(path.parent)


@contextlib.contextmanager
def _all_or_nothing(path: Path, done: str) -> Iterator[list[Path]]:
    made: list[Path] = []
    try:
        yield made
    except BaseException as error:
        for folder in reversed(made):
            with contextlib.suppress(OSError):
                folder.rmdir()
        if isinstance(error, OSError):
            raise ToolError(
                f"{path.name} could not be {done} ({error.strerror}); nothing was changed."
            ) from None
        raise


def _is_same_entry(path: Path, to: Path) -> bool:
    one, other = path.lstat(), to.lstat()
    is_same_file = (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
    return is_same_file and one.st_nlink == 1 and path.name != to.name


def _make_folders(folder: Path, made: list[Path]) -> None:
    missing = [here for here in (folder, *folder.parents) if not here.exists()]
    for here in reversed(missing):
        here.mkdir(exist_ok=True)
        made.append(here)


def _check_before(
    path: Path, expect_sha256: str | None, *, link_too: bool = False
) -> os.stat_result | None:
    try:
        info = path.lstat()
    except FileNotFoundError:
        info = None
    if expect_sha256 is None and info is not None:
        raise ToolError(f"{path.name} exists by now; read it first, then edit it.")
    is_link = info is not None and stat.S_ISLNK(info.st_mode)
    if info is not None and not stat.S_ISREG(info.st_mode) and not (is_link and link_too):
        raise ToolError(f"{path.name} is not a regular file any more; look at it again.")
    if expect_sha256 is not None and hash_on_disk(path) != expect_sha256:
        raise ToolError(f"{path.name} changed while it was edited; read it again.")
    return info


_NO_NEW_NAME = (errno.EBUSY, errno.EXDEV, errno.EACCES, errno.EPERM)
"""How a rename fails on a file that is mounted by itself, or in a folder that is closed."""


def _replace_or_fill(
    path: Path, data: bytes, info: os.stat_result | None, expect_sha256: str | None
) -> list[str]:
    try:
        return _replace(path, data, info, expect_sha256)
    except OSError as error:
        if info is None or error.errno not in _NO_NEW_NAME:
            raise
        _check_before(path, expect_sha256)
        _write_in_place(path, data)
        return []


def _replace(
    path: Path, data: bytes, info: os.stat_result | None, expect_sha256: str | None
) -> list[str]:
    temporary = path.with_name(f".{_short(path.name)}.patch-new")
    # One run writes in a working tree: what has this name is of a write that was killed.
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            not_kept = [] if info is None else _keep_attributes(path, file.fileno(), info)
            os.fsync(file.fileno())
        # As late as can be: whoever wrote in the meantime must not be overwritten.
        _check_before(path, expect_sha256)
        os.rename(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(path.parent)
    return not_kept


def _short(name: str) -> str:
    # A file's name has at most 255 bytes on most file systems.
    return os.fsencode(name)[:200].decode("utf-8", "ignore")


def _keep_attributes(path: Path, descriptor: int, info: os.stat_result) -> list[str]:
    """Give the new file what the old one has; returns what the user may not keep."""
    # Owner first: changing it clears set-id bits.
    with contextlib.suppress(OSError):
        os.fchown(descriptor, -1, info.st_gid)
    with contextlib.suppress(OSError):
        os.fchown(descriptor, info.st_uid, -1)
    with contextlib.suppress(OSError):
        os.fchmod(descriptor, stat.S_IMODE(info.st_mode))
    now = os.fstat(descriptor)
    lost = [
        what
        for what, kept in (
            ("owner", now.st_uid == info.st_uid),
            ("group", now.st_gid == info.st_gid),
            ("permissions", stat.S_IMODE(now.st_mode) == stat.S_IMODE(info.st_mode)),
        )
        if not kept
    ]
    return lost + _keep_extended(path, descriptor)


def _keep_extended(path: Path, descriptor: int) -> list[str]:
    if not hasattr(os, "listxattr"):
        return []
    try:
        names = os.listxattr(path)
    except OSError:
        return []
    lost: list[str] = []
    for name in names:
        try:
            value = os.getxattr(path, name)
            # Labels that the system gives to every file are there by themselves.
            if name not in os.listxattr(descriptor) or os.getxattr(descriptor, name) != value:
                os.setxattr(descriptor, name, value)
        except OSError:
            lost.append(f"attribute {name}")
    return lost


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
    # The change is there, whatever follows.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
