"""The run in a terminal: a line a step, the model's words as they come, a status line below."""

import sys
from typing import TYPE_CHECKING

from patch_agent.core.events import EffectIntended, Event, ModelReplied, ModelRequested, Record
from patch_agent.core.state import State, initial_state
from patch_agent.ui.lines import MIN_SHOWN_S, Line, line_for, status_text
from patch_agent.ui.safe import one_line, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

_STYLES = {"plain": "", "good": "green", "bad": "red", "dim": "dim", "warn": "yellow"}


class ConsoleObserver:
    """Shows a run on standard error, so that standard output holds the result alone."""

    def __init__(self, console: "Console") -> None:
        self._console = console
        self._status: Status | None = None
        self._state = initial_state()
        self._doing = ""
        self._unfinished = ""

    def recorded(self, record: Record, state: State) -> None:
        """Print the event's line, if it has one; bring the status line up to date."""
        self._state = state
        if isinstance(record.event, ModelReplied):
            self._finish_text()
        line = line_for(record, state)
        if line is not None:
            self._print(line)
        self._doing = _what_runs(record.event)
        self._update()

    def text(self, piece: str) -> None:
        """Print the lines that are whole; the last one waits on the status line."""
        *whole, self._unfinished = (self._unfinished + piece).split("\n")
        for line in whole:
            self._console.print(visible(line), style="cyan", markup=False, highlight=False)
        self._doing = one_line(self._unfinished, 60)
        self._update()

    def progress(self, text: str) -> None:
        """Show it on the status line."""
        if text.strip():
            self._doing = one_line(text, 60)
            self._update()

    def say(self, text: str) -> None:
        """A line of the program itself."""
        self._console.print(visible(text), style="dim", markup=False, highlight=False)

    def pause(self) -> None:
        """Take the status line away: a question is about to be asked."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def close(self) -> None:
        """Leave the terminal as it was."""
        self._finish_text()
        self.pause()

    def _finish_text(self) -> None:
        text, self._unfinished = self._unfinished, ""
        if text.strip():
            self._console.print(visible(text), style="cyan", markup=False, highlight=False)

    def _print(self, line: Line) -> None:
        from rich.text import Text

        text = Text(f"{line.mark:>3} ", style="dim")
        text.append(line.text, style=_STYLES[line.tone])
        if line.duration_s is not None and line.duration_s >= MIN_SHOWN_S:
            text.append(f"  {line.duration_s:.1f} s", style="dim")
        self._console.print(text)

    def _update(self) -> None:
        from rich.text import Text

        doing = f"  {self._doing}" if self._doing else ""
        shown = Text(status_text(self._state) + doing, style="dim", overflow="ellipsis")
        shown.no_wrap = True
        if self._status is None:
            self._status = self._console.status(shown, spinner="dots")
            self._status.start()
        else:
            self._status.update(shown)


def _what_runs(event: Event) -> str:
    match event:
        case ModelRequested():
            return "thinking"
        case EffectIntended(tool=tool):
            return f"{tool} ..."
        case _:
            return ""


def make_console() -> "Console":
    """A console on standard error."""
    from rich.console import Console

    return Console(file=sys.stderr, stderr=True, soft_wrap=True, highlight=False)
