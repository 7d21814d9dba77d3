"""All runners; the first that recognises a command reads it, so the generic one is last."""

from collections.abc import Sequence
from pathlib import Path

from patch_agent.runners.generic import Generic
from patch_agent.runners.pytest import Pytest
from patch_agent.runners.runner import Detected, Runner

RUNNERS: tuple[Runner, ...] = (Pytest(), Generic())


def detect(root: Path, path: str) -> Detected | None:
    """The test command of a repository; None when no runner finds its kind of tests."""
    for runner in RUNNERS:
        found = runner.detect(root, path)
        if found is not None:
            return found
    return None


def runner_for(argv: Sequence[str]) -> Runner:
    """The adapter that reads this command."""
    return next(runner for runner in RUNNERS if runner.recognises(argv))
