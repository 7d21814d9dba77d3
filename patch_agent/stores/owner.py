"""Who holds a lease: a process on a host, told apart from a later one with the same pid."""

import os
import socket
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Owner:
    """A process. `token` tells it from another process that got the same pid later."""

    host: str
    pid: int
    token: str

    @property
    def text(self) -> str:
        """For messages: `process 4711 on host`."""
        return f"process {self.pid} on {self.host}"


def this_process() -> Owner:
    """The running process."""
    return Owner(socket.gethostname(), os.getpid(), _token(os.getpid()))


def is_gone(owner: Owner) -> bool:
    """Whether the owner certainly runs no more; a process of another host is never certain."""
    if owner.host != socket.gethostname():
        return False
    try:
        os.kill(owner.pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return _token(owner.pid) != owner.token


def is_here(owner: Owner) -> bool:
    """Whether `is_gone` is certain for this owner: a process of this host that can be told apart
    from a later one."""
    return owner.host == socket.gethostname() and owner.token != ""


def _token(pid: int) -> str:
    # Start time of the process, in clock ticks since boot: pids are used again, this pair is not.
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rsplit(b")", 1)[1].split()
        # A dead process that nobody has waited for (as under a pid 1 that never does) is gone.
        return "" if fields[0] in (b"Z", b"X") else fields[19].decode()
    except (OSError, IndexError):
        return ""
