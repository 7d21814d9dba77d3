"""The exception tree of Patch.

PatchError
├── UserError        wrong use, settings or repository state: one line, exit 2
├── ConflictError    held by another process, or changed by someone else: exit 8
├── StoreError       the log or the blobs could not be written or read: exit 7
├── InternalError    a fault of our own, outside of any run: exit 70
├── ToolError        a tool could not do what was asked: its text goes to the model
└── ModelError       a model call failed; `retryable` decides, `code` describes
"""

from typing import TYPE_CHECKING, Literal

from patch_agent.core.reasons import Reason

if TYPE_CHECKING:
    from patch_agent.core.events import Event

ModelErrorCode = Literal[
    "auth",
    "rate_limited",
    "service_unavailable",
    "provider_error",
    "invalid_request",
    "context_full",
    "deadline_exceeded",
]


class PatchError(Exception):
    """Base of every error that Patch raises on purpose; `str()` is one line for a person."""


class UserError(PatchError):
    """Wrong use, settings or repository state; nothing was changed. Exit code 2."""

    def __init__(self, message: str, reason: Reason = "usage") -> None:
        super().__init__(message)
        self.reason: Reason = reason


class ConflictError(PatchError):
    """Something is held or was changed by someone else. Exit code 8."""

    def __init__(self, message: str, reason: Reason = "session_held") -> None:
        super().__init__(message)
        self.reason: Reason = reason


class StoreError(PatchError):
    """The log or the blob store could not be used. Exit code 7.

    session_id: of the run that it ended, "" outside of one.
    """

    session_id = ""


class InternalError(PatchError):
    """A fault of our own. Exit code 70."""

    def __init__(self, error: Exception) -> None:
        super().__init__(f"a fault in Patch: {type(error).__name__}: {error}")


class ToolError(PatchError):
    """A tool refused or failed; the text tells the model what is wrong and what to do next.

    facts: what the tool saw all the same: the lines of a file that the text shows, for example.
    """

    def __init__(self, message: str, facts: "tuple[Event, ...]" = ()) -> None:
        super().__init__(message)
        self.facts = facts


class ModelError(PatchError):
    """A model call failed.

    `retry_after` is in seconds when the service gave a hint. `status` is the HTTP status, if any.
    """

    def __init__(
        self,
        message: str,
        *,
        code: ModelErrorCode,
        retryable: bool,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.code: ModelErrorCode = code
        self.retryable = retryable
        self.retry_after = retry_after
