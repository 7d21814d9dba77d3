"""A Messages API on loopback that answers as a script says and keeps what it was asked.

    with MessagesServer([calls(("read_file", {"path": "a.py"})), text("Done.")]) as server:
        ...  # a client with base_url=server.url
    server.requests[0].json["messages"]

A script is a list of answers (or makers of answers from the request), used one after the other;
or one maker that is used for every request. After its end every request is refused with 400.
"""

import contextlib
import itertools
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Any
from urllib.parse import urlsplit

MODEL = "claude-sonnet-5-5"
_ids = itertools.count(1)


# --- Answers ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """What goes back: `pieces` are written and flushed one by one.

    before_s: wait before the first byte; between_s: before every piece. hold: wait for this event
    before the first byte. hold_after: how many pieces go out before `hold` is waited for.
    broken: the connection ends after the last piece without the end of the body.
    """

    pieces: tuple[bytes, ...] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    before_s: float = 0.0
    between_s: float = 0.0
    hold: threading.Event | None = None
    hold_after: int = 0
    broken: bool = False


@dataclass
class Received:
    """One request; `arrived` (all of it is here) and `sent` (all but the end of the body
    is written) are seconds of `time.monotonic`."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    arrived: float
    sent: float = 0.0

    @property
    def json(self) -> Any:
        """The body as a value."""
        return json.loads(self.body)


Maker = Callable[[Received], Answer]
Script = Sequence[Answer | Maker] | Maker


def event(kind: str, **fields: Any) -> bytes:
    """One server-sent event."""
    data = json.dumps({"type": kind, **fields}, ensure_ascii=False)
    return f"event: {kind}\ndata: {data}\n\n".encode()


def text_block(text: str, pieces: int = 3) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A text block: its start and its deltas."""
    deltas = [{"type": "text_delta", "text": piece} for piece in _split(text, pieces)]
    return {"type": "text", "text": ""}, deltas


def thinking_block(thinking: str, signature: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A thinking block with its signature, which comes as the last delta."""
    deltas: list[dict[str, Any]] = [
        {"type": "thinking_delta", "thinking": piece} for piece in _split(thinking, 2)
    ]
    deltas.append({"type": "signature_delta", "signature": signature})
    return {"type": "thinking", "thinking": "", "signature": ""}, deltas


