"""`run_command`: a shell command in the repository root, with an end, a limit and a cap."""

from pathlib import Path
from tempfile import TemporaryDirectory

from patch_agent.core.protocols import Expectation, Invocation, ToolOutcome, ToolSpec
from patch_agent.execution.process import ProcessResult, ProcessSpec, run
from patch_agent.tools.read_file import BLOB_PREFIX
from patch_agent.tools.toolbox import Toolbox, object_schema
from patch_agent.tools.truncate import keep_ends

DEFAULT_TIMEOUT_S = 120
MAX_TIMEOUT_S = 600
SHOWN_CHARS = 12_000


class RunCommand:
    """Runs what the model asks for; it is never evidence."""

    spec = ToolSpec(
        "run_command",
        "Run a shell command in the repository root and see its output. Each command starts fresh: "
        "no folder, variable or job is carried over. There is no terminal and no input. Default "
        f"limit {DEFAULT_TIMEOUT_S} s, at most {MAX_TIMEOUT_S}. A test run made here is for your "
        "information and proves nothing; use run_tests for that.",
        object_schema(
            ("command",),
            command={"type": "string"},
            timeout_s={"type": "integer", "description": "seconds"},
        ),
        effect="command",
    )

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    def expected(self, call: Invocation) -> Expectation:
        """Nothing is known beforehand of what a command changes."""
        return Expectation()

    def run(self, call: Invocation) -> ToolOutcome:
        """Run it; a failing command is an outcome, not an error of the tool."""
        command = str(call.arguments["command"])
        asked = int(call.arguments.get("timeout_s", DEFAULT_TIMEOUT_S))
        limit = min(max(asked, 1), MAX_TIMEOUT_S)
        with TemporaryDirectory(prefix="patch-output-") as folder:
            spill = Path(folder) / "output"
            result = run(
                ProcessSpec(
                    argv=(self._box.shell, "-c", command),
                    cwd=str(self._box.root),
                    env=self._box.environment,
                    timeout_s=limit,
                    spill=spill,
                )
            )
            blob = self._keep(result, spill)
        return ToolOutcome(
            content=_content(result, limit, blob),
            summary=f"{_short(command)}  {describe_end(result, limit)}",
            is_error=result.ending != "exit" or result.exit_code != 0,
            touched=None,
            exit_code=result.exit_code,
            blobs=(blob,) if blob else (),
        )

    def _keep(self, result: ProcessResult, spill: Path) -> str:
        if len(result.text) <= SHOWN_CHARS and not result.omitted:
            return ""
        return self._box.blobs.put(spill.read_bytes() if spill.exists() else result.output)


def _content(result: ProcessResult, limit: float, blob: str) -> str:
    lines = [describe_end(result, limit) + "."]
    if result.wanted_input:
        lines.append("It asked for input, and there is none: use flags that answer its questions.")
    if result.left_running:
        lines.append(f"{result.left_running} process(es) it left running were ended.")
    if blob:
        lines.append(f"The full output can be read with read_file, path {BLOB_PREFIX}{blob}.")
    text = keep_ends(result.text, SHOWN_CHARS)
    return "\n".join(lines) + "\nOutput:\n" + (text if text.strip() else "(none)")


def describe_end(result: ProcessResult, limit: float) -> str:
    """How a process ended, in words: `exit code 1`, `ended at its limit of 120 s` ..."""
    match result.ending:
        case "exit":
            return f"exit code {result.exit_code}"
        case "signal":
            return f"ended by signal {result.signal}"
        case "timeout":
            return f"ended at its limit of {limit:g} s"
        case "cancelled":
            return "cancelled"
        case "not_started":
            return f"could not be started ({result.problem})"


def _short(command: str) -> str:
    first = command.strip().splitlines()[0] if command.strip() else ""
    return first if len(first) <= 80 else first[:77] + "..."
