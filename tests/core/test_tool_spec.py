"""Arguments are checked before anything runs, with errors a model can act on."""

import pytest

from patch_agent.core.messages import Json, ToolCall
from patch_agent.core.protocols import ToolSpec
from patch_agent.core.tool_spec import find_faults

SPEC = ToolSpec(
    "edit",
    "",
    {
        "type": "object",
        "required": ["path"],
        "additionalProperties": False,
        "properties": {
            "path": {"type": "string"},
            "line": {"type": "integer"},
            "mode": {"type": "string", "enum": ["a", "b"]},
            "edits": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "required": ["old"],
                    "properties": {"old": {"type": "string"}},
                    "additionalProperties": False,
                },
            },
        },
    },
)


@pytest.mark.parametrize(
    ("arguments", "faults"),
    [
        ({"path": "x", "line": 3, "mode": "a", "edits": [{"old": "y"}]}, ()),
        ({}, ("path is missing",)),
        ({"path": 3}, ("path must be of type string, not int",)),
        ({"path": "x", "line": True}, ("line must be of type integer, not bool",)),
        ({"path": "x", "mode": "c"}, ("mode must be one of a, b",)),
        ({"path": "x", "edits": []}, ("edits is empty",)),
        ({"path": "x", "edits": [{}]}, ("edits[0].old is missing",)),
        (
            {"path": "x", "pth": 1},
            ("pth is not a known field (known: path, line, mode, edits)",),
        ),
    ],
)
def test_each_fault_is_named(arguments: dict[str, Json], faults: tuple[str, ...]) -> None:
    assert find_faults(SPEC, ToolCall("c1", "edit", arguments)) == faults


def test_arguments_that_are_no_json_object_show_how_they_begin() -> None:
    call = ToolCall("c1", "edit", None, malformed='{"path": INVALID')
    assert find_faults(SPEC, call) == (
        "the arguments are not one complete JSON object (they begin: '{\"path\": INVALID')",
    )
