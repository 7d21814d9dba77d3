"""The front end of a run: who shows it, whether a person can be asked, and its last words."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from patch_agent.core.events import ApprovalRequested, TurnEnded
from patch_agent.core.messages import Json
from patch_agent.core.protocols import Answer
from patch_agent.core.values import Limits
from patch_agent.ui.console import ConsoleObserver, make_console
from patch_agent.ui.plain import PlainObserver
from patch_agent.ui.prompts import ask_person, ask_to_go_on, can_ask
from patch_agent.ui.summary import summary_text
from patch_agent.ui.views import print_diff, wants_colour

MAX_DIFF_LINES = 200


@dataclass(frozen=True, slots=True)
class Front:
    """What a run is shown with. `asks`: a person sits at a terminal and may be asked."""

    observer: PlainObserver | ConsoleObserver
    asks: bool
    as_json: bool
    environ: Mapping[str, str]

    def pause(self) -> None:
        """Clear the way for a question."""
        if isinstance(self.observer, ConsoleObserver):
            self.observer.pause()

    def ask(self, request: ApprovalRequested) -> tuple[Answer, str]:
        """Ask the person."""
        return ask_person(request, self.pause)

    def ask_to_go_on(self, ended: TurnEnded, limits: Limits) -> Limits | None:
        """Ask for more steps."""
        return ask_to_go_on(ended, limits, self.pause) if self.asks else None

    def show_result(self, result: Mapping[str, Json], diff: bytes) -> bool:
        """The last words, on standard output: the JSON object, or the diff and the verdict.

        False when they could not be written; a reader that went away did not want them.
        """
        try:
            self._write_result(result, diff)
            sys.stdout.flush()
        except BrokenPipeError:
            return True
        except OSError as error:
            print(f"patch: cannot write the result: {error.strerror}", file=sys.stderr)
            return False
        return True

    def _write_result(self, result: Mapping[str, Json], diff: bytes) -> None:
        if self.as_json:
            print(json.dumps(result))
            return
        lines = diff.count(b"\n")
        print()
        if lines > MAX_DIFF_LINES:
            print(f"The change has {lines} lines; patch diff {result['session']} shows it.\n")
        elif diff:
            print_diff(diff, sys.stdout, wants_colour(sys.stdout, self.environ))
            print()
        print(summary_text(result))


def make_front(output_format: str, environ: Mapping[str, str]) -> Front:
    """A console in a terminal that can show one, plain lines everywhere else."""
    as_json = output_format == "json"
    if wants_colour(sys.stderr, environ):
        observer: PlainObserver | ConsoleObserver = ConsoleObserver(make_console())
    else:
        observer = PlainObserver(sys.stderr)
    return Front(observer, can_ask() and not as_json, as_json, environ)
