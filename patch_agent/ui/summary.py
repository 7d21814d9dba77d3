"""The result of a run in words, for people: the verdict and its evidence, then how to go on."""

import shlex
from collections.abc import Mapping

from patch_agent.core.messages import Json
from patch_agent.ui.safe import one_line, visible

_HEADS = {
    "done": "DONE",
    "failed": "NOT DONE",
    "stopped": "STOPPED",
    "waiting_for_approval": "WAITING FOR YOUR WORD",
    "running": "CUT OFF",
}


def summary_text(result: Mapping[str, Json]) -> str:
    """Several lines; `result` is what `result_object` made."""
    lines = [_head(result)]
    lines += [f"  {name:<9}{text}" for name, text in _rows(result) if text]
    return "\n".join(lines)


def _head(result: Mapping[str, Json]) -> str:
    head = _HEADS.get(result["status"], result["status"])
    grade = result["verdict"]["grade"]
    if result["status"] == "done":
        proven = f"grade: {grade}" if grade != "none" else "no proof of the files as they are now"
        return f"{head}  {one_line(result['text'], 300)}  ({proven})"
    if result["reason"] is None:
        return f"{head}  the run has no end in the log"
    why = one_line(result["text"], 600)
    return f"{head}  {result['reason']} (exit {result['exit_code']}): {why}"


def _rows(result: Mapping[str, Json]) -> list[tuple[str, str]]:
    return [
        ("proof", _proof(result)),
        ("missing", "" if result["status"] == "done" else _missing(result)),
        ("files", ", ".join(visible(path) for path in result["files_changed"][:20])),
        ("changes", _stat(result["diff_stat"])),
        ("others", _others(result)),
        ("left", _by_products(result)),
        ("cost", _cost(result)),
        ("session", f"{result['session']}  (patch show, patch log, patch diff)"),
        ("go on", result["resume"] or ""),
    ]


def _proof(result: Mapping[str, Json]) -> str:
    run = result["verdict"]["proving_run"]
    if run is None:
        return ""
    command = "; ".join(shlex.join(item["argv"]) for item in run["commands"])
    counts = ", ".join(f"{number} {outcome}" for outcome, number in sorted(run["counts"].items()))
    return f"{visible(command)}: {counts}, step {run['step']}, tree {run['tree'][:12]}"


def _missing(result: Mapping[str, Json]) -> str:
    if result["status"] in ("stopped", "waiting_for_approval"):
        return ""
    told = " ".join(result["verdict"]["reasons"])
    return "" if told in result["text"] else one_line(told, 600)


def _stat(stat: Mapping[str, int]) -> str:
    if not stat.get("files"):
        return ""
    files = f"{stat['files']} file{'' if stat['files'] == 1 else 's'}"
    return f"{files}, +{stat['insertions']} -{stat['deletions']} lines"


def _others(result: Mapping[str, Json]) -> str:
    names = result["changed_by_others"]
    return f"changed by someone else meanwhile: {visible(', '.join(names[:10]))}" if names else ""


def _by_products(result: Mapping[str, Json]) -> str:
    names = result["by_products"]
    return f"by the tests: {visible(', '.join(names[:5]))}" if names else ""


def _cost(result: Mapping[str, Json]) -> str:
    steps = f"{result['steps']} step{'' if result['steps'] == 1 else 's'}"
    took = f"{steps}, {result['duration_s']:.1f} s"
    if result["model"] == "offline":
        return f"nothing (offline model); {took}"
    tokens = result["tokens"]
    counted = f"{tokens['input']:,} tokens in, {tokens['output']:,} out"
    cost = result["cost_usd"]
    return f"{'price unknown' if cost is None else f'${cost:.4f}'}; {counted}; {took}"
