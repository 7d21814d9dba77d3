"""What a loop works with; all of it is put together in the composition root."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from patch_agent.agent.checks import DoneCheck
from patch_agent.agent.dispatch import Dispatch
from patch_agent.agent.effects import Effects
from patch_agent.agent.runtime_tests import RuntimeTests
from patch_agent.core.protocols import Approver, Model, Worker


@dataclass(frozen=True, slots=True)
class Parts:
    """One of each; the loop owns none of them."""

    model: Model
    worker: Worker
    approver: Approver
    effects: Effects
    dispatch: Dispatch
    tests: RuntimeTests
    done_check: DoneCheck
    monotonic: Callable[[], float] = time.monotonic
