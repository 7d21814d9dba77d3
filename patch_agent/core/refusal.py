"""What the model is told when the done check says no: what is missing and what would satisfy it."""

from patch_agent.core.state import State
from patch_agent.core.verdict import Verdict

CAP = 4_000
"""Characters of failure texts that a refusal carries at most."""


def refusal_text(state: State, found: Verdict, chances: int) -> str:
    """The message to the model; `chances`: how often it may still try."""
    lines = ["Not done yet: " + " ".join(found.reasons)]
    if found.reason == "tests_failing" and state.last_test is not None:
        lines += _failures(state)
    lines.append(_next_step(found))
    if state.last_stop_reason == "max_tokens":
        lines.append("Your last reply was cut at the output limit; write shorter replies.")
    lines.append(
        f"If it cannot be done, say why. The run ends after {chances} more unsuccessful "
        f"{'end' if chances == 1 else 'ends'} of your turn."
    )
    return "\n".join(lines)


def _failures(state: State) -> list[str]:
    run = state.last_test
    lines: list[str] = []
    left = CAP
    for report in run.reports if run is not None else ():
        for failure in report.failures:
            if left <= 0:
                return [*lines, "(more failures: run_tests shows them)"]
            text = f"--- {failure.test_id}\n{failure.text}"[:left]
            left -= len(text)
            lines.append(text)
    return lines


def _next_step(found: Verdict) -> str:
    match found.reason:
        case "tests_failing":
            return "Mend the code so that the test command passes as a whole."
        case "no_change":
            return "Change the code so that the task is done; then the tests are run."
        case "no_tests_ran":
            return "The test command has to execute at least one test."
        case "tests_changed":
            return "Undo the changes to those files and mend the code instead."
        case _:
            return "Every test that passed before has to run and pass."
