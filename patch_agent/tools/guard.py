"""The edit guard: a file may be changed only in the version that the model has seen."""

from patch_agent.core.errors import ToolError
from patch_agent.core.state import FileSeen, State
from patch_agent.workspace.files import content_hash


def check_seen(state: State, relative: str, data: bytes) -> FileSeen:
    """What the model knows of the file. Raises ToolError when it never read it or it changed."""
    seen = state.files_read.get(relative)
    if seen is None:
        raise ToolError(
            f"{relative} was not read in this session, so nothing was changed. "
            f"Read it first with read_file, then edit it."
        )
    if seen.sha256 != content_hash(data):
        raise ToolError(
            f"{relative} changed on disk since you read it, so nothing was changed. "
            f"Read it again with read_file, then send the edit for the new text."
        )
    return seen
