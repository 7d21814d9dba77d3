"""Faults by one place: indices, slices, ranges."""

import ast
from collections.abc import Iterator

from patch_agent.models.offline.operators.site import Change, Site


def shift_index(site: Site) -> Iterator[Change]:
    """The neighbouring index, or the other end."""
    node = site.node
    if not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Slice | ast.Tuple):
        return
    index = node.slice
    value = _integer(index)
    if value is not None:
        others = {0: (-1, 1), -1: (0, -2)}.get(value, (value - 1, value + 1))
        for other in others:
            yield site.replace(index, str(other))
    elif isinstance(index, ast.Name | ast.BinOp):
        yield site.replace(index, f"{site.text(index)} - 1", 0.6)
        yield site.replace(index, f"{site.text(index)} + 1", 0.6)


def shift_slice(site: Site) -> Iterator[Change]:
    """A bound of a slice by one, without it, or one where there was none."""
    node = site.node
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Slice):
        return
    part = node.slice
    if part.step is not None:
        return
    lower = site.text(part.lower) if part.lower else ""
    upper = site.text(part.upper) if part.upper else ""
    for new_lower in (*_shifted(part.lower, lower), *(("",) if lower else ("1",))):
        yield site.replace(part, f"{new_lower}:{upper}", 0.7)
    for new_upper in (*_shifted(part.upper, upper), *(("",) if upper else ("-1",))):
        yield site.replace(part, f"{lower}:{new_upper}", 0.7)


def shift_range(site: Site) -> Iterator[Change]:
    """A bound of `range` by one, or a start where there was none."""
    node = site.node
    if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != "range":
        return
    for argument in node.args[:2]:
        for text in _shifted(argument, site.text(argument)):
            yield site.replace(argument, text)
    if len(node.args) == 1:
        yield site.replace(node.args[0], f"1, {site.text(node.args[0])}", 0.6)
    elif len(node.args) == 2:
        start, _ = site.source.span(node.args[0])
        _, end = site.source.span(node.args[1])
        yield Change(start, end, site.text(node.args[1]), 0.5)


def _integer(node: ast.expr) -> int | None:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return None
    return value if type(value) is int else None


def _shifted(node: ast.expr | None, text: str) -> tuple[str, ...]:
    if node is None:
        return ()
    value = _integer(node)
    if value is not None:
        return (str(value - 1), str(value + 1))
    if isinstance(node, ast.BinOp) and _integer(node.right) == 1:
        kept = text.rsplit("+" if isinstance(node.op, ast.Add) else "-", 1)[0].strip()
        return (kept,) if isinstance(node.op, ast.Add | ast.Sub) else ()
    return (f"{text} - 1", f"{text} + 1")
