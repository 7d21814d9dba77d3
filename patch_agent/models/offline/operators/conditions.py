"""Faults in conditions: and for or, a missing or extra `not`, a part too many."""

import ast
from collections.abc import Iterator

from patch_agent.models.offline.operators.site import Change, Site

_TESTED = ast.If | ast.While | ast.IfExp | ast.Assert


def swap_boolean(site: Site) -> Iterator[Change]:
    """`or` for `and`."""
    node = site.node
    if isinstance(node, ast.BoolOp):
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        pairs = zip(node.values, node.values[1:], strict=False)
        if len(node.values) == 2:
            for left, right in pairs:
                yield from site.replace_operator(left, right, old, new)


def negate(site: Site) -> Iterator[Change]:
    """The opposite of a condition, of a part of one, or of a truth value that is returned."""
    node = site.node
    tests: list[ast.expr] = []
    if isinstance(node, _TESTED):
        tests = [node.test]
    elif isinstance(node, ast.BoolOp):
        tests = node.values
    elif isinstance(node, ast.comprehension):
        tests = node.ifs
    elif isinstance(node, ast.Return) and isinstance(
        node.value, ast.Name | ast.Call | ast.Attribute | ast.BoolOp
    ):
        tests = [node.value]
    for test in tests:
        if not isinstance(test, ast.Compare) and not _is_not(test):
            yield site.replace(test, f"not {site.wrapped(test)}")


def drop_not(site: Site) -> Iterator[Change]:
    """A condition without its `not`."""
    if _is_not(site.node):
        assert isinstance(site.node, ast.UnaryOp)
        yield site.replace(site.node, site.text(site.node.operand))


def drop_part(site: Site) -> Iterator[Change]:
    """A condition without one of its parts."""
    node = site.node
    if isinstance(node, ast.BoolOp):
        word = " and " if isinstance(node.op, ast.And) else " or "
        for left_out in node.values:
            kept = [site.wrapped_part(value) for value in node.values if value is not left_out]
            yield site.replace(node, word.join(kept), 0.5)


def _is_not(node: ast.AST) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
