"""Driving a loop to an end that is always recorded: interrupts, a full disk, faults of our own."""

import signal
import sys
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any

from patch_agent.agent.loop import Loop
from patch_agent.agent.session import Session
from patch_agent.core.errors import ConflictError, StoreError
from patch_agent.core.events import SessionResumed, TurnEnded
from patch_agent.core.planner import Stop
from patch_agent.core.values import Limits

GoOn = Callable[[TurnEnded], Limits | None]
"""Asked when the step limit is reached: the new limits, or None to stop."""


class Terminated(KeyboardInterrupt):
    """The process was told to end (SIGTERM or SIGHUP); handled like Ctrl-C, with exit code 143."""


def drive(loop: Loop, session: Session, go_on: GoOn) -> TurnEnded:
    """Run to the end. Raises StoreError or ConflictError when not even the end can be recorded."""
    previous = _end_on_signals()
    try:
        ended = _run(loop)
        while ended.reason == "max_steps" and (limits := go_on(ended)) is not None:
            session.record(SessionResumed(limits, session.state.model))
            ended = _run(loop)
        return ended
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _run(loop: Loop) -> TurnEnded:
    try:
        return loop.run()
    except Terminated:
        return loop.end(Stop("interrupted", "ended by a signal"), code=143)
    except KeyboardInterrupt:
        return loop.end(Stop("interrupted", "stopped with Ctrl-C"))
    except ConflictError:
        raise
    except StoreError as error:
        # When the log itself cannot be written this raises again, and the caller says so.
        return loop.end(Stop("storage", str(error)))
    except Exception as error:  # a fault of our own: say so, and keep the session resumable
        traceback.print_exc(file=sys.stderr)
        text = "".join(traceback.format_exception_only(error)).strip()
        return loop.end(Stop("internal", f"a fault in Patch: {text}"))


def _end_on_signals() -> dict[int, Any]:
    def end(_number: int, _frame: FrameType | None) -> None:
        raise Terminated

    previous: dict[int, Any] = {}
    for number in (signal.SIGTERM, signal.SIGHUP):
        previous[number] = signal.getsignal(number) or signal.SIG_DFL
        signal.signal(number, end)
    return previous
