"""The built-in worker: it takes what the runtime proposes."""

from patch_agent.core.propose import propose
from patch_agent.core.state import State
from patch_agent.core.values import Action, Trigger


class BuiltinWorker:
    """A complete agent: the proposal, unchanged."""

    def decide(self, state: State, trigger: Trigger) -> tuple[tuple[Action, ...], str]:
        """The proposal for the trigger."""
        return propose(state, trigger), "built-in"
