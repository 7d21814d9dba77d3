"""All tools, in the order in which a model sees them."""

from collections.abc import Callable

from patch_agent.core.protocols import Tool
from patch_agent.tools.edit_file import EditFile
from patch_agent.tools.read_file import ReadFile
from patch_agent.tools.repair_search import SearchRepairs
from patch_agent.tools.run_command import RunCommand
from patch_agent.tools.run_tests import RunTests
from patch_agent.tools.search import ListFiles, Search
from patch_agent.tools.todo import Note, Todo
from patch_agent.tools.toolbox import Toolbox
from patch_agent.tools.write_file import WriteFile

TOOLS: tuple[Callable[[Toolbox], Tool], ...] = (
    ReadFile,
    ListFiles,
    Search,
    EditFile,
    WriteFile,
    RunCommand,
    RunTests,
    Todo,
    Note,
)
"""What every model may use. `repair_search` is added when the toolbox has a search."""


def build_tools(box: Toolbox) -> dict[str, Tool]:
    """Name -> tool, in a fixed order."""
    makers = TOOLS if box.repair_search is None else (*TOOLS, SearchRepairs)
    tools = [make(box) for make in makers]
    return {tool.spec.name: tool for tool in tools}
