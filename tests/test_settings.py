"""Flags and environment become settings; what cannot be used is refused with what to do."""

import pytest

from patch_agent.core.errors import UserError
from patch_agent.core.values import Limits
from patch_agent.settings import Flags, duration, limits, resolve


def test_the_defaults_are_those_of_the_documentation() -> None:
    settings = resolve(Flags(), {})
    assert settings.limits == Limits(30, 2.0, None, 1_000_000)
    assert (settings.model, settings.base_url, settings.yes) == (None, None, False)
    assert (settings.baseline, settings.test_timeout_s) == (True, 600.0)


def test_a_flag_wins_over_the_environment() -> None:
    environ = {"PATCH_MODEL": "opus", "ANTHROPIC_BASE_URL": "http://one"}
    settings = resolve(Flags(model="haiku"), environ)
    assert (settings.model, settings.base_url) == ("haiku", "http://one")
    assert settings.origins == {"model": "flag", "base_url": "environment"}


def test_an_empty_variable_is_none() -> None:
    settings = resolve(Flags(), {"ANTHROPIC_API_KEY": "", "PATCH_MODEL": ""})
    assert (settings.api_key, settings.model) == (None, None)


def test_keys_are_never_printed() -> None:
    environ = {"ANTHROPIC_API_KEY": "sk-secret", "ANTHROPIC_AUTH_TOKEN": "token-secret"}
    assert "secret" not in repr(resolve(Flags(), environ))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("10m", 600), ("1h30m", 5400), ("250ms", 0.25), ("1.5m", 90)],
)
def test_durations_have_units(text: str, seconds: float) -> None:
    assert duration(text, "--max-time") == seconds


@pytest.mark.parametrize("text", ["", "10", "m", "-5s", "0s", "5 m", "1d", "10m!", "١m"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="--max-time"):
        duration(text, "--max-time")


def test_limits_that_are_not_named_stay_as_they_were() -> None:
    before = Limits(60, 5.0, 90.0, 10)
    assert limits(Flags(max_cost=7.0), before) == Limits(60, 7.0, 90.0, 10)


@pytest.mark.parametrize("cost", [-1.0, float("nan"), float("inf")])
def test_a_cost_limit_is_an_amount(cost: float) -> None:
    with pytest.raises(UserError, match="--max-cost"):
        limits(Flags(max_cost=cost), Limits())
