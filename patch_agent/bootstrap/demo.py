"""`patch demo`: the small broken repository that comes with Patch, fixed in a temporary folder."""

import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from patch_agent.bootstrap.runs import fix
from patch_agent.core.errors import UserError
from patch_agent.settings import Flags
from patch_agent.workspace.repository import create_repository

NAME = "auth_expiry"


def demo(task: str, flags: Flags, environ: Mapping[str, str]) -> int:
    """Unpack the repository, fix it by the ordinary way, and say where it is."""
    folder = Path(tempfile.mkdtemp(prefix="patch-demo-")).resolve() / NAME
    shutil.copytree(_demo_source(), folder, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    create_repository(folder, "A login that lets expired tokens in")
    _say(f"The demo repository is {folder}: a login module, and 12 tests of which one fails.")
    _say(f'Running there: patch fix "{task}" --model offline')
    code = fix(folder, task, flags, environ, named="patch demo")
    _say(f"\nLook at it: cd {folder} && git diff   (also: patch show, patch log, patch diff)")
    return code


def _demo_source() -> Path:
    package = Path(__file__).resolve().parent.parent
    for place in (package / "demo_repo", package.parent / "fixtures" / "repos" / NAME):
        if place.is_dir():
            return place
    raise UserError("the demo repository is missing from this installation; install Patch again")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
