"""`patch fix` and `patch resume`: flags in, a run, its exit code out."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from patch_agent.bootstrap import runs
from patch_agent.cli import options as flag
from patch_agent.core.errors import UserError
from patch_agent.settings import Flags

MAX_CONTEXT_CHARS = 100_000


def fix(
    task: Annotated[str, typer.Argument(metavar="TASK", help="What is to be done; - reads it.")],
    context: Annotated[
        str | None,
        typer.Option("--context", metavar="FILE", help="A text to go with it; - reads it."),
    ] = None,
    model: flag.Model = None,
    base_url: flag.BaseUrl = None,
    test_cmd: flag.TestCmd = None,
    test_timeout: flag.TestTimeout = None,
    max_steps: flag.MaxSteps = None,
    max_cost: flag.MaxCost = None,
    max_time: flag.MaxTime = None,
    yes: flag.Yes = False,
    allow_empty: flag.AllowEmpty = False,
    allow_tests: flag.AllowTests = None,
    no_baseline: flag.NoBaseline = False,
    output_format: flag.OutputFormat = "text",
) -> int:
    """Fix the code here until the tests prove it, or say why not."""
    if task == "-" and context == "-":
        raise UserError("TASK and --context cannot both be read from standard input")
    flags = Flags(
        model=model,
        base_url=base_url,
        test_commands=tuple(test_cmd or ()),
        test_timeout=test_timeout,
        max_steps=max_steps,
        max_cost=max_cost,
        max_time=max_time,
        yes=yes,
        output_format=output_format,
        allow_empty=allow_empty,
        allow_tests=tuple(allow_tests or ()),
        baseline=not no_baseline,
    )
    return runs.fix(Path.cwd(), _full_task(task, context), flags, os.environ)


def resume(
    session: flag.Session = None,
    message: Annotated[
        str | None, typer.Option("-m", "--message", help="Say something more.")
    ] = None,
    model: flag.Model = None,
    base_url: flag.BaseUrl = None,
    max_steps: flag.MaxSteps = None,
    max_cost: flag.MaxCost = None,
    max_time: flag.MaxTime = None,
    yes: flag.Yes = False,
    output_format: flag.OutputFormat = "text",
) -> int:
    """Go on with a session where it ended.

    After a crash, a budget, a question, an interrupt; or with -m, after anything.
    """
    flags = Flags(
        model=model,
        base_url=base_url,
        max_steps=max_steps,
        max_cost=max_cost,
        max_time=max_time,
        yes=yes,
        output_format=output_format,
    )
    if message is not None and not message.strip():
        raise UserError("the message is empty")
    return runs.resume(Path.cwd(), session, message, flags, os.environ)


def _full_task(task: str, context: str | None) -> str:
    text = _read_stdin() if task == "-" else task
    if not text.strip():
        raise UserError('the task is empty; say what is to be done, as in: patch fix "..."')
    if context is None:
        return text
    return f"{text}\n\n<context>\n{_read_context(context)}\n</context>"


def _read_context(source: str) -> str:
    if source == "-":
        text = _read_stdin()
    else:
        try:
            text = Path(source).read_bytes().decode("utf-8", "replace")
        except OSError as error:
            raise UserError(f"cannot read the context {source}: {error.strerror}") from None
    if len(text) <= MAX_CONTEXT_CHARS:
        return text
    half = MAX_CONTEXT_CHARS // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n[... {left_out} characters left out ...]\n{text[-half:]}"


def _read_stdin() -> str:
    if sys.stdin is None:
        raise UserError("standard input is closed, so nothing can be read from it")
    return sys.stdin.buffer.read().decode("utf-8", "replace")
