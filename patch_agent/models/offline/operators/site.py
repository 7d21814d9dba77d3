"""What an operator sees: a node where it stands, and what is in scope there."""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from patch_agent.models.offline.source import SourceFile


@dataclass(frozen=True, slots=True)
class Change:
    """Bytes `start` to `end` become `text`. weight: how likely within the operator (0 to 1)."""

    start: int
    end: int
    text: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Scope:
    """names: variables of the function. constants: names of the module's constants.

    attributes: receiver's text -> attributes used on it anywhere in the file. values: constants
    that the failing tests and the module name.
    """

    names: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()
    attributes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    values: tuple[int | float | str, ...] = ()


@dataclass(frozen=True, slots=True)
class Site:
    """A node of a suspicious line; `parent` is the node that holds it."""

    node: ast.AST
    parent: ast.AST
    source: SourceFile
    scope: Scope

    def text(self, node: ast.expr | ast.stmt) -> str:
        """A node as it is written."""
        return self.source.text(node)

    def replace(self, node: ast.expr | ast.stmt, text: str, weight: float = 1.0) -> Change:
        """A node written anew."""
        start, end = self.source.span(node)
        return Change(start, end, text, weight)

    def replace_operator(
        self, left: ast.expr, right: ast.expr, old: str, new: str, weight: float = 1.0
    ) -> Iterator[Change]:
        """The operator between two nodes, the blanks and parentheses round it kept."""
        start, end = self.source.span(left)[1], self.source.span(right)[0]
        gap = self.source.data[start:end].decode()
        pattern = r"\s+".join(re.escape(word) for word in old.split())
        found = re.search(pattern, gap)
        if found is not None and "#" not in gap:
            at = start + len(gap[: found.start()].encode())
            yield Change(at, at + len(found.group().encode()), new, weight)

    def wrapped(self, node: ast.expr) -> str:
        """A node's text, in parentheses when it is not simple."""
        text = self.text(node)
        simple = ast.Name | ast.Constant | ast.Call | ast.Attribute | ast.Subscript
        return text if isinstance(node, simple) else f"({text})"

    def wrapped_part(self, node: ast.expr) -> str:
        """A part of a condition: in parentheses when it binds looser than `and`."""
        loose = ast.BoolOp | ast.IfExp | ast.Lambda | ast.NamedExpr
        return f"({self.text(node)})" if isinstance(node, loose) else self.text(node)


Operator = Callable[[Site], Iterator[Change]]
