"""Which model a run uses: what was asked for, else what is there."""

from collections.abc import Callable
from dataclasses import dataclass

from patch_agent.core.errors import ModelError, UserError
from patch_agent.core.protocols import Model
from patch_agent.models.aliases import DEFAULT, resolve_alias
from patch_agent.models.anthropic import AnthropicModel, Endpoint, list_models
from patch_agent.models.pricing import has_price
from patch_agent.models.retry import OnWait, RetryingModel

OFFLINE = "offline"


@dataclass(frozen=True, slots=True)
class Choice:
    """name: the id, or `offline`. why: one line for the user, "" when there is nothing to say."""

    name: str
    why: str = ""


def choose(asked: str | None, endpoint: Endpoint) -> Choice:
    """The model of a run. Raises UserError or ModelError, before anything was begun."""
    has_key = bool(endpoint.api_key or endpoint.auth_token)
    if asked == OFFLINE:
        return Choice(OFFLINE)
    if asked is None and endpoint.base_url is None:
        if has_key:
            return Choice(resolve_alias(DEFAULT))
        return Choice(
            OFFLINE,
            "No API key is set: the built-in offline repair engine is used. "
            "For a language model set ANTHROPIC_API_KEY.",
        )
    if asked is None:
        return Choice(_only_one(endpoint))
    if not has_key and endpoint.base_url is None:
        raise ModelError(
            f"--model {asked} needs a key: set ANTHROPIC_API_KEY, or use --model offline",
            code="auth",
            retryable=False,
        )
    return Choice(resolve_alias(asked))


def _only_one(endpoint: Endpoint) -> str:
    names = list_models(endpoint)
    if len(names) == 1:
        return names[0]
    if not names:
        raise UserError(f"{endpoint.host} offers no models; name one with --model")
    listed = ", ".join(names[:12])
    raise UserError(f"{endpoint.host} offers several models; name one with --model: {listed}")


def check_price(name: str, cost_limit_given: bool) -> None:
    """Raises UserError when a cost limit was asked for that cannot be kept."""
    if cost_limit_given and name != OFFLINE and not has_price(name):
        raise UserError(
            f"the price of {name} is not known, so --max-cost cannot be kept; leave it out "
            "(a limit of tokens then holds)"
        )


def build(
    choice: Choice, endpoint: Endpoint, offline: Callable[[], Model], on_wait: OnWait
) -> Model:
    """The model itself; `offline` makes the embedded one."""
    if choice.name == OFFLINE:
        return offline()
    return RetryingModel(AnthropicModel(choice.name, endpoint), on_wait=on_wait)
