"""The closed sets of a run's end: status, reason and exit code, and how they go together."""

from typing import Final, Literal, get_args

Status = Literal["running", "waiting_for_approval", "done", "failed", "stopped"]

Reason = Literal[
    "done",
    "tests_failing",
    "gave_up",
    "declined",
    "no_test_command",
    "no_tests_ran",
    "tests_changed",
    "no_change",
    "grade_too_low",
    "max_steps",
    "max_cost",
    "max_time",
    "context_full",
    "approval_needed",
    "auth",
    "rate_limited",
    "service_unavailable",
    "worker_failed",
    "storage",
    "sandbox_unavailable",
    "question_pending",
    "session_held",
    "files_conflict",
    "usage",
    "repository",
    "internal",
    "interrupted",
]

EXIT_CODES: Final[dict[Reason, int]] = {
    "done": 0,
    "tests_failing": 1,
    "gave_up": 1,
    "declined": 1,
    "no_test_command": 3,
    "no_tests_ran": 3,
    "tests_changed": 3,
    "no_change": 3,
    "grade_too_low": 3,
    "max_steps": 5,
    "max_cost": 5,
    "max_time": 5,
    "context_full": 5,
    "approval_needed": 6,
    "question_pending": 6,
    "auth": 7,
    "rate_limited": 7,
    "service_unavailable": 7,
    "worker_failed": 7,
    "storage": 7,
    "sandbox_unavailable": 7,
    "session_held": 8,
    "files_conflict": 8,
    "usage": 2,
    "repository": 2,
    "internal": 70,
    "interrupted": 130,
}

REASONS: Final[tuple[Reason, ...]] = get_args(Reason)


def exit_code(reason: Reason) -> int:
    """The documented exit code of a reason (product.md, "Headless contract")."""
    return EXIT_CODES[reason]


def status_of(reason: Reason) -> Status:
    """The status that goes with a reason; every reason has exactly one."""
    code = EXIT_CODES[reason]
    if code == 0:
        return "done"
    if code in (1, 2, 3):
        return "failed"
    if code == 6:
        return "waiting_for_approval"
    return "stopped"
