"""Errors before or outside a run: one line on standard error, JSON where it was asked for."""

import json
import sys

import typer

from patch_agent.core.errors import (
    ConflictError,
    InternalError,
    ModelError,
    PatchError,
    StoreError,
    UserError,
)
from patch_agent.core.reasons import Reason, exit_code, status_of
from patch_agent.ui.safe import visible


def report_failure(error: PatchError | typer.TyperException, json_wanted: bool) -> int:
    """Say what is wrong; returns the exit code."""
    reason = reason_of(error)
    text = error.format_message() if isinstance(error, typer.TyperException) else str(error)
    session_id = error.session_id if isinstance(error, StoreError) else ""
    resume = f"patch resume {session_id}" if session_id else None
    hint = f"; when that is mended: {resume}" if resume else ""
    print(f"patch: {visible(text)}{hint}", file=sys.stderr)
    if json_wanted:
        print(json.dumps(failure_object(reason, text, session_id or None)))
    return exit_code(reason)


def reason_of(error: Exception) -> Reason:
    """The reason that goes with an error (product.md, "Headless contract")."""
    match error:
        case UserError() | ConflictError():
            return error.reason
        case StoreError():
            return "storage"
        case InternalError():
            return "internal"
        case ModelError(code="auth"):
            return "auth"
        case ModelError():
            return "service_unavailable"
        case _:
            return "usage"


def failure_object(reason: Reason, text: str, session_id: str | None = None) -> dict[str, object]:
    """The JSON object of a call that never became a run, or whose log could not be written."""
    return {
        "schema_version": 1,
        "session": session_id,
        "status": status_of(reason),
        "reason": reason,
        "exit_code": exit_code(reason),
        "text": text,
        "verdict": None,
        "files_changed": [],
        "resume": f"patch resume {session_id}" if session_id else None,
    }
