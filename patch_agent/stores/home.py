"""Where Patch keeps its own state: never inside a repository, readable by the user alone."""

import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

from patch_agent.core.errors import UserError
from patch_agent.stores.private_files import make_folder


def patch_home(environ: Mapping[str, str]) -> Path:
    """The state directory, made with mode 0700. Raises UserError when none can be used.

    `PATCH_HOME`, else the platform's state directory, else (no usable home, as in some containers)
    a private folder of this user in the temporary directory.
    """
    named = environ.get("PATCH_HOME")
    if named:
        if not os.path.isabs(named):
            raise UserError(f"PATCH_HOME must be an absolute path, not {named!r}")
        return _made(Path(named), "PATCH_HOME")
    try:
        return _made(_platform_folder(), "the state directory")
    except UserError:
        return _made(_temporary_folder(), "the temporary state directory", shared=True)


def _platform_folder() -> Path:
    from platformdirs import user_state_path

    try:
        path = user_state_path("patch-agent")
    except (RuntimeError, KeyError, OSError) as error:
        raise UserError(f"no home folder: {error}") from None
    if "~" in path.parts or not path.is_absolute():
        raise UserError("no home folder")
    return path


def _temporary_folder() -> Path:
    uid = os.getuid() if hasattr(os, "getuid") else 0
    return Path(tempfile.gettempdir()) / f"patch-agent-{uid}"


def _made(path: Path, what: str, *, shared: bool = False) -> Path:
    try:
        if not shared:
            make_folder(path)
        else:
            path.mkdir(mode=0o700, exist_ok=True)
        _check_owner(path, shared)
        os.chmod(path, 0o700)
        probe = path / f".probe-{os.getpid()}"
        os.close(os.open(probe, os.O_CREAT | os.O_WRONLY, 0o600))
        probe.unlink()
    except OSError as error:
        raise UserError(
            f"{what} {path} cannot be used ({error.strerror}); set PATCH_HOME to a folder that can"
        ) from None
    return path


def _check_owner(path: Path, shared: bool) -> None:
    if not hasattr(os, "getuid"):
        return
    info = path.lstat() if shared else path.stat()
    # In a shared place somebody else may have made the folder, or a link, before us.
    if shared and (not stat.S_ISDIR(info.st_mode) or info.st_uid != os.getuid()):
        raise UserError(f"{path} is not a folder of this user; set PATCH_HOME to one that is")
    # Root is let into the folders of others: a mounted volume often belongs to someone else.
    if info.st_uid != os.getuid() and os.getuid() != 0:
        raise UserError(f"{path} belongs to another user; set PATCH_HOME to a folder of your own")
