"""`read_file`: lines of a file, numbered; what was shown is recorded with the file's hash."""

from patch_agent.core.errors import StoreError, ToolError
from patch_agent.core.evidence import FileRead
from patch_agent.core.protocols import Expectation, Invocation, ToolOutcome, ToolSpec
from patch_agent.core.values import LineRange
from patch_agent.tools.toolbox import Toolbox, object_schema
from patch_agent.tools.truncate import number_lines, split_lines
from patch_agent.workspace.encoding import decode
from patch_agent.workspace.files import content_hash, read_bytes
from patch_agent.workspace.paths import resolve

MAX_LINES = 500
MAX_CHARS = 32_000
MAX_BYTES = 20_000_000
BLOB_PREFIX = "output:"


class ReadFile:
    """Reads text inside the repository, and the full output of earlier steps (`output:ID`)."""

    spec = ToolSpec(
        "read_file",
        "Read a text file of the repository. Returns one head line (path, which lines, how many "
        "there are), then the lines, each with its number and a tab in front. At most "
        f"{MAX_LINES} lines a call; ask for the rest with start_line. A file has to be read before "
        f"it can be edited. `{BLOB_PREFIX}ID` as path reads the full output of an earlier step.",
        object_schema(
            ("path",),
            path={"type": "string", "description": "relative to the repository root"},
            start_line={"type": "integer", "description": "first line, from 1"},
            end_line={"type": "integer", "description": "last line, included"},
            column={"type": "integer", "description": "show long lines from this character on"},
        ),
    )

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    def expected(self, call: Invocation) -> Expectation:
        """Nothing: it only reads."""
        return Expectation()

    def run(self, call: Invocation) -> ToolOutcome:
        """The lines asked for. Raises ToolError for what cannot be read as text."""
        name = str(call.arguments["path"])
        if name.startswith(BLOB_PREFIX):
            text, shown = self._output(name.removeprefix(BLOB_PREFIX)), name
        else:
            path = resolve(self._box.root, name)
            data = read_bytes(path.absolute, MAX_BYTES)
            text, shown = decode(data).text, path.relative
        lines = split_lines(text)
        span = _span(call, len(lines))
        column = max(int(call.arguments.get("column", 1)), 1)
        body, last = number_lines(lines, span, column, MAX_CHARS)
        content = f"{shown}: {_describe(span.first, last, len(lines))}\n{body}"
        facts: tuple[FileRead, ...] = ()
        if not name.startswith(BLOB_PREFIX):
            seen = LineRange(span.first, max(last, span.first))
            facts = (FileRead(shown, content_hash(data), (seen,)),)
        summary = f"{shown} {_describe(span.first, last, len(lines))}"
        return ToolOutcome(content, summary, facts=facts)

    def _output(self, blob: str) -> str:
        # A wrong id is the model's mistake, and no damage to the store.
        try:
            return self._box.blobs.get(blob).decode("utf-8", "replace")
        except StoreError as error:
            raise ToolError(
                f"There is no output {blob[:80]!r} ({error}); take the path from the step's result."
            ) from None


def _span(call: Invocation, total: int) -> LineRange:
    first = int(call.arguments.get("start_line", 1))
    last = int(call.arguments.get("end_line", total))
    if first < 1 or (total and first > total) or last < min(first, total):
        raise ToolError(
            f"There are no lines {first} to {last}: the file has {total} lines, counted from 1."
        )
    return LineRange(first, min(last, total, first + MAX_LINES - 1))


def _describe(first: int, last: int, total: int) -> str:
    if total == 0:
        return "empty file"
    if first == 1 and last == total:
        return f"{total} line{'' if total == 1 else 's'}"
    more = f"; go on with start_line={last + 1}" if last < total else ""
    return f"lines {first}-{last} of {total}{more}"
