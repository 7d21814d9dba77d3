"""`todo` and `note`: the model's own list and notes; kept, shown back, never believed."""

from typing import get_args, get_type_hints

from patch_agent.core.errors import ToolError
from patch_agent.core.events import NoteAdded, TodoChanged
from patch_agent.core.messages import Json
from patch_agent.core.protocols import Expectation, Invocation, ToolOutcome, ToolSpec
from patch_agent.core.values import TodoItem
from patch_agent.tools.toolbox import Toolbox, object_schema

MAX_ITEMS = 100
MAX_NOTE = 2_000
_STATUSES = get_args(get_type_hints(TodoItem)["status"])


class Todo:
    """Adds items and updates them by id; the others stay as they are."""

    spec = ToolSpec(
        "todo",
        "Keep a list of what is to be done. Each item names an id; a new id adds an item (with its "
        "text), a known one changes its text or status. Items that are not named stay as they are.",
        object_schema(
            ("items",),
            items={
                "type": "array",
                "minItems": 1,
                "items": object_schema(
                    ("id",),
                    id={"type": "string"},
                    text={"type": "string"},
                    status={"type": "string", "enum": list(_STATUSES)},
                ),
            },
        ),
    )

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    def expected(self, call: Invocation) -> Expectation:
        """Nothing: no file is involved."""
        return Expectation()

    def run(self, call: Invocation) -> ToolOutcome:
        """The list after the change. Raises ToolError for a new item without text."""
        items = {item.id: item for item in call.state.todo}
        for change in call.arguments["items"]:
            items[change["id"]] = _changed(items.get(change["id"]), change)
        if len(items) > MAX_ITEMS:
            raise ToolError(f"The list would have more than {MAX_ITEMS} items; keep it short.")
        listed = "\n".join(f"{item.id} [{item.status}] {item.text}" for item in items.values())
        left = sum(item.status in ("open", "doing") for item in items.values())
        fact = TodoChanged(tuple(items.values()))
        return ToolOutcome(listed, f"{left} of {len(items)} open", facts=(fact,))


def _changed(known: TodoItem | None, change: dict[str, Json]) -> TodoItem:
    text = change.get("text", known.text if known is not None else None)
    if text is None:
        raise ToolError(f"There is no item {change['id']!r} yet; a new item needs a text.")
    status = change.get("status", known.status if known is not None else "open")
    return TodoItem(change["id"], text, status)


class Note:
    """Remembers a sentence for the rest of the run."""

    spec = ToolSpec(
        "note",
        "Write down something to remember for the rest of this run. It is shown to you with each "
        "step.",
        object_schema(("text",), text={"type": "string"}),
    )

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    def expected(self, call: Invocation) -> Expectation:
        """Nothing: no file is involved."""
        return Expectation()

    def run(self, call: Invocation) -> ToolOutcome:
        """Keep the note. Raises ToolError when it is too long."""
        text = str(call.arguments["text"]).strip()
        if not text or len(text) > MAX_NOTE:
            raise ToolError(f"A note has 1 to {MAX_NOTE} characters.")
        return ToolOutcome("Noted.", text.splitlines()[0][:80], facts=(NoteAdded(text),))
