"""The scratch copy in which tests are traced and candidates are tried, and how they are run."""

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from patch_agent.execution.process import ProcessResult, ProcessSpec, run

PLUGIN = "patch_repair_worker"
MAX_NAMED = 1_000
"""More tests than this are not named on a command line; all are run then."""
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Bench:
    """root: the copy. folder: for our own files, beside it. argv: the pytest command."""

    root: Path
    folder: Path
    argv: tuple[str, ...]
    environment: Mapping[str, str]

    def work(
        self, job: Mapping[str, Any], limit_s: float, progress: Progress
    ) -> tuple[list[dict[str, Any]], ProcessResult]:
        """Run the plugin with a job; its results, and how the process ended."""
        results = self.folder / f"results-{job['mode']}.jsonl"
        results.write_text("")
        file = self.folder / "job.json"
        file.write_text(json.dumps({**job, "root": str(self.root), "results": str(results)}))
        shutil.copyfile(Path(__file__).with_name("worker.py"), self.folder / f"{PLUGIN}.py")
        spec = ProcessSpec(
            argv=(*self.argv, "-p", PLUGIN, "-p", "no:cacheprovider"),
            cwd=str(self.root),
            env=self._environment(file),
            timeout_s=limit_s,
        )
        result = run(spec, on_output=lambda piece: _pass_on(piece, progress))
        return _read(results), result

    def passes(self, tests: tuple[str, ...], limit_s: float) -> bool:
        """Whether these tests pass in a process of their own."""
        named = ("--", *tests) if len(tests) <= MAX_NAMED else ()
        spec = ProcessSpec(
            argv=(*self.argv, "-x", "-q", "-p", "no:cacheprovider", *named),
            cwd=str(self.root),
            env=self._environment(None),
            timeout_s=limit_s,
        )
        result = run(spec)
        return result.ending == "exit" and result.exit_code == 0

    def _environment(self, job: Path | None) -> dict[str, str]:
        places = [str(self.root / "src")] if (self.root / "src").is_dir() else []
        if job is not None:
            places = [str(self.folder), *places]
        changes = {"PATCH_REPAIR_JOB": str(job)} if job is not None else {}
        # The copy has to win over an installed package that points to the working tree.
        paths = os.pathsep.join([*places, str(self.root)])
        return {**self.environment, "PYTHONPATH": paths, **changes}


def _pass_on(piece: bytes, progress: Progress) -> None:
    lines = [line for line in piece.decode("utf-8", "replace").splitlines() if "candidates" in line]
    if lines:
        progress(lines[-1].strip())


def _read(path: Path) -> list[dict[str, Any]]:
    found = []
    for line in path.read_text("utf-8").splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            # The process was ended in the middle of its last line.
            continue
    return found