def tool_block(
    name: str, arguments: Any, pieces: int = 3, call_id: str | None = None
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A tool_use block; `arguments` that are a str go out as they are, as (broken) JSON text."""
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
    call_id = call_id or f"toolu_{next(_ids):04}"
    deltas = [{"type": "input_json_delta", "partial_json": ""}]
    deltas += [{"type": "input_json_delta", "partial_json": p} for p in _split(raw, pieces)]
    return {"type": "tool_use", "id": call_id, "name": name, "input": {}}, deltas


def reply(
    *blocks: tuple[dict[str, Any], list[dict[str, Any]]],
    stop_reason: str = "end_turn",
    usage: Mapping[str, int] | None = None,
    model: str = MODEL,
) -> Answer:
    """A whole streamed reply of these blocks; one piece for every event.

    usage: input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens.
    """
    counted = {
        "input_tokens": 100,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 20,
        **(usage or {}),
    }
    message: dict[str, Any] = {
        "id": f"msg_{next(_ids):04}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**counted, "output_tokens": 1},
    }
    pieces = [event("message_start", message=message), event("ping")]
    for index, (start, deltas) in enumerate(blocks):
        pieces.append(event("content_block_start", index=index, content_block=start))
        pieces += [event("content_block_delta", index=index, delta=delta) for delta in deltas]
        pieces.append(event("content_block_stop", index=index))
    pieces.append(
        event(
            "message_delta",
            delta={"stop_reason": stop_reason, "stop_sequence": None},
            usage={"output_tokens": counted["output_tokens"]},
        )
    )
    pieces.append(event("message_stop"))
    return Answer(tuple(pieces), headers={"content-type": "text/event-stream; charset=utf-8"})


def text(words: str, **more: Any) -> Answer:
    """A reply of text that ends the turn; `more` as in `reply`."""
    return reply(text_block(words), **more)


def calls(*wanted: tuple[str, Any], words: str = "", **more: Any) -> Answer:
    """A reply with tool calls, (name, arguments) each, after some words if there are any."""
    blocks = [text_block(words)] if words else []
    blocks += [tool_block(name, arguments) for name, arguments in wanted]
    return reply(*blocks, **{"stop_reason": "tool_use", **more})


def http_error(status: int, message: str = "no", kind: str = "api_error", **headers: str) -> Answer:
    """An error of the service; headers by name with `_` for `-` (`retry_after="2"`)."""
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(
        (json.dumps(body).encode(),), status, {"content-type": "application/json", **named}
    )


def html_page(status: int = 200) -> Answer:
    """What a captive portal or a wrong base URL says."""
    page = b"<!doctype html><html><body><h1>Welcome</h1></body></html>"
    return Answer((page,), status, {"content-type": "text/html; charset=utf-8"})


def redirect(location: str, status: int = 307) -> Answer:
    """A redirection."""
    return Answer((), status, {"location": location})


def garbage() -> Answer:
    """A stream whose events are no JSON."""
    pieces = (b"event: message_start\ndata: {nonsense\n\n", b"\x00\xff\n\n")
    return Answer(pieces, headers={"content-type": "text/event-stream"})


def error_event(
    answer: Answer, after: int, kind: str = "overloaded_error", message: str = "Overloaded"
) -> Answer:
    """The first `after` events, then an error event, and the end."""
    last = event("error", error={"type": kind, "message": message})
    return replace(answer, pieces=(*answer.pieces[:after], last))


def ended(answer: Answer, after: int) -> Answer:
    """The first `after` events, then an orderly end of the body."""
    return replace(answer, pieces=answer.pieces[:after])


def broken(answer: Answer, after: int) -> Answer:
    """The first `after` events, then the connection breaks."""
    return replace(answer, pieces=answer.pieces[:after], broken=True)


def sliced(answer: Answer, size: int) -> Answer:
    """The same bytes in pieces of `size` bytes, wherever that cuts them."""
    whole = b"".join(answer.pieces)
    return replace(answer, pieces=tuple(whole[at : at + size] for at in range(0, len(whole), size)))


def slow(answer: Answer, *, before_s: float = 0.0, between_s: float = 0.0) -> Answer:
    """The same answer, later."""
    return replace(answer, before_s=before_s, between_s=between_s)


def held(answer: Answer, until: threading.Event, after: int = 0) -> Answer:
    """The same answer; after so many pieces it waits for the event (or the server's end)."""
    return replace(answer, hold=until, hold_after=after)


def _split(text: str, pieces: int) -> list[str]:
    size = max(-(-len(text) // max(pieces, 1)), 1)
    return [text[at : at + size] for at in range(0, len(text), size)]


# --- The server -------------------------------------------------------------------------


class MessagesServer:
    """A threaded HTTP server on 127.0.0.1, up inside the `with` block.

    models: the ids that GET /v1/models lists; or an answer to give there instead.
    """

    def __init__(self, script: Script = (), models: Sequence[str] | Answer = (MODEL,)) -> None:
        self._script = script if callable(script) else iter(list(script))
        self._models = models
        self._lock = threading.Lock()
        self.stopping = threading.Event()
        self.requests: list[Received] = []
        """The requests for replies, in the order of their arrival."""
        self.others: list[Received] = []
        """All other requests."""
        self._server = _Server(self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> "MessagesServer":
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._server.drop_connections()
        self._thread.join()

    def answer_to(self, received: Received) -> Answer:
        """The answer that is due."""
        # A client that takes this server for its proxy sends a whole URL.
        path = urlsplit(received.path).path
        if received.method == "POST" and path == "/v1/messages":
            with self._lock:
                self.requests.append(received)
                due = self._script if callable(self._script) else next(self._script, _END)
            return due(received) if callable(due) else due
        with self._lock:
            self.others.append(received)
        if received.method == "GET" and path == "/v1/models":
            return self._models if isinstance(self._models, Answer) else _listing(self._models)
        return http_error(404, f"no such path: {path}", "not_found_error")


_END = http_error(400, "the script of this server has ended", "invalid_request_error")


def _listing(names: Sequence[str]) -> Answer:
    data = [
        {
            "type": "model",
            "id": name,
            "display_name": name,
            "created_at": "2030-01-01T00:00:00Z",
        }
        for name in names
    ]
    body = {
        "data": data,
        "has_more": False,
        "first_id": names[0] if names else None,
        "last_id": names[-1] if names else None,
    }
    return Answer((json.dumps(body).encode(),), headers={"content-type": "application/json"})


class _Server(ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False

    def __init__(self, owner: MessagesServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.owner = owner
        self._open: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news."""

    def drop_connections(self) -> None:
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def log_message(self, *_args: Any) -> None:
        """Silent."""

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        received = Received(self.command, self.path, headers, body, time.monotonic())
        answer = self.server.owner.answer_to(received)
        self._write(answer, received)

    def _write(self, answer: Answer, received: Received) -> None:
        stopping = self.server.owner.stopping
        if answer.before_s:
            stopping.wait(answer.before_s)
        self._wait_at(answer, 0)
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for number, piece in enumerate(self._pieces(answer)):
            if number:
                self._wait_at(answer, number)
            if answer.between_s:
                stopping.wait(answer.between_s)
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        # Before the very last write, so that whoever has the whole reply finds the time set.
        received.sent = time.monotonic()
        if answer.broken:
            self.close_connection = True
            return
        self.wfile.write(b"0\r\n\r\n")

    def _pieces(self, answer: Answer) -> Iterator[bytes]:
        # An empty chunk would end the body.
        return (piece for piece in answer.pieces if piece)

    def _wait_at(self, answer: Answer, number: int) -> None:
        if answer.hold is None or answer.hold_after != number:
            return
        while not answer.hold.wait(0.01) and not self.server.owner.stopping.is_set():
            pass
