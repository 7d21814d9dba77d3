"""The command line: one Typer application, one way in, one place where errors become exit codes."""

import os
import sys
import traceback
from itertools import pairwise
from typing import Annotated

import typer

from patch_agent.cli import demo, fix, undo, views
from patch_agent.cli.failures import report_failure
from patch_agent.core.errors import InternalError, PatchError, StoreError, UserError
from patch_agent.core.reasons import exit_code
from patch_agent.ui.safe import make_streams_robust

app = typer.Typer(
    name="patch",
    help="Fix code in a git repository, and prove it. Anything that is not a command below is "
    "handed to the patch(1) program, unchanged.",
    epilog='First steps: patch demo; then, in a repository: patch fix "the auth test fails"',
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help"], "max_content_width": 80},
)
app.command("fix")(fix.fix)
app.command("resume")(fix.resume)
app.command("demo")(demo.demo)
app.command("show")(views.show)
app.command("log")(views.log)
app.command("diff")(views.diff)
app.command("undo")(undo.undo)
app.command("redo")(undo.redo)
app.command("sessions")(views.sessions)


@app.callback()
def common(
    directory: Annotated[
        str | None, typer.Option("-C", metavar="DIR", help="Work as if started in DIR.")
    ] = None,
    _version: Annotated[
        bool, typer.Option("--version", help="Show the version, and what patch(1) there is.")
    ] = False,
) -> None:
    """Options before the command."""
    if directory is not None:
        try:
            os.chdir(directory)
        except OSError as error:
            raise typer.BadParameter(f"cannot work in {directory}: {error.strerror}") from None
    try:
        os.getcwd()
    except OSError:
        raise UserError("the current folder is not there any more; go to another one") from None


def run(arguments: list[str], program: str) -> None:
    """Run one command and leave the process with its exit code."""
    make_streams_robust()
    json_wanted = _wants_json(arguments)
    try:
        code = app(args=arguments, prog_name=program, standalone_mode=False)
    except KeyboardInterrupt:
        code = 130
    except typer.Abort:
        code = 130
    except (PatchError, typer.TyperException) as error:
        code = report_failure(error, json_wanted)
    except BrokenPipeError:
        # The reader went away (`patch log | head`): not an error of ours.
        code = 0
    except OSError as error:
        code = report_failure(StoreError(f"cannot go on: {error.strerror or error}"), False)
    except Exception as error:  # a fault of our own, outside of any run
        traceback.print_exc()
        code = report_failure(InternalError(error), json_wanted)
    leave(code if isinstance(code, int) else 0)


def _wants_json(arguments: list[str]) -> bool:
    if "--output-format=json" in arguments:
        return True
    pairs = pairwise(arguments)
    return ("--output-format", "json") in pairs


def leave(code: int) -> None:
    """End at once: everything is flushed and closed, and unloading big libraries takes long.

    A result that could not be written is none: then a good end is exit code 7.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            continue
        except (OSError, ValueError):
            code = code or exit_code("storage")
    os._exit(code)
