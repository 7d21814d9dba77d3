"""`patch undo` and `patch redo`."""

import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from patch_agent.bootstrap import undo as restoring
from patch_agent.cli import options as flag
from patch_agent.settings import checked_format
from patch_agent.ui.restore import Shown, restored_object, restored_text

DryRun = Annotated[bool, typer.Option("--dry-run", help="Only list what would be done.")]


def undo(
    session: flag.Session = None,
    to: Annotated[
        str, typer.Option("--to", metavar="POS", help="Back to there (e12, s7, m3).")
    ] = "",
    path: Annotated[str, typer.Option("--path", metavar="GLOB", help="Only these files.")] = "",
    dry_run: DryRun = False,
    output_format: flag.OutputFormat = "text",
) -> int:
    """Take back what the run did to the files.

    Edits that were made afterwards are kept, or it is refused.
    """
    wanted = restoring.Wanted(to, path, dry_run)
    return _show(restoring.undo(Path.cwd(), session, wanted, os.environ), dry_run, output_format)


def redo(
    session: flag.Session = None,
    dry_run: DryRun = False,
    output_format: flag.OutputFormat = "text",
) -> int:
    """Make again what the last undo took back."""
    wanted = restoring.Wanted(dry_run=dry_run)
    return _show(restoring.redo(Path.cwd(), session, wanted, os.environ), dry_run, output_format)


def _show(done: restoring.Restored, dry_run: bool, output_format: str) -> int:
    plan = done.plan
    conflicts = [(conflict.path, conflict.why) for conflict in plan.conflicts]
    shown = Shown(
        done.kind, done.session_id, plan.changes, plan.merged, conflicts, done.left_alone, dry_run
    )
    if checked_format(output_format) == "json":
        print(json.dumps(restored_object(shown), indent=2))
    elif not done.taken:
        print(f"patch: nothing to {done.kind} in session {done.session_id}", file=sys.stderr)
    else:
        print(restored_text(shown))
    if conflicts:
        return 8
    return 0 if done.taken else 1
