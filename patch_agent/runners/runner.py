"""What a test runner's adapter is: detect, command, read, and which files steer its tests."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from patch_agent.core.testing import TestReport
from patch_agent.execution.process import ProcessResult


@dataclass(frozen=True, slots=True)
class Detected:
    """A test command that was found; `why` says how, for the user."""

    argv: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Run:
    """One finished run as an adapter reads it.

    argv: the command as it was configured. complete: no selection was given. report: the file that
    the runner was asked to write its results to. blob: content id of the full output.
    """

    argv: tuple[str, ...]
    result: ProcessResult
    report: Path
    root: Path
    complete: bool
    blob: str | None


class Runner(Protocol):
    """One kind of test runner."""

    @property
    def name(self) -> str:
        """For people, and for the report."""
        ...

    def detect(self, root: Path, path: str) -> Detected | None:
        """The test command of a repository whose tests are of this kind; `path` is PATH."""
        ...

    def recognises(self, argv: Sequence[str]) -> bool:
        """Whether a command given by the user is one of this runner."""
        ...

    def command(
        self, argv: Sequence[str], selection: Sequence[str], report: Path
    ) -> tuple[str, ...]:
        """What is started, so that a report that a machine can read comes out."""
        ...

    def read(self, run: Run) -> TestReport:
        """The result of a run. Never raises: what cannot be read is said in the report's note."""
        ...

    def is_test_path(self, path: str) -> bool:
        """Whether the runner collects tests from this file (relative to the root)."""
        ...

    def steers_tests(self, path: str) -> bool:
        """Whether this file decides which tests run and how (settings, plugins, hooks)."""
        ...
