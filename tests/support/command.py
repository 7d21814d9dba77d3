"""The installed `patch` command, started as a user starts it, with a state directory of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BIN = Path(sys.executable).parent
DROPPED = ("ANTHROPIC_", "PATCH_", "PYTEST_", "COVERAGE_", "NO_COLOR", "VIRTUAL_ENV")


def environment(home: Path, **changes: str) -> dict[str, str]:
    """What a user's shell would have: the command on PATH, no key."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(DROPPED)}
    kept["PATH"] = os.pathsep.join([str(BIN), kept.get("PATH", os.defpath)])
    # The plugins of the environment that runs these tests would make each start slow; `patch`
    # itself passes no such variable on, so the fixture's interpreter is told by a setting file.
    return {**kept, "PATCH_HOME": str(home), "TERM": "dumb", **changes}


@dataclass
class Command:
    """Runs `patch` in one folder."""

    cwd: Path
    home: Path
    variables: dict[str, str] = field(default_factory=dict)

    def run(
        self, *arguments: str, stdin: str = "", **changes: str
    ) -> subprocess.CompletedProcess[str]:
        """Run to the end, without a terminal."""
        return subprocess.run(
            ["patch", *arguments],
            cwd=self.cwd,
            env=environment(self.home, **self.variables, **changes),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )

    def json(self, *arguments: str, **changes: str) -> dict[str, Any]:
        """The one JSON object on standard output."""
        done = self.run(*arguments, "--output-format", "json", **changes)
        assert done.stdout, done.stderr
        loaded: dict[str, Any] = json.loads(done.stdout)
        assert loaded.get("exit_code", done.returncode) == done.returncode
        return loaded
