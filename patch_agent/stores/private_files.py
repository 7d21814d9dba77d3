"""Files and folders that only the user may read, whatever the umask says."""

import os
from pathlib import Path


def make_folder(path: Path) -> None:
    """Make a folder (and its parents) with mode 0700; an existing wider one is narrowed."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.stat().st_mode & 0o077:
        os.chmod(path, 0o700)


def make_file(path: Path) -> None:
    """Make sure that a file exists with mode 0600."""
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    if path.stat().st_mode & 0o177:
        os.chmod(path, 0o600)


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
