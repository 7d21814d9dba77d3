"""Asking a person in the terminal; the answer is read from the terminal, never from a pipe."""

import sys
from collections.abc import Callable
from dataclasses import replace

from patch_agent.core.events import ApprovalRequested, TurnEnded
from patch_agent.core.protocols import Answer
from patch_agent.core.values import Limits
from patch_agent.ui.safe import visible

MORE_STEPS = 30
MAX_PREVIEW_LINES = 40


def can_ask() -> bool:
    """Whether a person is there: both the question and the answer go through a terminal."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def ask_person(request: ApprovalRequested, pause: Callable[[], None]) -> tuple[Answer, str]:
    """Show exactly what would be allowed, then take yes or no; no answer is "later"."""
    pause()
    lines = visible(request.preview).splitlines()
    more = len(lines) - MAX_PREVIEW_LINES
    shown = [f"    {line}" for line in lines[:MAX_PREVIEW_LINES]]
    if more > 0:
        shown.append(f"    ... and {more} more lines")
    print(visible(request.question), *shown, sep="\n", file=sys.stderr)
    answer = _yes_or_no("[y]es or [n]o? ")
    if answer is None:
        return "later", ""
    return ("yes" if answer else "no"), "the user"


def ask_to_go_on(ended: TurnEnded, limits: Limits, pause: Callable[[], None]) -> Limits | None:
    """More steps when a person wants them; None: stop here."""
    pause()
    print(visible(ended.text), file=sys.stderr)
    if not _yes_or_no(f"Go on for {MORE_STEPS} more steps? [y]es or [n]o? "):
        return None
    return replace(limits, max_steps=limits.max_steps + MORE_STEPS)


def _yes_or_no(question: str) -> bool | None:
    while True:
        print(question, end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            print(file=sys.stderr)
            return None
        word = line.strip().lower()
        if word in ("y", "yes"):
            return True
        if word in ("n", "no"):
            return False
