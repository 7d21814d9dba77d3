"""A test run in words for a model: what failed and why first, capped, the cut said."""

from collections.abc import Sequence

from patch_agent.core.testing import TestReport

CAP = 6_000


def summarise(reports: Sequence[TestReport]) -> str:
    """What a model needs to go on: failing tests with their texts, files that did not load."""
    parts: list[str] = []
    for report in reports:
        parts += _parts(report)
    return _capped(parts)


def _parts(report: TestReport) -> list[str]:
    command = " ".join(report.argv)
    parts = [f"`{command}`: {_ending(report)}"]
    if report.note:
        parts.append(f"Note: {report.note}.")
    parts += [f"Could not be loaded: {text}" for text in report.collection_errors]
    broken = {text.split(":", 1)[0] for text in report.collection_errors}
    parts += [
        f"--- {failure.test_id}\n{failure.text}"
        for failure in report.failures
        if failure.test_id not in broken
    ]
    failing = len(report.with_outcome("failed", "error"))
    if failing > len(report.failures):
        parts.append(f"({failing - len(report.failures)} more failing tests are not shown)")
    return parts


def _ending(report: TestReport) -> str:
    match report.ending:
        case "exit":
            return f"exit code {report.exit_code}"
        case "timeout":
            return f"ended at its time limit after {report.duration_s:.0f} s"
        case "not_started":
            return "could not be started"
        case "signal":
            return "ended by a signal"
        case "cancelled":
            return "cancelled"


def _capped(parts: Sequence[str]) -> str:
    shown: list[str] = []
    left = CAP
    for number, part in enumerate(parts):
        if len(part) > left:
            shown.append(part[: max(left, 0)] + f"\n[cut; {len(parts) - number - 1} more parts]")
            break
        shown.append(part)
        left -= len(part) + 1
    return "\n".join(shown)
