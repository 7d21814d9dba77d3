"""What the tools work with; put together once for a session."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from patch_agent.core.messages import Json
from patch_agent.core.protocols import Blobs, Tester

RepairSearch = Callable[[str, tuple[str, ...], Callable[[str], None]], str]
"""(task, failing test ids, progress) -> the search's result as JSON text."""


@dataclass(frozen=True, slots=True)
class Toolbox:
    """root: the working tree. environment: for commands. ripgrep: absolute path of `rg`.

    repair_search: None when the model does its own thinking (the tool is then not offered).
    """

    root: Path
    tester: Tester
    blobs: Blobs
    environment: Mapping[str, str] = field(repr=False)
    ripgrep: str
    shell: str = "/bin/sh"
    repair_search: RepairSearch | None = None


def object_schema(required: tuple[str, ...], **properties: Json) -> dict[str, Json]:
    """A JSON Schema of an object with these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
