"""The result of a run as one JSON object (`result.schema.json`): what happened, what proves it."""

import json
import shlex
from collections.abc import Mapping, Sequence
from importlib.resources import files

from patch_agent.core import events as ev
from patch_agent.core.messages import Json
from patch_agent.core.state import State, TestRun
from patch_agent.core.verdict import is_fresh, verdict

SCHEMA_VERSION = 1


def result_object(
    records: Sequence[ev.Record], state: State, diff_stat: Mapping[str, int]
) -> dict[str, Json]:
    """The object that `--output-format json` prints, whatever the end was."""
    return {
        "schema_version": SCHEMA_VERSION,
        "session": state.session_id,
        "status": state.status,
        "reason": state.reason,
        "exit_code": state.exit_code,
        "text": state.end_text,
        "task": state.task,
        "model": state.model,
        "verdict": _verdict(state),
        "baseline": _test_run(state, state.baseline),
        "files_changed": sorted(state.net_changes),
        "diff_stat": dict(diff_stat),
        "changed_by_others": sorted(state.outside_changes),
        "by_products": list(state.left_behind),
        "notices": list(state.notices),
        "commands": commands_run(records),
        "approvals": _approvals(records),
        "steps": state.step,
        "model_calls": state.model_calls,
        "cost_usd": None if state.cost_usd is None else round(state.cost_usd, 6),
        "tokens": {
            "input": state.input_tokens,
            "output": state.output_tokens,
            "cache_read": state.cache_read_tokens,
        },
        "duration_s": round(state.duration_s, 3),
        "resume": resume_command(state),
    }


def _verdict(state: State) -> dict[str, Json]:
    found = verdict(state)
    effect = found.effect
    proves = found.grade != "none"
    return {
        "grade": found.grade,
        "required": found.required,
        "met": found.met,
        "reasons": list(found.reasons),
        "effect": None
        if effect is None
        else {
            "text": effect.text,
            "fail_to_pass": list(effect.fail_to_pass),
            "pass_to_pass": effect.pass_to_pass,
            "regressions": list(effect.regressions),
            "still_failing": list(effect.still_failing),
            "new_passing": list(effect.new_passing),
        },
        "proving_run": _test_run(state, state.last_test) if proves else None,
        "last_test": _test_run(state, state.last_test),
    }


def _test_run(state: State, run: TestRun | None) -> Json:
    if run is None:
        return None
    return {
        "passed": run.passed,
        "current": is_fresh(state, run),
        "step": run.after_step,
        "tree": run.tree,
        "counts": run.counts,
        "commands": [
            {
                "argv": list(report.argv),
                "ending": report.ending,
                "exit_code": report.exit_code,
                "counts": report.counts,
                "duration_s": report.duration_s,
                "output": report.output_blob,
                "note": report.note,
            }
            for report in run.reports
        ],
    }


def commands_run(records: Sequence[ev.Record]) -> list[Json]:
    """The commands that really ran, as the log has them."""
    wanted: dict[str, str] = {}
    found: list[Json] = []
    for record in records:
        match record.event:
            case ev.ModelReplied(message=message):
                for call in message.calls:
                    if call.name == "run_command":
                        wanted[call.id] = str((call.arguments or {}).get("command", ""))
            case ev.EffectSettled(tool="run_command") as settled:
                found.append(
                    {
                        "step": record.step,
                        "command": wanted.get(settled.call_id, ""),
                        "exit_code": settled.exit_code,
                        "summary": settled.summary,
                    }
                )
            case _:
                pass
    return found


def _approvals(records: Sequence[ev.Record]) -> list[Json]:
    asked: dict[str, ev.ApprovalRequested] = {}
    found: list[Json] = []
    for record in records:
        if isinstance(record.event, ev.ApprovalRequested):
            asked[record.event.call_id] = record.event
        elif isinstance(record.event, ev.ApprovalDecided):
            request = asked.pop(record.event.call_id, None)
            found.append(_approval(request, record.event.approved, record.event.by))
    found += [_approval(request, None, None) for request in asked.values()]
    return found


def _approval(request: ev.ApprovalRequested | None, approved: bool | None, by: str | None) -> Json:
    return {
        "kind": request.kind if request else None,
        "preview": request.preview if request else None,
        "dangerous": request.dangerous if request else None,
        "approved": approved,
        "by": by,
    }


def resume_command(state: State) -> str | None:
    """The command to go on with; None when the run is done."""
    start = f"patch resume {shlex.quote(state.session_id)}"
    match state.reason:
        case "done":
            return None
        case "approval_needed":
            request = state.pending_approval
            return start if request is not None and request.dangerous else f"{start} --yes"
        case "max_steps":
            return f"{start} --max-steps {state.limits.max_steps * 2}"
        case "max_cost" if state.limits.max_cost_usd is not None and state.cost_usd is not None:
            return f"{start} --max-cost {max(state.limits.max_cost_usd * 2, 1.0):.2f}"
        case "max_time" if state.limits.max_time_s is not None:
            return f"{start} --max-time {state.limits.max_time_s * 2 / 60:g}m"
        case _ if state.status == "failed":
            return f'{start} -m "..."'
        case _:
            return start


def schema() -> dict[str, Json]:
    """The JSON Schema of the object."""
    text = files("patch_agent.ui").joinpath("result.schema.json").read_text("utf-8")
    loaded: dict[str, Json] = json.loads(text)
    return loaded
