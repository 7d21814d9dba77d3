"""The run as plain lines: for pipes, logs, NO_COLOR and dumb terminals."""

from typing import TextIO

from patch_agent.core.events import ModelReplied, Record
from patch_agent.core.state import State
from patch_agent.ui.lines import MIN_SHOWN_S, Line, line_for
from patch_agent.ui.safe import visible


class PlainObserver:
    """One line a step, complete before it is written; the model's text when it is whole."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def recorded(self, record: Record, state: State) -> None:
        """Write the event's line, if it has one."""
        if isinstance(record.event, ModelReplied) and record.event.message.text.strip():
            self._write(visible(record.event.message.text.strip()))
        line = line_for(record, state)
        if line is not None:
            self._write(format_line(line))

    def text(self, piece: str) -> None:
        """Nothing: a log shows whole texts."""

    def progress(self, text: str) -> None:
        """Nothing: a log shows what happened, not what is going on."""

    def say(self, text: str) -> None:
        """A line of the program itself."""
        self._write(visible(text))

    def close(self) -> None:
        """Nothing is held open."""

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text + "\n")
            self._stream.flush()
        except (OSError, ValueError):
            # Nobody reads any more; the run itself goes on and is in the log.
            return


def format_line(line: Line) -> str:
    """A line as plain text: mark, text, duration."""
    took = "" if (line.duration_s or 0.0) < MIN_SHOWN_S else f"  ({line.duration_s:.1f} s)"
    return f"{line.mark:>3} {line.text}{took}"
