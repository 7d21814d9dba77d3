"""`search` and `list_files`: ripgrep inside the repository, its own settings switched off."""

from pathlib import Path

from patch_agent.core.errors import ToolError
from patch_agent.core.protocols import Expectation, Invocation, ToolOutcome, ToolSpec
from patch_agent.execution.process import ProcessResult, ProcessSpec, run
from patch_agent.tools.toolbox import Toolbox, object_schema
from patch_agent.tools.truncate import split_lines
from patch_agent.workspace.paths import resolve

MAX_MATCHES = 100
MAX_FILES = 300
MAX_CHARS = 16_000
TIMEOUT_S = 30
_FIXED = ("--no-config", "--color=never", "--hidden", "--sort=path")
# Behind the model's own globs: of several that match, the last one counts.
_CLOSED = ("--iglob=!.git",)


def run_ripgrep(box: Toolbox, options: tuple[str, ...], where: str) -> ProcessResult:
    """Run `rg` on a path inside the repository. Raises ToolError when it could not run."""
    path = resolve(box.root, where)
    relative = str(Path(path.absolute).relative_to(box.root.resolve()))
    result = run(
        ProcessSpec(
            argv=(box.ripgrep, *_FIXED, *options, *_CLOSED, "--", relative),
            cwd=str(box.root),
            env=box.environment,
            timeout_s=TIMEOUT_S,
            capture_limit=4_000_000,
            separate_stderr=True,
        )
    )
    if result.ending == "timeout":
        raise ToolError(f"The search took longer than {TIMEOUT_S} s; narrow it with path or glob.")
    # Exit code 2 with output: some files could not be read, the others were.
    failed = (result.exit_code or 0) > 1 and not result.output
    if result.ending != "exit" or failed:
        why = result.stderr.decode("utf-8", "replace").strip() or result.problem
        raise ToolError(f"The search failed: {why[:500]}")
    return result


class Search:
    """Finds lines by a regular expression."""

    spec = ToolSpec(
        "search",
        "Search the repository's files (ignored ones left out) for a regular expression, or for "
        f"plain text with literal=true. Returns path:line:text, at most {MAX_MATCHES} matches.",
        object_schema(
            ("pattern",),
            pattern={"type": "string"},
            path={"type": "string", "description": "folder or file; default: everywhere"},
            glob={"type": "string", "description": "for example *.py"},
            literal={"type": "boolean"},
            ignore_case={"type": "boolean"},
        ),
    )

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    def expected(self, call: Invocation) -> Expectation:
        """Nothing: it only reads."""
        return Expectation()

    def run(self, call: Invocation) -> ToolOutcome:
        """The matches. Raises ToolError for a pattern or path that cannot be searched."""
        arguments = call.arguments
        pattern = str(arguments["pattern"])
        if "\x00" in pattern or not pattern:
            raise ToolError("The pattern is empty or holds a NUL; name what to look for.")
        options = ["--line-number", "--no-heading", "--with-filename", "--max-columns=300"]
        options += ["--max-columns-preview", f"--regexp={pattern}"]
        options += ["--fixed-strings"] if arguments.get("literal") else []
        options += ["--ignore-case"] if arguments.get("ignore_case") else []
        options += [f"--glob={arguments['glob']}"] if arguments.get("glob") else []
        result = run_ripgrep(self._box, tuple(options), str(arguments.get("path", ".")))
        lines = split_lines(result.output.decode("utf-8", "replace"))
        shown = _within([line.removeprefix("./") for line in lines[:MAX_MATCHES]])
        if not lines:
            return ToolOutcome("No matches.", f"{pattern!r}: no matches")
        least = "at least " if result.omitted else ""
        head = f"{least}{len(lines)} match{'' if len(lines) == 1 else 'es'}"
        if len(shown) < len(lines):
            head += f", the first {len(shown)} shown; narrow it with path, glob or the pattern"
        return ToolOutcome(
            "\n".join([head + ":", *shown]), f"{pattern!r}: {len(lines)} matching lines"
        )


class ListFiles:
    """Lists what is in the repository."""

    spec = ToolSpec(
        "list_files",
        "List the files of the repository, or of a folder in it, one path a line (ignored files "
        f"left out), at most {MAX_FILES}; larger trees are shown by folder.",
        object_schema(
            (),
            path={"type": "string", "description": "folder; default: the root"},
            glob={"type": "string", "description": "for example *.py"},
        ),
    )

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    def expected(self, call: Invocation) -> Expectation:
        """Nothing: it only reads."""
        return Expectation()

    def run(self, call: Invocation) -> ToolOutcome:
        """The paths. Raises ToolError for a path that is not there."""
        where = str(call.arguments.get("path", "."))
        options = ["--files", "--null"]
        options += [f"--glob={call.arguments['glob']}"] if call.arguments.get("glob") else []
        result = run_ripgrep(self._box, tuple(options), where)
        text = result.output.decode("utf-8", "backslashreplace")
        paths = [_shown(name.removeprefix("./")) for name in text.split("\x00") if name]
        head = f"{len(paths)} file{'' if len(paths) == 1 else 's'}"
        if len(paths) <= MAX_FILES:
            return ToolOutcome("\n".join([head, *paths]), f"{where}: {head}")
        folders = _by_folder(paths)
        told = f"{head}; too many to list, so by folder (name one with path):"
        return ToolOutcome("\n".join([told, *folders]), f"{where}: {head}")


def _shown(name: str) -> str:
    """A path as one line: control characters (line ends too) as escapes."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in name)


def _within(lines: list[str]) -> list[str]:
    shown: list[str] = []
    used = 0
    for line in lines:
        used += len(line) + 1
        if used > MAX_CHARS:
            break
        shown.append(line)
    return shown


def _by_folder(paths: list[str]) -> list[str]:
    counts: dict[str, int] = {}
    for path in paths:
        folder = "/".join(path.split("/")[:-1][:2]) or "."
        counts[folder] = counts.get(folder, 0) + 1
    return [f"{folder}/  {number}" for folder, number in sorted(counts.items())[:MAX_FILES]]
