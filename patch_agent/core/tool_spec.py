"""Checking a call's arguments against its tool's schema, with errors a model can act on."""

from collections.abc import Mapping
from typing import Final

from patch_agent.core.messages import Json, ToolCall
from patch_agent.core.protocols import ToolSpec

_TYPES: Final[dict[str, type | tuple[type, ...]]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


def find_faults(spec: ToolSpec, call: ToolCall) -> tuple[str, ...]:
    """What is wrong with a call's arguments, one sentence each; empty when nothing is."""
    if call.arguments is None:
        start = call.malformed[:200]
        return (f"the arguments are not one complete JSON object (they begin: {start!r})",)
    return tuple(_check(spec.schema, call.arguments, "arguments"))


def _check(schema: Mapping[str, Json], value: Json, where: str) -> list[str]:
    wanted = schema.get("type")
    if isinstance(wanted, str) and not _has_type(value, wanted):
        return [f"{where} must be of type {wanted}, not {type(value).__name__}"]
    allowed = schema.get("enum")
    if allowed is not None and value not in allowed:
        return [f"{where} must be one of {', '.join(map(str, allowed))}"]
    if isinstance(value, dict):
        return _check_object(schema, value, where)
    if isinstance(value, list):
        faults = [] if len(value) >= schema.get("minItems", 0) else [f"{where} is empty"]
        for number, item in enumerate(value):
            faults += _check(schema.get("items", {}), item, f"{where}[{number}]")
        return faults[:5]
    return []


def _has_type(value: Json, wanted: str) -> bool:
    if isinstance(value, bool):
        return wanted == "boolean"
    return isinstance(value, _TYPES[wanted])


def _check_object(schema: Mapping[str, Json], value: dict[str, Json], where: str) -> list[str]:
    known = schema.get("properties", {})
    prefix = "" if where == "arguments" else f"{where}."
    faults = [
        f"{prefix}{name} is missing" for name in schema.get("required", ()) if name not in value
    ]
    for name, item in value.items():
        if name in known:
            faults += _check(known[name], item, f"{prefix}{name}")
        elif schema.get("additionalProperties") is False:
            faults.append(f"{prefix}{name} is not a known field (known: {', '.join(known)})")
    return faults
