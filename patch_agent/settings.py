"""Flags and environment become frozen settings, each with the place it came from."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from patch_agent.core.errors import UserError
from patch_agent.core.values import Limits

OutputFormat = Literal["text", "json"]
OUTPUT_FORMATS: tuple[OutputFormat, ...] = ("text", "json")

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True)
class Flags:
    """What the command line said; None: not said."""

    model: str | None = None
    base_url: str | None = None
    test_commands: tuple[str, ...] = ()
    test_timeout: str | None = None
    max_steps: int | None = None
    max_cost: float | None = None
    max_time: str | None = None
    yes: bool = False
    output_format: str = "text"
    allow_empty: bool = False
    allow_tests: tuple[str, ...] = ()
    baseline: bool = True


@dataclass(frozen=True, slots=True)
class Settings:
    """What is in force for a run.

    model: None: chosen by what is there (offline without a key and a base URL). api_key and
    auth_token never reach a log. origins: field name -> where its value came from.
    """

    model: str | None
    base_url: str | None
    api_key: str | None = field(repr=False)
    auth_token: str | None = field(repr=False)
    test_commands: tuple[str, ...]
    test_timeout_s: float
    limits: Limits
    cost_limit_given: bool
    yes: bool
    output_format: OutputFormat
    allow_empty: bool
    allow_tests: tuple[str, ...]
    baseline: bool
    origins: Mapping[str, str]


def resolve(flags: Flags, environ: Mapping[str, str]) -> Settings:
    """Settle every setting: flag, then `PATCH_*` or `ANTHROPIC_*` environment, then default.

    Raises UserError for values that cannot be used.
    """
    origins: dict[str, str] = {}
    model = _first(origins, "model", flags.model, environ.get("PATCH_MODEL"))
    base_url = _first(origins, "base_url", flags.base_url, environ.get("ANTHROPIC_BASE_URL"))
    return Settings(
        model=model,
        base_url=_checked_url(base_url),
        api_key=environ.get("ANTHROPIC_API_KEY") or None,
        auth_token=environ.get("ANTHROPIC_AUTH_TOKEN") or None,
        test_commands=_checked_commands(flags.test_commands),
        test_timeout_s=duration(flags.test_timeout or "10m", "--test-timeout"),
        limits=limits(flags, Limits()),
        cost_limit_given=flags.max_cost is not None,
        yes=flags.yes,
        output_format=checked_format(flags.output_format),
        allow_empty=flags.allow_empty,
        allow_tests=flags.allow_tests,
        baseline=flags.baseline,
        origins=origins,
    )


def limits(flags: Flags, default: Limits) -> Limits:
    """The budgets: those on the command line, the others as in `default`."""
    steps = default.max_steps if flags.max_steps is None else flags.max_steps
    if steps < 1:
        raise UserError("--max-steps must be at least 1")
    cost = default.max_cost_usd if flags.max_cost is None else flags.max_cost
    if cost is not None and not 0 <= cost < float("inf"):
        raise UserError("--max-cost must be an amount in US dollars, such as 2.00")
    time_s = (
        default.max_time_s if flags.max_time is None else duration(flags.max_time, "--max-time")
    )
    return Limits(steps, cost, time_s, default.max_tokens)


def duration(text: str, flag: str) -> float:
    """Seconds of a duration with a unit, such as `90s`, `10m`, `1h30m`. Raises UserError."""
    parts = re.findall(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)", text)
    if not parts or "".join(number + unit for number, unit in parts) != text.strip():
        raise UserError(
            f"{flag}: {text!r} is no duration; write it with a unit, such as 90s or 10m"
        )
    seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
    if seconds <= 0:
        raise UserError(f"{flag}: the duration must be longer than nothing")
    return seconds


def _first(
    origins: dict[str, str], name: str, flag: str | None, variable: str | None
) -> str | None:
    if flag is not None:
        origins[name] = "flag"
        return flag
    if variable:
        origins[name] = "environment"
        return variable
    origins[name] = "default"
    return None


def _checked_url(url: str | None) -> str | None:
    if url is None:
        return None
    if not re.match(r"https?://[^\s/]+", url):
        raise UserError(f"{url!r} is no base URL; it begins with http:// or https://")
    return url.rstrip("/")


def checked_format(name: str) -> OutputFormat:
    """The output format by its name. Raises UserError for one that does not exist."""
    for known in OUTPUT_FORMATS:
        if name == known:
            return known
    raise UserError(f"--output-format: {name!r} is unknown; use one of {', '.join(OUTPUT_FORMATS)}")


def _checked_commands(commands: tuple[str, ...]) -> tuple[str, ...]:
    if any(not command.strip() for command in commands):
        raise UserError("--test-cmd is empty; name the command that runs the tests")
    return commands
