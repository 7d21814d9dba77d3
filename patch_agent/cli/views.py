"""`patch show`, `log`, `diff`, `sessions`: looking at what happened; nothing is changed."""

import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from patch_agent.bootstrap import looking
from patch_agent.cli import options as flag
from patch_agent.core.codec import encode
from patch_agent.core.events import Record
from patch_agent.core.messages import Json
from patch_agent.core.state_view import encode_state
from patch_agent.settings import checked_format
from patch_agent.ui import views


def show(session: flag.Session = None, output_format: flag.OutputFormat = "text") -> int:
    """The run in short: verdict, evidence, files, cost.

    Also the task, and the commands that were really run.
    """
    opened = looking.look(Path.cwd(), session, os.environ)
    result = opened.result()
    if checked_format(output_format) == "json":
        _print_json(result)
    else:
        print(views.show_text(opened.state, result))
    return 0


def log(
    session: flag.Session = None,
    at: Annotated[
        str | None, typer.Option("--at", metavar="POS", help="The state there, by replay.")
    ] = None,
    output_format: flag.OutputFormat = "text",
) -> int:
    """The events; with --at the state at a position.

    A position is e12 (event), s7 (step) or m3 (message).
    """
    opened = looking.look(Path.cwd(), session, os.environ)
    as_json = checked_format(output_format) == "json"
    if at is not None:
        state = opened.state_at(at)
        if as_json:
            _print_json(encode_state(state))
        else:
            print(views.state_text(state))
    elif as_json:
        _print_json([_record_object(record) for record in opened.records])
    else:
        print(views.log_text(opened.records))
    return 0


def diff(
    session: flag.Session = None,
    from_: Annotated[str | None, typer.Option("--from", metavar="POS")] = None,
    to: Annotated[str | None, typer.Option("--to", metavar="POS")] = None,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="End with 1 when there is a difference.")
    ] = False,
    output_format: flag.OutputFormat = "text",
) -> int:
    """What the run changed, as a git diff.

    In a pipe it can be given to `git apply`.
    """
    opened = looking.look(Path.cwd(), session, os.environ)
    data = opened.diff(from_, to)
    if checked_format(output_format) == "json":
        _print_json({"schema_version": 1, "diff": data.decode("utf-8", "surrogateescape")})
    else:
        views.print_diff(data, sys.stdout, colour=views.wants_colour(sys.stdout, os.environ))
    return 1 if exit_code and data else 0


def sessions(
    everywhere: Annotated[bool, typer.Option("--all", help="Of all repositories.")] = False,
    output_format: flag.OutputFormat = "text",
) -> int:
    """The sessions of this repository, newest first."""
    infos = looking.list_sessions(None if everywhere else Path.cwd(), os.environ)
    if checked_format(output_format) == "json":
        _print_json([views.session_object(info) for info in infos])
    elif infos:
        print(views.sessions_text(infos))
    else:
        print("No sessions in this repository yet.", file=sys.stderr)
    return 0


def _record_object(record: Record) -> dict[str, Json]:
    kind, version, body = encode(record.event)
    return {
        "seq": record.seq,
        "node": record.node,
        "generation": record.generation,
        "step": record.step,
        "at": record.at,
        "type": kind,
        "version": version,
        "body": json.loads(body),
        "hash": record.hash,
    }


def _print_json(value: Json) -> None:
    print(json.dumps(value, indent=2))
