"""Models behind the Anthropic Messages API, by the official SDK's raw path.

The SDK makes the connection, the headers and the authentication. Its parsing of requests and
replies into models is left out: that part grows with the history at every step.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from patch_agent.core.errors import ModelError
from patch_agent.core.protocols import ModelReply, ModelRequest
from patch_agent.models.anthropic_errors import connection_error, status_error, words_of
from patch_agent.models.anthropic_stream import ReplyBuilder, read_events
from patch_agent.models.anthropic_wire import WireEncoder
from patch_agent.models.pricing import cost_usd

if TYPE_CHECKING:
    import anthropic

CONNECT_S = 10.0
SILENCE_S = 60.0
DEFAULT_URL = "https://api.anthropic.com"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the service is and how to show who asks; keys are never printed."""

    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    auth_token: str | None = field(default=None, repr=False)

    @property
    def host(self) -> str:
        """For messages."""
        return urlsplit(self.base_url or DEFAULT_URL).netloc.rpartition("@")[2]


class AnthropicModel:
    """One model at one endpoint. `prepare` may run in a thread while something else goes on."""

    def __init__(self, name: str, endpoint: Endpoint) -> None:
        self.name = name
        self._endpoint = endpoint
        self._encoder = WireEncoder(name)
        self._lock = threading.Lock()
        self._client: anthropic.Anthropic | None = None

    def prepare(self) -> None:
        """Import the SDK and make the client."""
        with self._lock:
            if self._client is None:
                self._client = make_client(self._endpoint)

    def complete(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """One call; see `core.protocols.Model`."""
        self.prepare()
        assert self._client is not None
        reply = self._send(self._client, self._encoder.encode(request), on_text)
        return replace(reply, cost_usd=cost_usd(reply.model, reply.usage))

    def _send(
        self, client: "anthropic.Anthropic", body: bytes, on_text: Callable[[str], None]
    ) -> ModelReply:
        import anthropic
        import httpx2

        where = self._endpoint.host
        try:
            response: Any = client.post(
                "/v1/messages",
                content=body,
                cast_to=httpx2.Response,
                options={
                    "headers": {
                        "content-type": "application/json",
                        "accept": "text/event-stream",
                        "anthropic-version": "2023-06-01",
                    },
                    "follow_redirects": False,
                },
                stream=True,
                stream_cls=anthropic.Stream[Any],
            )
            with response:
                return self._read(response, on_text)
        except anthropic.APIStatusError as error:
            headers = dict(error.response.headers)
            raise status_error(error.status_code, headers, words_of(error.body), where) from None
        except (anthropic.APIConnectionError, httpx2.HTTPError) as error:
            raise connection_error(error, where) from None

    def _read(self, response: Any, on_text: Callable[[str], None]) -> ModelReply:
        kind = response.headers.get("content-type", "")
        if "text/event-stream" not in kind:
            raise ModelError(
                f"{self._endpoint.host} answered with {kind or 'something'} instead of a reply; "
                "is this the right base URL?",
                code="provider_error",
                retryable=False,
            )
        builder = ReplyBuilder(self.name, on_text)
        try:
            for event in read_events(response.iter_bytes()):
                builder.take(event)
        except (KeyError, TypeError, ValueError) as error:
            text = f"an event of the reply cannot be understood: {error!r}"
            raise ModelError(text, code="provider_error", retryable=True) from None
        return builder.finish()


def make_client(endpoint: Endpoint) -> "anthropic.Anthropic":
    """A client that never retries by itself: retries are ours, and are counted."""
    import anthropic
    import httpx2

    key = endpoint.api_key
    if key is None and endpoint.auth_token is None:
        # A local server asks for none, and the SDK insists on one.
        key = "none"
    return anthropic.Anthropic(
        api_key=key,
        auth_token=endpoint.auth_token,
        base_url=endpoint.base_url or DEFAULT_URL,
        max_retries=0,
        timeout=httpx2.Timeout(SILENCE_S, connect=CONNECT_S),
    )


def list_models(endpoint: Endpoint) -> tuple[str, ...]:
    """The ids that a server offers. Raises ModelError when it cannot be asked."""
    import anthropic

    client = make_client(endpoint)
    try:
        page = client.models.list(timeout=CONNECT_S)
        return tuple(model.id for model in page.data)
    except anthropic.APIStatusError as error:
        raise status_error(error.status_code, {}, words_of(error.body), endpoint.host) from None
    except anthropic.APIConnectionError as error:
        raise connection_error(error, endpoint.host) from None
    finally:
        client.close()
