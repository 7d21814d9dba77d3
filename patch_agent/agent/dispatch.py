"""One tool call of the model: check it, ask where a person's word is needed, then act."""

import json
from collections.abc import Mapping

from patch_agent.agent.effects import Effects
from patch_agent.agent.session import Session
from patch_agent.core.events import ApprovalRequested, CallRejected, EffectIntended
from patch_agent.core.messages import ToolCall
from patch_agent.core.policy import Ruling, rule_for_call, subject_hash
from patch_agent.core.protocols import Expectation, Invocation, Tool, ToolSpec
from patch_agent.core.tool_spec import find_faults
from patch_agent.core.values import RejectionCause


class Dispatch:
    """Takes calls one by one, in the order of the reply."""

    def __init__(self, session: Session, effects: Effects, tools: Mapping[str, Tool]) -> None:
        self._session = session
        self._effects = effects
        self._tools = tools

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as the model sees them, in a fixed order."""
        return tuple(tool.spec for tool in self._tools.values())

    def run(self, call: ToolCall) -> None:
        """Answer one call: by acting, by refusing, or by asking a person first."""
        tool = self._tools.get(call.name)
        if tool is None:
            names = ", ".join(self._tools)
            text = f"There is no tool {call.name!r}. The tools are: {names}."
            self._reject(call, text, "unknown_tool")
            return
        faults = find_faults(tool.spec, call)
        if faults:
            text = f"The call was not made: {'; '.join(faults)}. Send it again, corrected."
            self._reject(call, text, "invalid")
            return
        ruling = rule_for_call(self._session.state, call, tool.spec.effect, tool.spec.runs_tests)
        match ruling.kind:
            case "denied":
                self._reject(call, _DENIED, "denied")
            case "ask":
                self._session.stage(question_for(call, ruling, self._session.state.test_commands))
            case "allow":
                self._act(call, tool)

    def _reject(self, call: ToolCall, content: str, cause: RejectionCause) -> None:
        step = self._session.state.step + 1
        self._session.stage(CallRejected(call.id, call.name, step, content, cause))

    def _act(self, call: ToolCall, tool: Tool) -> None:
        step = self._session.state.step + 1
        invocation = self._invocation(call, step)
        try:
            expectation = tool.expected(invocation)
        except Exception:  # whatever it is, the tool will meet it again when it runs, and say so
            expectation = Expectation()
        intent = EffectIntended(
            call_id=call.id,
            tool=call.name,
            effect=tool.spec.effect,
            step=step,
            arguments_hash=subject_hash(call.arguments),
            before=expectation.before,
            after=expectation.after,
        )

        # Built anew: the look at the tree before a command may have moved the state on.
        self._effects.perform(intent, lambda: tool.run(self._invocation(call, step)))

    def _invocation(self, call: ToolCall, step: int) -> Invocation:
        arguments = call.arguments or {}
        return Invocation(
            call.id, arguments, self._session.state, step, self._session.show_progress
        )


_DENIED = (
    "A person did not allow this call. Do not ask for the same thing again; "
    "find another way, or end your turn and say what you would need."
)


def question_for(
    call: ToolCall | None, ruling: Ruling, commands: tuple[tuple[str, ...], ...]
) -> ApprovalRequested:
    """The question a person is asked; `call` None: the runtime's own run of the tests."""
    if ruling.about == "tests" or call is None:
        preview = "\n".join(" ".join(argv) for argv in commands)
        return ApprovalRequested(
            "tests",
            "tests",
            "Run this repository's tests?",
            preview,
            ruling.subject_hash,
        )
    arguments = call.arguments or {}
    preview = str(arguments.get("command", "")) or json.dumps(arguments, ensure_ascii=True)
    question = f"Run this command? It {ruling.why}." if ruling.why else "Run this command?"
    return ApprovalRequested(
        call.id, "command", question, preview, ruling.subject_hash, ruling.dangerous
    )
