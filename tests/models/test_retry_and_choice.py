"""Trying again within limits; and which model a run uses."""

import pytest

from patch_agent.core.errors import ModelError, UserError
from patch_agent.core.messages import user_message
from patch_agent.core.protocols import ModelRequest
from patch_agent.models.aliases import ALIASES
from patch_agent.models.anthropic import Endpoint
from patch_agent.models.choice import OFFLINE, check_price, choose
from patch_agent.models.retry import ATTEMPTS, RetryingModel
from patch_agent.models.scripted import Scripted, ScriptedModel, say
from tests.support.messages_server import MessagesServer

REQUEST = ModelRequest("s", (), (user_message("m1", "x"),))


def down(retry_after: float | None = None) -> ModelError:
    return ModelError("down", code="service_unavailable", retryable=True, retry_after=retry_after)


def retried(*replies: Scripted) -> tuple[ScriptedModel, RetryingModel, list[float], list[str]]:
    waits: list[float] = []
    told: list[str] = []
    inner = ScriptedModel(replies)
    model = RetryingModel(inner, on_wait=told.append, sleep=waits.append, jitter=lambda: 0.0)
    return inner, model, waits, told


def test_what_may_pass_is_tried_again_with_growing_waits() -> None:
    inner, model, waits, told = retried(down(), down(), say("ok"))
    assert model.complete(REQUEST, lambda _text: None) == say("ok")
    assert (len(inner.requests), waits) == (3, [0.5, 1.0])
    assert told[0] == f"down; trying again in 0.5 s (1 of {ATTEMPTS})"


def test_the_hint_of_the_service_is_kept() -> None:
    _, model, waits, _ = retried(down(7.0), say("ok"))
    model.complete(REQUEST, lambda _text: None)
    assert waits == [7.0]


@pytest.mark.parametrize(
    "error",
    [
        ModelError("no", code="auth", retryable=False),
        down(3600.0),
    ],
)
def test_what_will_not_pass_soon_is_not_waited_for(error: ModelError) -> None:
    inner, model, waits, _ = retried(error, say("ok"))
    with pytest.raises(ModelError):
        model.complete(REQUEST, lambda _text: None)
    assert (len(inner.requests), waits) == (1, [])


def test_attempts_are_counted() -> None:
    inner, model, _, _ = retried(*[down()] * 9)
    with pytest.raises(ModelError):
        model.complete(REQUEST, lambda _text: None)
    assert len(inner.requests) == ATTEMPTS


# --- The choice ----------------------------------------------------------------------------


def test_without_key_and_url_it_is_offline_and_says_how_to_set_a_key() -> None:
    choice = choose(None, Endpoint())
    assert choice.name == OFFLINE
    assert "ANTHROPIC_API_KEY" in choice.why
    assert choose("offline", Endpoint(api_key="k")).why == ""


def test_with_a_key_it_is_the_default_alias_resolved() -> None:
    assert choose(None, Endpoint(api_key="k")).name == ALIASES["sonnet"]
    assert choose(None, Endpoint(auth_token="t")).name == ALIASES["sonnet"]
    assert choose("opus", Endpoint(api_key="k")).name == ALIASES["opus"]
    assert choose("my-model", Endpoint("http://x")).name == "my-model"


def test_a_model_without_a_key_is_refused() -> None:
    with pytest.raises(ModelError, match="needs a key") as caught:
        choose("sonnet", Endpoint())
    assert caught.value.code == "auth"


def test_a_server_is_asked_for_its_only_model() -> None:
    with MessagesServer(models=("one",)) as server:
        assert choose(None, Endpoint(server.url)).name == "one"
    with (
        MessagesServer(models=("one", "two")) as server,
        pytest.raises(UserError, match="name one with --model: one, two"),
    ):
        choose(None, Endpoint(server.url))
    with MessagesServer(models=()) as server, pytest.raises(UserError, match="offers no models"):
        choose(None, Endpoint(server.url))


def test_a_cost_limit_needs_a_price() -> None:
    check_price("my-own", cost_limit_given=False)
    check_price(OFFLINE, cost_limit_given=True)
    check_price(ALIASES["sonnet"], cost_limit_given=True)
    with pytest.raises(UserError, match="price of my-own is not known"):
        check_price("my-own", cost_limit_given=True)


def test_time_spent_in_attempts_counts_as_well() -> None:
    hours = iter([0.0, 300.0, 601.0])
    inner = ScriptedModel([down()] * 9)
    model = RetryingModel(inner, sleep=lambda _s: None, clock=lambda: next(hours))
    with pytest.raises(ModelError, match="down"):
        model.complete(REQUEST, lambda _text: None)
    assert len(inner.requests) == 2


def test_an_empty_key_is_no_key() -> None:
    assert choose(None, Endpoint(api_key="", auth_token="")).name == OFFLINE
