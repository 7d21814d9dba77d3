"""The environment of every child: an allow-list, nothing that asks, nothing secret."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

PASSED = (
    "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "SHELL", "TMPDIR", "TEMP", "TMP",
    "SYSTEMROOT", "PATHEXT", "COMSPEC", "VIRTUAL_ENV", "CONDA_PREFIX", "PYENV_VERSION",
    "PYENV_ROOT", "NVM_DIR", "CARGO_HOME", "RUSTUP_HOME", "GOPATH", "GOROOT", "JAVA_HOME",
)  # fmt: skip
PASSED_PREFIXES = ("LC_",)
SET = {
    "CI": "1",
    "NO_COLOR": "1",
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "npm_config_yes": "false",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUNBUFFERED": "1",
}


def child_environment(base: Mapping[str, str], pass_names: Sequence[str] = ()) -> dict[str, str]:
    """What a command, a test run or a search may see of `base`, plus what keeps it from asking.

    pass_names: further names that the user lists; also secrets, if the user says so.
    """
    env = {
        name: value
        for name, value in base.items()
        if name in PASSED or name.startswith(PASSED_PREFIXES) or name in pass_names
    }
    env["PATH"] = clean_path(base.get("PATH", os.defpath))
    return env | SET


def clean_path(path: str) -> str:
    """PATH without empty and relative entries: those would name programs of the work tree."""
    return os.pathsep.join(entry for entry in path.split(os.pathsep) if os.path.isabs(entry))


def find_program(name: str, path: str, outside: Path) -> str | None:
    """The absolute path of a program on `path` that does not lie inside `outside`; None if none."""
    for folder in clean_path(path).split(os.pathsep):
        candidate = Path(folder) / name
        if not os.path.isfile(candidate) or not os.access(candidate, os.X_OK):
            continue
        if not candidate.resolve().is_relative_to(outside.resolve()):
            return str(candidate)
    return None
