"""Files and folders that only the user may read, whatever the umask says."""

import os
from pathlib import Path


def make_folder(path: Path) -> None:
    """Make a folder, and the parents it lacks, with mode 0700; a wider one there is narrowed.

    The names of new folders are durable when this returns. Raises OSError.
    """
    missing = []
    here = path
    while not here.exists():
        missing.append(here)
        here = here.parent
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
        os.chmod(folder, 0o700)
        sync_folder(folder.parent)
    if path.stat().st_mode & 0o077:
        os.chmod(path, 0o700)


def make_file(path: Path) -> None:
    """Make sure that a file exists with mode 0600. Raises OSError."""
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        if os.fstat(descriptor).st_mode & 0o777 != 0o600:
            os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except PermissionError:
        # A folder of somebody else in which we may write but not look: its owner syncs it.
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
