"""`run_command`: a shell command in the repository root, with an end, a limit and a cap."""

from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class _Output:
    """text: what is shown. blob: of the output, when that is more; without its `lost` bytes."""

    text: str
    blob: str = ""
    lost: int = 0


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
            output = self._keep(result, spill)
        return ToolOutcome(
            content=_content(result, limit, output),
            summary=f"{_short(command)}  {describe_end(result, limit)}",
            is_error=result.ending != "exit" or result.exit_code != 0,
            touched=None,
            exit_code=result.exit_code,
            blobs=(output.blob,) if output.blob else (),
        )

    def _keep(self, result: ProcessResult, spill: Path) -> _Output:
        if len(result.text) <= SHOWN_CHARS and not result.omitted:
            return _Output(result.text)
        full = spill.read_bytes() if spill.exists() else result.output
        text = full.decode("utf-8", "replace")
        lost = len(result.output) + result.omitted + len(result.tail) - len(full)
        if lost > 0:
            text += "\n" + result.tail.decode("utf-8", "replace")[-SHOWN_CHARS:]
        return _Output(keep_ends(text, SHOWN_CHARS), self._box.blobs.put(full), lost)


def _content(result: ProcessResult, limit: float, output: _Output) -> str:
    lines = [describe_end(result, limit) + "."]
    if result.wanted_input:
        lines.append("It asked for input, and there is none: use flags that answer its questions.")
    if result.left_running:
        lines.append(f"{result.left_running} process(es) it left running were ended.")
    if output.blob:
        what = f"output but its last {output.lost} bytes" if output.lost else "full output"
        path = BLOB_PREFIX + output.blob
        lines.append(f"The {what} can be read with read_file, path {path}.")
    text = output.text if output.text.strip() else "(none)"
    return "\n".join(lines) + "\nOutput:\n" + text


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
