"""What runs next, derived from the state alone and never stored; it can say what it waits for."""

from dataclasses import dataclass

from patch_agent.core.events import ApprovalRequested
from patch_agent.core.messages import ToolCall
from patch_agent.core.reasons import Reason
from patch_agent.core.state import State
from patch_agent.core.values import Action, Trigger


@dataclass(frozen=True, slots=True)
class Decide:
    """A decision is due."""

    trigger: Trigger


@dataclass(frozen=True, slots=True)
class AwaitApproval:
    """A person's word is needed."""

    request: ApprovalRequested


@dataclass(frozen=True, slots=True)
class ObserveStart:
    """The tree has not been looked at yet."""


@dataclass(frozen=True, slots=True)
class RunBaseline:
    """The test command has to run once before the first edit."""


@dataclass(frozen=True, slots=True)
class RunCall:
    """A tool call of the newest reply is next."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class DeliverResults:
    """All calls of the reply are settled; their results become a message."""


@dataclass(frozen=True, slots=True)
class CallModel:
    """The model is to be called."""


@dataclass(frozen=True, slots=True)
class CheckDone:
    """The run may be over: the done check decides. `out_of`: a budget that is used up."""

    request: Action
    out_of: Reason | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """Nothing more can be done now."""

    reason: Reason
    text: str


Step = (
    Decide
    | AwaitApproval
    | ObserveStart
    | RunBaseline
    | RunCall
    | DeliverResults
    | CallModel
    | CheckDone
    | Stop
)


def plan(state: State, elapsed_s: float) -> Step:
    """The next step; `elapsed_s`: seconds this run has taken so far, earlier runs not counted."""
    if state.due:
        return Decide(state.due[0])
    if state.pending_approval is not None:
        return AwaitApproval(state.pending_approval)
    if not state.start_tree:
        return ObserveStart()
    if state.baseline_wanted and state.baseline is None and not state.baseline_skipped:
        return RunBaseline()
    return _plan_work(state, elapsed_s)


def _plan_work(state: State, elapsed_s: float) -> Step:
    queued = [call.call for call in state.calls if call.status == "queued"]
    if state.calls and all(call.status == "settled" for call in state.calls):
        return DeliverResults()
    if state.done_requested is not None:
        return CheckDone(state.done_requested)
    spent = budget_spent(state, elapsed_s)
    if spent is not None and (queued or state.model_call_due):
        return CheckDone(Action("done"), out_of=spent)
    if queued:
        return RunCall(queued[0])
    if state.model_call_due:
        return CallModel()
    return Stop("gave_up", "Nothing is left to do: no call, no message, no end was asked for.")


def budget_spent(state: State, elapsed_s: float) -> Reason | None:
    """The budget that is used up, if any; checked here and nowhere else."""
    limits = state.limits
    if state.step >= limits.max_steps:
        return "max_steps"
    if limits.max_time_s is not None and state.duration_s + elapsed_s >= limits.max_time_s:
        return "max_time"
    if state.tokens >= limits.max_tokens and state.cost_usd is None:
        return "max_cost"
    cost = state.cost_usd or 0.0
    if limits.max_cost_usd is not None and cost >= limits.max_cost_usd and cost > 0:
        return "max_cost"
    return None


def explain_budget(state: State, reason: Reason) -> str:
    """One line that says which budget ran out and which flag raises it."""
    limits = state.limits
    match reason:
        case "max_steps":
            return f"{state.step} of {limits.max_steps} steps are used (--max-steps)."
        case "max_time":
            return f"The time limit of {limits.max_time_s:g} s is used up (--max-time)."
        case _ if state.cost_usd is None:
            return f"{state.tokens:,} of {limits.max_tokens:,} tokens are used (price unknown)."
        case _:
            return f"${state.cost_usd:.2f} of ${limits.max_cost_usd or 0:.2f} spent (--max-cost)."
