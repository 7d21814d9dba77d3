"""`run_tests`: the test command, run by the runtime; without a selection it is evidence."""

from patch_agent.core.evidence import TestsRan
from patch_agent.core.protocols import Expectation, Invocation, ToolOutcome, ToolSpec
from patch_agent.core.state import TestRun
from patch_agent.core.values import TestRunKind
from patch_agent.runners.summary import summarise
from patch_agent.tools.read_file import BLOB_PREFIX
from patch_agent.tools.toolbox import Toolbox, object_schema


class RunTests:
    """Runs the configured test command as a whole, or a part of it."""

    spec = ToolSpec(
        "run_tests",
        "Run the repository's test command. Without `selection` it is the complete run that counts "
        "as proof. With a selection (test ids as the runner prints them, or paths) it is faster "
        "and only informs.",
        object_schema((), selection={"type": "array", "items": {"type": "string"}}),
        effect="command",
        runs_tests=True,
    )

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    def expected(self, call: Invocation) -> Expectation:
        """Nothing: the files are compared before and after."""
        return Expectation()

    def run(self, call: Invocation) -> ToolOutcome:
        """Run the tests; the outcome is an error for the model when they do not all pass."""
        selection = tuple(str(item) for item in call.arguments.get("selection", ()))
        if not call.state.test_commands:
            text = "NO TESTS RAN: no test command is known for this repository."
            return ToolOutcome(text, "no test command", is_error=True, touched=())
        reports = self._box.tester.run(selection, call.progress)
        kind: TestRunKind = "partial" if selection else "complete"
        ran = TestRun(kind, call.step, call.state.tree, reports)
        blobs = tuple(report.output_blob for report in reports if report.output_blob)
        return ToolOutcome(
            content=_content(ran, selection, blobs),
            summary=ran.summary + (" (selection)" if selection else ""),
            is_error=not ran.passed,
            facts=(TestsRan(kind, call.step, call.state.tree, reports),),
            touched=None,
            exit_code=reports[-1].exit_code if reports else None,
            blobs=blobs,
        )


def _content(ran: TestRun, selection: tuple[str, ...], blobs: tuple[str, ...]) -> str:
    word = "PASSED" if ran.passed else "FAILED" if _failed(ran) else "NO TESTS RAN"
    lines = [f"{word}: {ran.summary}."]
    if selection:
        lines.append("This was a selection: it informs, and proves nothing.")
    if not ran.passed:
        lines.append(summarise(ran.reports))
        lines += [f"Full output: read_file, path {BLOB_PREFIX}{blob}." for blob in blobs]
    return "\n".join(lines)


def _failed(ran: TestRun) -> bool:
    return ran.executed > 0 or any(
        report.ending != "exit" or report.collection_errors for report in ran.reports
    )
