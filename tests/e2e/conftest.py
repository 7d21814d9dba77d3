"""A broken repository and the command in it."""

from pathlib import Path

import pytest

from tests.support.command import Command
from tests.support.repositories import BROKEN, make_repository

# What the environment of these tests has installed is no part of the repository's tests.
SETTINGS = "[pytest]\naddopts = -p no:hypothesispytest -p no:xdist -p no:timeout -p no:anyio\n"


@pytest.fixture
def command(tmp_path: Path) -> Command:
    root = make_repository(tmp_path / "repo", {**BROKEN, "pytest.ini": SETTINGS})
    return Command(root, tmp_path / "home")
