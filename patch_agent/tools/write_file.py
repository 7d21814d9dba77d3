"""`write_file`: a new file, or the whole text of one that was read."""

import os

from patch_agent.core.errors import ToolError
from patch_agent.core.evidence import FileWritten
from patch_agent.core.protocols import Expectation, Invocation, ToolOutcome, ToolSpec
from patch_agent.core.values import LineRange
from patch_agent.tools.guard import check_omissions, check_seen
from patch_agent.tools.toolbox import Toolbox, object_schema
from patch_agent.workspace.encoding import decode, encode
from patch_agent.workspace.files import content_hash, read_bytes
from patch_agent.workspace.paths import RepoPath, resolve
from patch_agent.workspace.writing import atomic_write

MAX_BYTES = 20_000_000


class WriteFile:
    """Writes whole files; an existing one only in the version that was read."""

    spec = ToolSpec(
        "write_file",
        "Create a file with this content (folders are made as needed). For an existing file, which "
        "must have been read, it replaces the whole text; prefer edit_file there. Never leave out "
        "parts of a file with a comment such as 'rest unchanged'.",
        object_schema(("path", "content"), path={"type": "string"}, content={"type": "string"}),
        effect="probe",
    )

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    def expected(self, call: Invocation) -> Expectation:
        """The hash of the file as it is ("" when there is none) and as it will be."""
        path, before, data = self._plan(call)
        return Expectation({path.relative: before or ""}, {path.relative: content_hash(data)})

    def run(self, call: Invocation) -> ToolOutcome:
        """Write the file. Raises ToolError, with nothing changed, when the guard refuses."""
        path, before, data = self._plan(call)
        written = atomic_write(path.absolute, data, expect_sha256=before)
        count = _line_count(str(call.arguments["content"]))
        lines = f"{count} line{'' if count == 1 else 's'}"
        verb = "created" if before is None else "rewritten"
        text = f"{path.relative} {verb} ({lines}, {len(data)} bytes).{written.told}"
        return ToolOutcome(
            content=text,
            summary=f"{path.relative}  {verb}, {lines}",
            facts=(FileWritten(path.relative, written.sha256, (LineRange(1, max(count, 1)),)),),
            touched=(path.relative,),
        )

    def _plan(self, call: Invocation) -> tuple[RepoPath, str | None, bytes]:
        path = resolve(self._box.root, str(call.arguments["path"]))
        content = str(call.arguments["content"])
        if not os.path.exists(path.absolute):
            return path, None, _to_bytes(content)
        old = read_bytes(path.absolute, MAX_BYTES)
        check_seen(call.state, path.relative, old)
        file = decode(old)
        check_omissions(file.text, content)
        data = encode(content, file) if old else _to_bytes(content)
        if data == old:
            raise ToolError(f"{path.relative} already has exactly this content.")
        return path, content_hash(old), data


def _to_bytes(content: str) -> bytes:
    try:
        return content.encode()
    except UnicodeEncodeError:
        raise ToolError("The content holds a character that is not valid Unicode.") from None


def _line_count(text: str) -> int:
    return text.count("\n") + (0 if text.endswith("\n") or not text else 1)
