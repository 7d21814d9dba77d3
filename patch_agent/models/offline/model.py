"""The `offline` model: what it says next is a pure function of the conversation."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from patch_agent.core.messages import Json, Message, Text, ToolCall, ToolResult
from patch_agent.core.protocols import ModelReply, ModelRequest
from patch_agent.core.values import Usage

MAX_TRIES = 3
CONTEXT_LINES = 20
CUT_OFF = ("Stopped by the user", "Outcome unknown")
DENIED = "A person did not allow"
USE_A_MODEL = (
    "A language model may do better: set ANTHROPIC_API_KEY, or name a server with --base-url."
)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A call and what came of it."""

    call: ToolCall
    result: ToolResult

    @property
    def is_ok(self) -> bool:
        """Whether the tool did what was asked."""
        return not self.result.is_error


class OfflineModel:
    """Implements `core.protocols.Model` without a service."""

    name = "offline"

    def prepare(self) -> None:
        """Nothing to load."""

    def complete(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """The next move."""
        reply = decide(request.messages)
        for block in reply.content:
            if isinstance(block, Text):
                on_text(block.text)
        return reply


def decide(messages: tuple[Message, ...]) -> ModelReply:
    """Run the tests, search, read, edit, run the tests; give up where that leads nowhere."""
    start = max(index for index, m in enumerate(messages) if _is_said(m))
    told = [block.text for block in messages[start].content if isinstance(block, Text)]
    said = told[0]
    if said.startswith("Not done yet:"):
        return _give_up(f"The tests are not satisfied by what I can do. {said.splitlines()[0]}")
    exchanges = _exchanges(messages[start:])
    if not exchanges:
        # The runtime's account of the baseline stands behind a session's first message.
        return _begin(told[1] if start == 0 and len(told) > 1 else "", said)
    return _go_on(exchanges, said)


def _is_said(message: Message) -> bool:
    return message.role == "user" and any(isinstance(block, Text) for block in message.content)


def _exchanges(messages: tuple[Message, ...]) -> list[Exchange]:
    results = {
        block.call_id: block
        for message in messages
        for block in message.content
        if isinstance(block, ToolResult)
    }
    calls = [call for message in messages for call in message.calls]
    return [Exchange(call, results[call.id]) for call in calls if call.id in results]


def _begin(baseline: str, task: str) -> ModelReply:
    head, _, listed = baseline.partition("\n")
    if "Before any edit it passes" in head:
        return _give_up("No test fails, so there is nothing that I can repair.")
    return _search(task) if listed.startswith("- ") else _call("run_tests")


def _search(task: str) -> ModelReply:
    return _call("repair_search", task=task[:2000])


def _go_on(exchanges: list[Exchange], task: str) -> ModelReply:
    last = exchanges[-1]
    if last.result.content.startswith(CUT_OFF):
        return _call(last.call.name, **(last.call.arguments or {}))
    if last.result.content.startswith(DENIED):
        return _give_up("I was not allowed to run the tests, and cannot work without them.")
    searches = (e for e in reversed(exchanges) if e.call.name == "repair_search")
    found = next((e for e in searches if e.is_ok), None)
    match last.call.name:
        case "run_tests" if found is None:
            return _after_first_run(last, task)
        case "repair_search":
            return _after_search(last)
        case "read_file" if found is not None and last.is_ok:
            return _edit(exchanges, found)
        case "edit_file" if found is not None and last.is_ok:
            return _after_edit(exchanges, found)
        case "run_tests" if found is not None:
            return _after_tests(exchanges, found)
        case _:
            return _give_up(f"{last.call.name} did not work: {_first_line(last.result.content)}")


def _after_first_run(run: Exchange, task: str) -> ModelReply:
    if run.result.content.startswith("PASSED"):
        return _give_up("No test fails, so there is nothing that I can repair.")
    if "\n--- " in run.result.content:
        return _search(task)
    return _give_up("The tests cannot be run as they are: " + _first_line(run.result.content))


def _after_search(search: Exchange) -> ModelReply:
    result = _parsed(search)
    if result is None:
        return _give_up(_first_line(search.result.content))
    if not result["repairs"]:
        return _give_up(explain_nothing(result))
    return _read(result["repairs"][0])


def _read(repair: dict[str, Json]) -> ModelReply:
    line = int(repair["line"])
    first = max(line - CONTEXT_LINES, 1)
    return _call("read_file", path=repair["path"], start_line=first)


def _tried(exchanges: list[Exchange]) -> list[Exchange]:
    """The edits that were made, without those that took one back."""
    return _edits(exchanges)[::2]


def _edits(exchanges: list[Exchange]) -> list[Exchange]:
    return [e for e in exchanges if e.call.name == "edit_file" and e.is_ok]


def _edit(exchanges: list[Exchange], found: Exchange) -> ModelReply:
    repair = _repairs(found)[len(_tried(exchanges))]
    return _call_edit(repair["path"], repair["old_text"], repair["new_text"])


def _after_edit(exchanges: list[Exchange], found: Exchange) -> ModelReply:
    edits = _edits(exchanges)
    if len(edits) % 2:
        return _call("run_tests")
    repairs = _repairs(found)
    done = len(edits) // 2
    if done >= min(len(repairs), MAX_TRIES):
        said = explain_nothing(_result(found))
        return _give_up(f"What passed in the copy did not pass here. {said}")
    return _read(repairs[done])


def _after_tests(exchanges: list[Exchange], found: Exchange) -> ModelReply:
    repair = _repairs(found)[len(_tried(exchanges)) - 1]
    if exchanges[-1].result.content.startswith("PASSED"):
        return _say(explain_repair(repair, _result(found)))
    return _call_edit(repair["path"], repair["new_text"], repair["old_text"])


def explain_repair(repair: dict[str, Json], result: dict[str, Json]) -> str:
    """What was wrong and changed, and how sure that is."""
    old, new = _changed_lines(repair["old_text"], repair["new_text"])
    text = f"{repair['path']}, line {repair['line']}: {repair['why']}. `{old}` is now `{new}`."
    others = int(result["plausible"]) - 1
    if others > 0:
        text += (
            f" {others} other edit{'s' if others > 1 else ''} would pass the tests too; "
            "please check that this is what was meant."
        )
    return text


def _changed_lines(old: str, new: str) -> tuple[str, str]:
    pairs = zip(old.splitlines(), new.splitlines(), strict=False)
    return next(((o.strip(), n.strip()) for o, n in pairs if o != n), (old.strip(), new.strip()))


def explain_nothing(result: dict[str, Json]) -> str:
    """No repair: what was tried, where the fault may be, what else can be done."""
    lines = [_how_it_ended(result)]
    if result["suspects"]:
        lines.append("The fault is most likely near:")
        lines += [f"  {s['path']}:{s['line']}: {s['source']}" for s in result["suspects"][:5]]
    if result["left_alone"]:
        named = ", ".join(result["left_alone"][:5])
        lines.append(f"Left alone, since they reach beyond the copy: {named}.")
    lines.append(USE_A_MODEL)
    return "\n".join(lines)


def _how_it_ended(result: dict[str, Json]) -> str:
    if result["problem"]:
        return f"I found no repair: {result['problem']}."
    tried = f"{result['tried']} of {result['candidates']} small edits were tried"
    over = "" if result["complete"] else "; then the time was over"
    return f"I found no repair. {tried}{over}."


def _parsed(search: Exchange) -> dict[str, Json] | None:
    if search.result.is_error:
        return None
    try:
        value = json.loads(search.result.content)
    except ValueError:
        return None
    return value if isinstance(value, dict) and "repairs" in value else None


def _result(found: Exchange) -> dict[str, Json]:
    return _parsed(found) or {}


def _repairs(found: Exchange) -> list[dict[str, Json]]:
    repairs: list[dict[str, Json]] = _result(found).get("repairs", [])
    return repairs


def _first_line(text: str) -> str:
    return re.split(r"[\r\n]", text.strip(), maxsplit=1)[0][:300]


def _call(name: str, **arguments: Json) -> ModelReply:
    return ModelReply((ToolCall("offline", name, arguments),), "tool_use", Usage(), 0.0, "offline")


def _call_edit(path: str, old: str, new: str) -> ModelReply:
    return _call("edit_file", path=path, edits=[{"old_text": old, "new_text": new}])


def _say(text: str) -> ModelReply:
    return ModelReply((Text(text),), "end_turn", Usage(), 0.0, "offline")


def _give_up(text: str) -> ModelReply:
    return ModelReply((Text(text),), "gave_up", Usage(), 0.0, "offline")
