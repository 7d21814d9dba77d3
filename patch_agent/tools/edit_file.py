"""`edit_file`: exact text replaced, one or several replacements in one call, all or none."""

from dataclasses import dataclass

from patch_agent.core.evidence import FileWritten
from patch_agent.core.protocols import Expectation, Invocation, ToolOutcome, ToolSpec
from patch_agent.core.state import FileSeen
from patch_agent.tools.guard import check_seen
from patch_agent.tools.toolbox import Toolbox, object_schema
from patch_agent.workspace.edits import Edit, EditResult, apply_edits
from patch_agent.workspace.files import content_hash, read_bytes
from patch_agent.workspace.paths import RepoPath, resolve
from patch_agent.workspace.writing import atomic_write

MAX_BYTES = 20_000_000


@dataclass(frozen=True, slots=True)
class _Plan:
    path: RepoPath
    before: str
    seen: FileSeen
    result: EditResult


class EditFile:
    """Edits a file that was read, at exactly one place per replacement."""

    spec = ToolSpec(
        "edit_file",
        "Replace text in a file that you have read. Each edit replaces old_text, which must occur "
        "exactly once (or set replace_all), with new_text, word for word; everything else in the "
        "file stays byte for byte as it is. Copy old_text from the file without the line numbers; "
        "take enough lines to make it unique. Several edits are applied in order, all or none. "
        "To insert, repeat the line before or after in new_text.",
        object_schema(
            ("path", "edits"),
            path={"type": "string"},
            edits={
                "type": "array",
                "minItems": 1,
                "items": object_schema(
                    ("old_text", "new_text"),
                    old_text={"type": "string"},
                    new_text={"type": "string"},
                    replace_all={"type": "boolean"},
                ),
            },
        ),
        effect="probe",
    )

    def __init__(self, box: Toolbox) -> None:
        self._box = box

    def expected(self, call: Invocation) -> Expectation:
        """The hash of the file as it is and as it will be."""
        plan = self._plan(call)
        after = content_hash(plan.result.data)
        return Expectation({plan.path.relative: plan.before}, {plan.path.relative: after})

    def run(self, call: Invocation) -> ToolOutcome:
        """Apply the edits. Raises ToolError, with nothing changed, when one does not fit."""
        plan = self._plan(call)
        written = atomic_write(plan.path.absolute, plan.result.data, expect_sha256=plan.before)
        name = plan.path.relative
        result = plan.result
        counts = f"+{result.added} -{result.removed}"
        head = f"{name} changed ({counts} lines){_rule(result)}.{written.told}"
        return ToolOutcome(
            content=f"{head}\n{result.preview}",
            summary=f"{name}  {counts}",
            facts=(FileWritten(name, written.sha256, result.seen),),
            touched=(name,),
        )

    def _plan(self, call: Invocation) -> _Plan:
        path = resolve(self._box.root, str(call.arguments["path"]))
        data = read_bytes(path.absolute, MAX_BYTES)
        seen = check_seen(call.state, path.relative, data)
        edits = [
            Edit(item["old_text"], item["new_text"], bool(item.get("replace_all", False)))
            for item in call.arguments["edits"]
        ]
        return _Plan(path, content_hash(data), seen, apply_edits(data, edits, seen.ranges))


def _rule(result: EditResult) -> str:
    return "" if result.rule == "exact" else f", matched by {result.rule}"
