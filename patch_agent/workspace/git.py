"""The one place that starts git: fixed overrides, a clean environment, nothing of the repository
runs (no hooks, filters, monitors, pagers, helpers), and the user's git folder is only read."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from patch_agent.core.errors import StoreError, UserError
from patch_agent.execution.environment import clean_path
from patch_agent.execution.process import ProcessResult, ProcessSpec, run

OVERRIDES = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.pager": "cat",
    "core.editor": "true",
    "core.sshCommand": "false",
    "core.attributesFile": os.devnull,
    "core.alternateRefsCommand": "",
    "core.untrackedCache": "false",
    "core.quotePath": "false",
    "diff.external": "",
    "gpg.program": "false",
    "commit.gpgSign": "false",
    "log.showSignature": "false",
    "credential.helper": "",
    "protocol.allow": "never",
    "uploadpack.packObjectsHook": "",
    "submodule.recurse": "false",
    "safe.directory": "*",
    "gc.auto": "0",
    "maintenance.auto": "false",
}
ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
}
WRITE = {
    "core.autocrlf": "false",
    "core.safecrlf": "false",
    "core.fsync": "loose-object",
    "core.fsyncMethod": "batch",
    "core.compression": "1",
    "advice.addEmbeddedRepo": "false",
}
"""Settings of calls that write objects: bytes as they are, on disk when the call returns."""

TIMEOUT_S = 600.0
_CAPTURE = 2 * 1024 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class GitCall:
    """What one call works on. git_dir None: git finds the repository from `cwd`."""

    cwd: Path
    git_dir: Path | None = None
    work_tree: Path | None = None
    index: Path | None = None
    overrides: Mapping[str, str] = field(default_factory=dict)


def git(
    call: GitCall, *arguments: str, stdin: bytes | None = None, ok: Sequence[int] = (0,)
) -> bytes:
    """What git printed. Raises StoreError, with git's own words, for any other exit code."""
    result = git_result(call, *arguments, stdin=stdin)
    if result.ending != "exit" or result.exit_code not in ok:
        words = result.stderr.decode("utf-8", "replace").strip().splitlines()
        why = words[-1] if words else result.problem or result.ending
        name = next((word for word in arguments if not word.startswith("-")), "")
        raise StoreError(f"git {name} failed: {why}")
    return result.output


def git_result(call: GitCall, *arguments: str, stdin: bytes | None = None) -> ProcessResult:
    """How a call ended, whatever its exit code. Raises UserError when there is no git."""
    options: list[str] = []
    for name, value in {**OVERRIDES, **call.overrides}.items():
        options += ["-c", f"{name}={value}"]
    return run(
        ProcessSpec(
            argv=(find_git(os.environ.get("PATH", os.defpath)), *options, *arguments),
            cwd=str(call.cwd),
            env=_environment(call),
            timeout_s=TIMEOUT_S,
            stdin=stdin,
            capture_limit=_CAPTURE,
            separate_stderr=True,
        )
    )


def names_of(listed: bytes) -> list[str]:
    """The names of a list that NULs separate."""
    return [os.fsdecode(name) for name in listed.split(b"\x00") if name]


def _environment(call: GitCall) -> dict[str, str]:
    env = {**ENVIRONMENT, "PATH": clean_path(os.environ.get("PATH", os.defpath))}
    env |= {name: os.environ[name] for name in ("TMPDIR", "SYSTEMROOT") if name in os.environ}
    places = {
        "GIT_DIR": call.git_dir,
        "GIT_WORK_TREE": call.work_tree,
        "GIT_INDEX_FILE": call.index,
    }
    return env | {name: str(place) for name, place in places.items() if place is not None}


@lru_cache(maxsize=8)
def find_git(path: str) -> str:
    """The absolute path of git. Raises UserError when there is none on `path`."""
    for folder in clean_path(path).split(os.pathsep):
        program = os.path.join(folder, "git")
        if folder and os.path.isfile(program) and os.access(program, os.X_OK):
            return program
    raise UserError("git was not found on PATH; install git and try again", "repository")
