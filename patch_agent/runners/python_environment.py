"""Which Python runs a repository's tests: its own environment first, ours last. Nothing is run."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from patch_agent.execution.environment import clean_path


def python_command(
    root: Path, path: str, environ: Mapping[str, str] | None = None
) -> tuple[tuple[str, ...], str]:
    """(the start of the command, why this one)."""
    variables = os.environ if environ is None else environ
    own = _local_environment(root)
    if own is not None:
        return (str(own),), f"in the project's environment {own.parent.parent.name}"
    active = variables.get("VIRTUAL_ENV")
    if active and Path(active).resolve() != Path(sys.prefix).resolve():
        python = _python_in(Path(active))
        if python is not None and _has_pytest(Path(active)):
            return (str(python),), f"in the active environment {active}"
    tool = _tool_environment(root, path)
    if tool is not None:
        return tool
    found = _python_on_path(path)
    if found is not None:
        return (found,), f"with {found}, which has pytest"
    return (sys.executable,), "with the Python that runs Patch (no other has pytest)"


def _local_environment(root: Path) -> Path | None:
    for name in (".venv", "venv", "env"):
        folder = root / name
        python = _python_in(folder)
        if python is not None and _has_pytest(folder):
            return python
    return None


def _python_in(environment: Path) -> Path | None:
    for relative in ("bin/python", "Scripts/python.exe"):
        python = environment / relative
        if os.path.exists(python):
            return python
    return None


def _has_pytest(prefix: Path) -> bool:
    places = (*prefix.glob("lib/python3*/site-packages"), prefix / "Lib" / "site-packages")
    return any(os.path.isdir(place / "pytest") for place in places)


def _tool_environment(root: Path, path: str) -> tuple[tuple[str, ...], str] | None:
    for lock, tool, start in (
        ("uv.lock", "uv", ("run", "--no-sync", "python")),
        ("poetry.lock", "poetry", ("run", "python")),
    ):
        program = _on_path(tool, path)
        if os.path.isfile(root / lock) and program is not None:
            return (program, *start), f"through {tool} ({lock})"
    return None


def _python_on_path(path: str) -> str | None:
    for name in ("python3", "python"):
        program = _on_path(name, path)
        if program is None:
            continue
        prefix = Path(program).parent.parent
        real = Path(program).resolve().parent.parent
        if prefix.resolve() != Path(sys.prefix).resolve() and any(map(_has_pytest, (prefix, real))):
            return program
    return None


def _on_path(name: str, path: str) -> str | None:
    for folder in clean_path(path).split(os.pathsep):
        program = os.path.join(folder, name)
        if os.path.isfile(program) and os.access(program, os.X_OK):
            return program
    return None
