"""Faults in comparisons: the boundary, the direction, the sense."""

import ast
from collections.abc import Iterator

from patch_agent.models.offline.operators.site import Change, Site
from patch_agent.models.offline.source import compared_pairs

_TEXT: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip
_OTHERS: dict[str, tuple[tuple[str, float], ...]] = {
    "<": (("<=", 1.0), (">", 0.8), (">=", 0.6)),
    "<=": (("<", 1.0), (">=", 0.8), (">", 0.6)),
    ">": ((">=", 1.0), ("<", 0.8), ("<=", 0.6)),
    ">=": ((">", 1.0), ("<=", 0.8), ("<", 0.6)),
    "==": (("!=", 0.8), ("<=", 0.3), (">=", 0.3)),
    "!=": (("==", 0.8),),
    "in": (("not in", 0.8),),
    "not in": (("in", 0.8),),
    "is": (("is not", 0.8), ("==", 0.6)),
    "is not": (("is", 0.8), ("!=", 0.6)),
}


def swap_comparison(site: Site) -> Iterator[Change]:
    """Another operator between the same operands."""
    if isinstance(site.node, ast.Compare):
        for left, operator, right in compared_pairs(site.node):
            old = _TEXT[type(operator)]
            for new, weight in _OTHERS[old]:
                yield from site.replace_operator(left, right, old, new, weight)


def shift_comparison(site: Site) -> Iterator[Change]:
    """One side of an ordering, one more or one less."""
    if isinstance(site.node, ast.Compare):
        for _left, operator, right in compared_pairs(site.node):
            is_order = isinstance(operator, ast.Lt | ast.LtE | ast.Gt | ast.GtE)
            if is_order and not isinstance(right, ast.Constant):
                yield site.replace(right, f"{site.wrapped(right)} - 1", 0.5)
                yield site.replace(right, f"{site.wrapped(right)} + 1", 0.5)
