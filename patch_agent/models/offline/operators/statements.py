"""Faults in the flow: the wrong jump, a statement in the wrong sense."""

import ast
from collections.abc import Iterator

from patch_agent.models.offline.operators.site import Change, Site


def swap_jump(site: Site) -> Iterator[Change]:
    """`continue` for `break`."""
    if isinstance(site.node, ast.Break):
        yield site.replace(site.node, "continue")
    elif isinstance(site.node, ast.Continue):
        yield site.replace(site.node, "break")


def return_other(site: Site) -> Iterator[Change]:
    """The other truth value, nothing, or another variable returned."""
    node = site.node
    if isinstance(node, ast.Return) and node.value is not None:
        if isinstance(node.value, ast.Constant) and node.value.value is None:
            for name in site.scope.names[:8]:
                yield site.replace(node.value, name, 0.5)
        elif isinstance(node.value, ast.Compare | ast.Call | ast.BoolOp):
            for name in site.scope.names[:8]:
                yield site.replace(node.value, name, 0.2)


def drop_statement(site: Site) -> Iterator[Change]:
    """A statement left out."""
    node = site.node
    if isinstance(node, ast.AugAssign | ast.Expr) and not (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ):
        yield site.replace(node, "pass", 0.5)
