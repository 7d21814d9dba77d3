"""Running the test command(s) of a session and reading what came out."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from patch_agent.core.errors import ToolError
from patch_agent.core.protocols import Blobs
from patch_agent.core.testing import TestReport
from patch_agent.execution.process import ProcessSpec, run
from patch_agent.runners.registry import runner_for
from patch_agent.runners.runner import Run

# What would change a run from outside of its command: the same command has to mean the same.
_STEERING_VARIABLES = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTHONPATH", "PYTHONSTARTUP")


class CommandTester:
    """Implements `core.protocols.Tester` for commands in one repository."""

    def __init__(
        self,
        root: Path,
        commands: Sequence[tuple[str, ...]],
        timeout_s: float,
        environment: Mapping[str, str],
        blobs: Blobs,
    ) -> None:
        self._root = root
        self._commands = tuple(commands)
        self._timeout_s = timeout_s
        self._environment = {
            name: value for name, value in environment.items() if name not in _STEERING_VARIABLES
        }
        self._blobs = blobs

    def run(
        self, selection: Sequence[str], progress: Callable[[str], None]
    ) -> tuple[TestReport, ...]:
        """Run every command. Raises ToolError for a selection that names nothing."""
        for name in selection:
            self._check(name)
        return tuple(self._run_one(argv, selection, progress) for argv in self._commands)

    def _check(self, name: str) -> None:
        file = name.split("::", 1)[0]
        odd = name.startswith("-") or "\x00" in name
        if odd or not (self._root / file).resolve().is_relative_to(self._root.resolve()):
            raise ToolError(f"{name!r} names no test; give ids or paths inside the repository.")
        if not (self._root / file).exists():
            raise ToolError(f"There is no {file}; give test ids or paths relative to the root.")

    def _run_one(
        self, argv: tuple[str, ...], selection: Sequence[str], progress: Callable[[str], None]
    ) -> TestReport:
        runner = runner_for(argv)
        with TemporaryDirectory(prefix="patch-tests-") as folder:
            report, spill = Path(folder) / "report.xml", Path(folder) / "output"
            progress(" ".join(argv))
            result = run(
                ProcessSpec(
                    argv=runner.command(argv, selection, report),
                    cwd=str(self._root),
                    env=self._environment,
                    timeout_s=self._timeout_s,
                    spill=spill,
                ),
                on_output=lambda piece: progress(_last_line(piece)),
            )
            blob = self._blobs.put(spill.read_bytes()) if spill.exists() else None
            read = Run(argv, result, report, self._root, not selection, blob)
            return runner.read(read)


def _last_line(piece: bytes) -> str:
    lines = piece.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][-80:] if lines else ""
