"""Ending a process group: politely, then for good; and counting what is left of it."""

import os
import signal
import time
from pathlib import Path

GRACE_S = 2.0


def end_group(pid: int, grace_s: float = GRACE_S) -> None:
    """SIGTERM to the group, SIGKILL after the grace; returns when none of it runs any more."""
    if not _signal(pid, signal.SIGTERM):
        return
    deadline = time.monotonic() + grace_s
    while time.monotonic() < deadline:
        if not survivors(pid):
            return
        time.sleep(0.02)
    _signal(pid, signal.SIGKILL)
    deadline = time.monotonic() + 1.0
    while survivors(pid) and time.monotonic() < deadline:
        time.sleep(0.02)


def group_exists(pid: int) -> bool:
    """Whether anything of the group is there, a zombie too."""
    try:
        os.killpg(pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _signal(pid: int, number: signal.Signals) -> bool:
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def survivors(pid: int) -> int:
    """How many processes of the group still run; a zombie that nobody reaped yet does not."""
    if not group_exists(pid):
        return 0
    if not Path("/proc/self/stat").exists():
        return 1
    count = 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and _is_running_member(entry.path, pid):
            count += 1
    return count


def _is_running_member(folder: str, group: int) -> bool:
    try:
        with open(f"{folder}/stat", "rb") as file:
            state, _parent, member_of = file.read().rsplit(b")", 1)[1].split()[:3]
    except (OSError, ValueError):
        return False
    return int(member_of) == group and state not in (b"Z", b"X")
