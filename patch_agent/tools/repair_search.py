"""`repair_search`: ranked repairs for the failing tests, found by trying edits in a copy."""

import json

from patch_agent.core.errors import ToolError
from patch_agent.core.protocols import Expectation, Invocation, ToolOutcome, ToolSpec
from patch_agent.core.state import State
from patch_agent.tools.toolbox import RepairSearch, Toolbox, object_schema


class SearchRepairs:
    """Offered to the `offline` model only; the user's files are not touched."""

    spec = ToolSpec(
        "repair_search",
        "Search for small edits that make the failing tests pass, in a scratch copy.",
        object_schema(("task",), task={"type": "string"}),
        effect="command",
        runs_tests=True,
    )

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    def expected(self, call: Invocation) -> Expectation:
        """Nothing: it works on a copy."""
        return Expectation()

    def run(self, call: Invocation) -> ToolOutcome:
        """The search's result as JSON text. Raises ToolError when nothing fails."""
        search = self._search()
        failing = failing_tests(call.state)
        if not failing:
            raise ToolError("No test is known to fail; run run_tests first.")
        text = search(str(call.arguments["task"]), failing, call.progress)
        return ToolOutcome(text, _in_short(text))

    def _search(self) -> RepairSearch:
        if self._box.repair_search is None:
            raise ToolError("The repair search is not available in this session.")
        return self._box.repair_search


def _in_short(text: str) -> str:
    result = json.loads(text)
    if result["problem"]:
        return str(result["problem"])
    return f"{result['tried']} edits tried, {result['plausible']} pass all tests"


def failing_tests(state: State) -> tuple[str, ...]:
    """The tests that failed in the newest complete run, else in the baseline."""
    run = state.last_test or state.baseline
    outcomes = run.outcomes if run is not None else {}
    return tuple(sorted(key for key, value in outcomes.items() if value in ("failed", "error")))
