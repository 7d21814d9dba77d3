"""Trying a model call again when that may help, within limits, honouring the service's hint."""

import random
import time
from collections.abc import Callable

from patch_agent.core.errors import ModelError
from patch_agent.core.protocols import Model, ModelReply, ModelRequest

ATTEMPTS = 5
TOTAL_S = 600.0
"""Attempts and waits together; nothing is tried again after that."""
MAX_WAIT_S = 60.0
FIRST_WAIT_S = 0.5

OnWait = Callable[[str], None]


class RetryingModel:
    """A model around another one; the same protocol."""

    def __init__(
        self,
        model: Model,
        *,
        on_wait: OnWait = lambda _text: None,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model = model
        self._on_wait = on_wait
        self._sleep = sleep
        self._jitter = jitter
        self._clock = clock

    @property
    def name(self) -> str:
        """The inner model's name."""
        return self._model.name

    def prepare(self) -> None:
        """Load the inner model."""
        self._model.prepare()

    def complete(self, request: ModelRequest, on_text: Callable[[str], None]) -> ModelReply:
        """The inner model's reply. Raises its last error when trying again did not help."""
        began = self._clock()
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._model.complete(request, on_text)
            except ModelError as error:
                wait = self._wait_after(error, attempt, self._clock() - began)
                if wait is None:
                    raise
                self._on_wait(f"{error}; trying again in {wait:.1f} s ({attempt} of {ATTEMPTS})")
                self._sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _wait_after(self, error: ModelError, attempt: int, spent: float) -> float | None:
        if not error.retryable or attempt == ATTEMPTS:
            return None
        wait = error.retry_after
        if wait is None:
            wait = FIRST_WAIT_S * 2.0 ** (attempt - 1) * (1.0 + self._jitter())
        return wait if wait <= MAX_WAIT_S and spent + wait <= TOTAL_S else None
