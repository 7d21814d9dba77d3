"""Faults in arithmetic: the operator, the order of the operands, a term too many or too few."""

import ast
from collections.abc import Iterator

from patch_agent.models.offline.operators.site import Change, Site

_TEXT: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<",
    ast.RShift: ">>",
}  # fmt: skip
_OTHERS: dict[str, tuple[tuple[str, float], ...]] = {
    "+": (("-", 1.0), ("*", 0.4)),
    "-": (("+", 1.0),),
    "*": (("/", 0.6), ("+", 0.5), ("**", 0.3), ("//", 0.4)),
    "/": (("*", 0.8), ("//", 0.9)),
    "//": (("/", 0.9), ("*", 0.5), ("%", 0.6)),
    "%": (("//", 0.8), ("/", 0.3)),
    "**": (("*", 0.7),),
    "&": (("|", 0.8), ("^", 0.5)),
    "|": (("&", 0.8), ("^", 0.5)),
    "^": (("&", 0.6), ("|", 0.6)),
    "<<": ((">>", 0.8),),
    ">>": (("<<", 0.8),),
}
_ORDERED = ast.Sub | ast.Div | ast.FloorDiv | ast.Mod | ast.Pow


def swap_arithmetic(site: Site) -> Iterator[Change]:
    """Another operator between the same operands."""
    if isinstance(site.node, ast.BinOp):
        old = _TEXT.get(type(site.node.op), "")
        for new, weight in _OTHERS.get(old, ()):
            yield from site.replace_operator(site.node.left, site.node.right, old, new, weight)


def swap_augmented(site: Site) -> Iterator[Change]:
    """Another operator in an augmented assignment, or a plain one."""
    node = site.node
    if isinstance(node, ast.AugAssign):
        old = _TEXT.get(type(node.op), "")
        for new, weight in (*_OTHERS.get(old, ()), ("", 0.3)):
            yield from site.replace_operator(node.target, node.value, f"{old}=", f"{new}=", weight)
    elif isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        if isinstance(target, ast.Name | ast.Attribute | ast.Subscript):
            yield from site.replace_operator(target, node.value, "=", "+=", 0.4)


def swap_operands(site: Site) -> Iterator[Change]:
    """`a - b` for `b - a`."""
    node = site.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, _ORDERED):
        text = f"{site.wrapped(node.right)} {_TEXT[type(node.op)]} {site.wrapped(node.left)}"
        yield site.replace(node, text)


def drop_operand(site: Site) -> Iterator[Change]:
    """One term alone."""
    node = site.node
    if isinstance(node, ast.BinOp):
        is_step = isinstance(node.right, ast.Constant)
        yield site.replace(node, site.text(node.left), 0.8 if is_step else 0.4)
        yield site.replace(node, site.text(node.right), 0.3)


def add_step(site: Site) -> Iterator[Change]:
    """One more or one less, where a number is returned or assigned."""
    node = site.node
    if isinstance(node, ast.Return | ast.Assign) and isinstance(
        node.value, ast.Name | ast.BinOp | ast.Call
    ):
        text = site.text(node.value)
        yield site.replace(node.value, f"{text} + 1", 0.6)
        yield site.replace(node.value, f"{text} - 1", 0.6)
