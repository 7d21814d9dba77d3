"""Models behind the Anthropic Messages API, by the official SDK's raw path.

The SDK makes the connection, the headers and the authentication. Its parsing of requests and
replies into models is left out: that part grows with the history at every step.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from patch_agent.core.errors import ModelError
from patch_agent.core.protocols import ModelReply, ModelRequest
from patch_agent.core.values import Usage
from patch_agent.models.anthropic_errors import connection_error, status_error, words_of
from patch_agent.models.anthropic_stream import ReplyBuilder, read_events, strict_json
from patch_agent.models.anthropic_wire import WireEncoder
from patch_agent.models.pricing import cost_usd

if TYPE_CHECKING:
    import anthropic

CONNECT_S = 10.0
SILENCE_S = 180.0
"""So long a connection may bring no byte; a slow local model takes minutes for a long prompt."""
IDLE_S = 180.0
"""So long a reply may not go on, whatever keeps its connection busy."""
API_VERSION = "2023-06-01"
"""The version whose events are read here; compatible servers know it too."""
DEFAULT_URL = "https://api.anthropic.com"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the service is and how to show who asks; keys are never printed."""

    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    auth_token: str | None = field(default=None, repr=False)

    @property
    def host(self) -> str:
        """For messages; what is no URL is shown as it is."""
        url = self.base_url or DEFAULT_URL
        try:
            place = urlsplit(url).netloc or url
        except ValueError:
            place = url
        return place.rpartition("@")[2]

    def hide(self, error: ModelError) -> ModelError:
        """The same error, without the keys that the text of another program may repeat."""
        text = str(error)
        for secret in (self.api_key, self.auth_token):
            # One of a few letters is no secret, and hiding it would garble the text.
            if secret and len(secret.strip()) >= 8:
                text = text.replace(secret.strip(), "[key]")
        return ModelError(
            text, code=error.code, retryable=error.retryable, retry_after=error.retry_after
        )


class AnthropicModel:
    """One model at one endpoint. `prepare` may run in a thread while something else goes on."""

    def __init__(
        self, name: str, endpoint: Endpoint, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.name = name
        self._endpoint = endpoint
        self._clock = clock
        self._encoder = WireEncoder(name)
        self._lock = threading.Lock()
        self._client: anthropic.Anthropic | None = None

    def prepare(self) -> None:
        """Import the SDK and the prices, and make the client."""
        with self._lock:
            if self._client is None:
                self._client = make_client(self._endpoint)
                cost_usd(self.name, Usage())

    def complete(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """One call; see `core.protocols.Model`."""
        self.prepare()
        assert self._client is not None
        try:
            reply = self._send(self._client, self._encoder.encode(request), on_text)
        except ModelError as error:
            raise self._endpoint.hide(error) from None
        cost = cost_usd(reply.model, reply.usage)
        if cost is None:
            # The service may name what served the call by an id of its own.
            cost = cost_usd(self.name, reply.usage)
        return replace(reply, cost_usd=cost)

    def _send(
        self, client: "anthropic.Anthropic", body: bytes, on_text: Callable[[str], None]
    ) -> ModelReply:
        import anthropic
        import httpx2

        with _model_errors(self._endpoint):
            response: Any = client.post(
                "/v1/messages",
                content=body,
                cast_to=httpx2.Response,
                options={
                    "headers": {"content-type": "application/json", "accept": "text/event-stream"}
                },
                stream=True,
                stream_cls=anthropic.Stream[Any],
            )
            with closing(response):
                return self._read(response, on_text)

    def _read(self, response: Any, on_text: Callable[[str], None]) -> ModelReply:
        import httpx2

        _check_kind(response, "text/event-stream", self._endpoint)
        builder = ReplyBuilder(self.name)
        last = self._clock()

        def pieces() -> Iterator[bytes]:
            for piece in response.iter_bytes():
                if self._clock() - last > IDLE_S:
                    text = f"the reply of {self._endpoint.host} did not go on for {IDLE_S:.0f} s"
                    raise ModelError(text, code="deadline_exceeded", retryable=True)
                yield piece

        try:
            for event in read_events(pieces()):
                if text := builder.take(event):
                    on_text(text)
                if event.get("type") != "ping":
                    last = self._clock()
        except httpx2.HTTPError:
            # What was paid for and is whole is kept, however its connection ends.
            if not builder.ended:
                raise
        return builder.finish()


@contextmanager
def _model_errors(endpoint: Endpoint) -> Iterator[None]:
    import anthropic
    import httpx2

    try:
        yield
    except anthropic.APIStatusError as error:
        headers = dict(error.response.headers)
        words = words_of(error.body)
        raise status_error(error.status_code, headers, words, endpoint.host) from None
    except (anthropic.APIConnectionError, httpx2.HTTPError) as error:
        raise connection_error(error, endpoint.host) from None


def _check_kind(response: Any, wanted: str, endpoint: Endpoint) -> None:
    kind = response.headers.get("content-type", "")
    if wanted not in kind:
        raise ModelError(
            f"{endpoint.host} answered with {kind or 'something'} instead of {wanted}; "
            "is this the right base URL?",
            code="provider_error",
            retryable=False,
        )


def make_client(endpoint: Endpoint) -> "anthropic.Anthropic":
    """A client that never retries or goes elsewhere by itself: retries are ours, and are counted.

    Raises ModelError when the key or the address can be no key or no address.
    """
    import anthropic
    import httpx2

    try:
        return anthropic.Anthropic(
            **_credential(endpoint),
            base_url=endpoint.base_url or DEFAULT_URL,
            max_retries=0,
            timeout=httpx2.Timeout(SILENCE_S, connect=CONNECT_S),
            default_headers={"anthropic-version": API_VERSION},
            http_client=anthropic.DefaultHttpxClient(follow_redirects=False),
        )
    except (httpx2.InvalidURL, ValueError) as error:
        text = f"the service at {endpoint.host} cannot be used: {error}"
        refused = ModelError(text, code="invalid_request", retryable=False)
        raise endpoint.hide(refused) from None


def _credential(endpoint: Endpoint) -> dict[str, Any]:
    # The SDK takes one of the two; it prefers the key as well when both are set around it.
    name = "api_key" if endpoint.api_key or not endpoint.auth_token else "auth_token"
    # A local server asks for none, and the SDK insists on one.
    secret = (endpoint.api_key or endpoint.auth_token or "none").strip()
    if not secret.isascii() or not secret.isprintable():
        raise ModelError(
            "the API key holds a character that no key has (a line break, perhaps)",
            code="auth",
            retryable=False,
        )
    return {name: secret}


def list_models(endpoint: Endpoint) -> tuple[str, ...]:
    """The ids that a server offers. Raises ModelError when it cannot be asked."""
    import httpx2

    try:
        with closing(make_client(endpoint)) as client, _model_errors(endpoint):
            options: Any = {"timeout": CONNECT_S}
            response = client.get("/v1/models", cast_to=httpx2.Response, options=options)
            _check_kind(response, "json", endpoint)
            return tuple(str(model["id"]) for model in strict_json(response.read())["data"])
    except (KeyError, TypeError, ValueError):
        text = f"{endpoint.host} answered with no list of models; name one with --model"
        raise ModelError(text, code="provider_error", retryable=False) from None
    except ModelError as error:
        raise endpoint.hide(error) from None
