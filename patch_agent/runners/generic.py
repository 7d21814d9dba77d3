"""Any other command: its exit code is seen, its tests are not."""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from patch_agent.core.testing import TestReport
from patch_agent.runners.runner import Detected, Run


class Generic:
    """The adapter of commands whose output Patch cannot read."""

    name = "other"

    def detect(self, root: Path, path: str) -> Detected | None:
        """Nothing is ever guessed."""
        return None

    def recognises(self, argv: Sequence[str]) -> bool:
        """Every command."""
        return True

    def command(
        self, argv: Sequence[str], selection: Sequence[str], report: Path
    ) -> tuple[str, ...]:
        """The command as it is, with the selection at its end."""
        return (*argv, *selection)

    def read(self, run: Run) -> TestReport:
        """How it ended; no test is known to have run, so it can never count as a pass."""
        result = run.result
        note = result.problem or (
            "Patch cannot see which tests this command ran; name the runner itself, "
            "such as --test-cmd 'python -m pytest'"
        )
        return TestReport(
            runner=self.name,
            argv=run.argv,
            cwd=".",
            ending=result.ending,
            exit_code=result.exit_code,
            duration_s=round(result.duration_s, 3),
            complete=run.complete,
            output_blob=run.blob,
            note=note,
        )

    def is_test_path(self, path: str) -> bool:
        """Files in folders of tests."""
        return any(part in ("test", "tests") for part in PurePosixPath(path).parts[:-1])

    def steers_tests(self, path: str) -> bool:
        """What usually says how tests are run."""
        return PurePosixPath(path).name in ("Makefile", "justfile", "tox.ini", "package.json")
