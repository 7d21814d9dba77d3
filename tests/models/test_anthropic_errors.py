"""Answers and failures of the service become one line and a word whether to try again."""

import email.utils
import time

import pytest

from patch_agent.models.anthropic_errors import (
    connection_error,
    retry_after,
    status_error,
    words_of,
)


@pytest.mark.parametrize(
    ("status", "code", "retryable"),
    [
        (301, "provider_error", False),
        (400, "invalid_request", False),
        (402, "invalid_request", False),
        (408, "service_unavailable", True),
        (409, "service_unavailable", True),
        (413, "context_full", False),
        (422, "invalid_request", False),
        (500, "service_unavailable", True),
        (502, "service_unavailable", True),
        (503, "service_unavailable", True),
        (504, "service_unavailable", True),
        (529, "service_unavailable", True),
    ],
)
def test_a_status_decides_whether_to_try_again(status: int, code: str, retryable: bool) -> None:
    error = status_error(status, {}, "it took too long", "host")
    expected = "context_full" if status == 400 else code
    assert (error.code, error.retryable) == (expected, retryable)
    assert status_error(status, {}, "no", "host").code == code


@pytest.mark.parametrize(
    "message",
    [
        {"type": "invalid_request_error", "message": "prompt is too long: 2 tokens > 1 maximum"},
        {"type": "exceed_context_size_error", "message": "request (9 tokens) exceeds", "n_ctx": 1},
        {"message": "input length and `max_tokens` exceed context limit: 9 + 1 > 8"},
    ],
)
def test_a_full_context_is_told_by_the_words(message: dict[str, object]) -> None:
    assert status_error(400, {}, words_of({"error": message}), "host").code == "context_full"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"type": "error", "error": {"type": "api_error", "message": "a\n b"}}, "api_error: a b"),
        ({"error": "down"}, "down"),
        ({"message": "down"}, "down"),
        ({"error": {"message": None}}, ""),
        ("plain\ntext", "plain text"),
        ("<html>...", ""),
        (None, ""),
        ([1], "[1]"),
    ],
)
def test_the_words_of_any_body_are_one_line(body: object, words: str) -> None:
    assert words_of(body) == words


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("2", 2.0), ("0.5", 0.5), ("-3", 0.0), ("", None), ("soon", None), ("nan", None),
     ("inf", None), ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
     ("Thu, 99 Jan 9999999999999 00:00:00 GMT", None)],
)  # fmt: skip
def test_a_hint_is_a_number_of_seconds_or_a_date(value: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": value}) == seconds


def test_a_date_to_come_is_the_seconds_until_then() -> None:
    found = retry_after({"retry-after": email.utils.formatdate(time.time() + 1000, usegmt=True)})
    assert found is not None
    assert 900 < found <= 1000


def test_the_cause_at_the_bottom_is_named() -> None:
    error = RuntimeError("wrapped")
    error.__cause__ = ConnectionRefusedError(111, "Connection refused")
    found = connection_error(error, "host:1")
    assert str(found) == "the connection to host:1 failed: Connection refused"
    assert (found.code, found.retryable) == ("service_unavailable", True)
