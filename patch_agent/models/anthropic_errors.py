"""What went wrong at the service, in one line for a person; whether trying again may help."""

import email.utils
import math
import time
from collections.abc import Mapping
from typing import Any

from patch_agent.core.errors import ModelError, ModelErrorCode

_RETRYABLE = frozenset({408, 409})
_TOO_LONG = ("too long", "exceed_context_size", "context window", "context limit")


def status_error(status: int, headers: Mapping[str, str], words: str, where: str) -> ModelError:
    """The error for an HTTP status; `words` are the service's own (its kind of error and its
    text), `where` its host."""
    hint = retry_after(headers)
    said = f": {words[:300]}" if words else ""
    if status in (401, 403):
        return _error(f"{where} refused the key (HTTP {status}){said}", "auth")
    if status == 404:
        return _error(f"{where} does not know the model or path (404){said}", "invalid_request")
    if status == 413 or (status == 400 and any(sign in words for sign in _TOO_LONG)):
        return _error(f"the request is too large for the model ({status}){said}", "context_full")
    if status == 429:
        # Without a hint a limit is no matter of waiting (a spending cap, say).
        text = f"{where} limits the rate (HTTP 429){said}"
        return ModelError(text, code="rate_limited", retryable=hint is not None, retry_after=hint)
    if status in _RETRYABLE or status >= 500:
        text = f"{where} cannot answer now (HTTP {status}){said}"
        return ModelError(text, code="service_unavailable", retryable=True, retry_after=hint)
    if 300 <= status < 400:
        return _error(f"{where} redirects elsewhere ({status}); not followed", "provider_error")
    return _error(f"{where} refused the request (HTTP {status}){said}", "invalid_request")


def connection_error(error: BaseException, where: str) -> ModelError:
    """The error of a connection that could not be made, was silent too long, or broke."""
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    chain = f"{type(error).__name__} {type(cause).__name__}"
    if "LocalProtocolError" in chain or "UnsupportedProtocol" in chain:
        return _error(f"no request can be sent to {where}: {cause}"[:400], "invalid_request")
    if "Timeout" in chain and "Connect" not in chain:
        text = f"{where} said nothing for too long"
    else:
        words = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
        text = f"the connection to {where} failed: {words}"[:400]
    return ModelError(text, code="service_unavailable", retryable=True)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `retry-after` as seconds or as a date; None without one."""
    value = headers.get("retry-after")
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        return _until(value)
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _until(text: str) -> float | None:
    try:
        date = email.utils.parsedate_tz(text)
        return None if date is None else max(email.utils.mktime_tz(date) - time.time(), 0.0)
    except (ArithmeticError, ValueError):
        return None


def words_of(body: Any) -> str:
    """Kind and message of an error body, whatever its shape, on one line."""
    if isinstance(body, dict):
        body = body.get("error", body)
    if isinstance(body, dict):
        told = [str(body[name]) for name in ("type", "message") if body.get(name)]
        return " ".join(": ".join(told).split())
    text = "" if body is None else str(body)
    return "" if text.lstrip().startswith("<") else " ".join(text.split())[:200]


def _error(text: str, code: ModelErrorCode) -> ModelError:
    return ModelError(text, code=code, retryable=False)
