"""Wrong constants: one off, another one that is named nearby, the wrong truth value."""

import ast
from collections.abc import Iterator

from patch_agent.models.offline.operators.site import Change, Site

MAX_VALUES = 12


def shift_integer(site: Site) -> Iterator[Change]:
    """An integer, one more or one less."""
    node = site.node
    if isinstance(node, ast.Constant) and type(node.value) is int:
        for value in (node.value - 1, node.value + 1):
            text = str(value) if value >= 0 else f"({value})"
            yield site.replace(node, text)


def scale_integer(site: Site) -> Iterator[Change]:
    """An integer with a wrong power of ten, or a wrong unit of time or size."""
    node = site.node
    value = node.value if isinstance(node, ast.Constant) else None
    if not isinstance(node, ast.Constant) or not isinstance(value, int | float):
        return
    if isinstance(value, bool) or not value:
        return
    for factor in (10, 60, 100, 1000):
        yield site.replace(node, repr(value * factor), 0.5)
        if isinstance(value, int) and value % factor == 0:
            yield site.replace(node, repr(value // factor), 0.5)


def replace_constant(site: Site) -> Iterator[Change]:
    """A value that the failing tests or the module name."""
    node = site.node
    if not isinstance(node, ast.Constant) or isinstance(site.parent, ast.Expr | ast.FormattedValue):
        return
    if isinstance(site.parent, ast.JoinedStr):
        return
    same = [v for v in site.scope.values if type(v) is type(node.value) and v != node.value]
    for value in same[:MAX_VALUES]:
        yield site.replace(node, repr(value), 0.6)


def flip_truth(site: Site) -> Iterator[Change]:
    """`False` for `True`."""
    node = site.node
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield site.replace(node, str(not node.value))
