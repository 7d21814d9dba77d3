"""The wrong function or method of a family, arguments in the wrong order, a call too many."""

import ast
from collections.abc import Iterator

from patch_agent.models.offline.operators.site import Change, Site

_METHODS: tuple[tuple[str, ...], ...] = (
    ("lower", "upper", "title", "capitalize", "casefold", "swapcase"),
    ("strip", "lstrip", "rstrip"),
    ("startswith", "endswith"),
    ("removeprefix", "removesuffix"),
    ("find", "rfind"),
    ("index", "rindex"),
    ("split", "rsplit", "splitlines"),
    ("partition", "rpartition"),
    ("ljust", "rjust", "center", "zfill"),
    ("isdigit", "isalpha", "isalnum", "isdecimal", "isnumeric", "isspace"),
    ("isupper", "islower", "istitle"),
    ("append", "extend", "add", "update", "appendleft"),
    ("pop", "popleft"),
    ("remove", "discard"),
    ("keys", "values", "items"),
    ("union", "intersection", "difference", "symmetric_difference"),
    ("issubset", "issuperset", "isdisjoint"),
    ("get", "setdefault"),
    ("match", "search", "fullmatch"),
    ("days", "seconds", "total_seconds"),
)
_FUNCTIONS: tuple[tuple[str, ...], ...] = (
    ("min", "max", "sum", "len"),
    ("any", "all"),
    ("sorted", "reversed", "list", "set", "tuple"),
    ("int", "round", "float", "abs"),
    ("floor", "ceil", "trunc"),
    ("str", "repr"),
)


def swap_method(site: Site) -> Iterator[Change]:
    """Another method of the same family."""
    node = site.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        receiver = site.text(node.func.value)
        for family in (*_METHODS, *_FUNCTIONS):
            if node.func.attr in family:
                for name in family:
                    if name != node.func.attr:
                        yield site.replace(node.func, f"{receiver}.{name}")


def swap_function(site: Site) -> Iterator[Change]:
    """Another builtin of the same family."""
    node = site.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        for family in _FUNCTIONS:
            if node.func.id in family:
                for name in family:
                    if name != node.func.id:
                        yield site.replace(node.func, name)


def swap_arguments(site: Site) -> Iterator[Change]:
    """Two neighbouring arguments in the other order."""
    node = site.node
    if isinstance(node, ast.Call) and not any(isinstance(a, ast.Starred) for a in node.args):
        for left, right in zip(node.args, node.args[1:], strict=False):
            start, gap_start = site.source.span(left)
            gap_end, end = site.source.span(right)
            if site.source.data[gap_start:gap_end].strip() != b",":
                continue
            yield Change(start, end, f"{site.text(right)}, {site.text(left)}")


def unwrap_call(site: Site) -> Iterator[Change]:
    """The argument or the receiver alone, without the call round it."""
    node = site.node
    if isinstance(node, ast.Call) and not isinstance(site.parent, ast.Expr):
        if isinstance(node.func, ast.Name) and len(node.args) == 1 and not node.keywords:
            yield site.replace(node, site.text(node.args[0]), 0.6)
        elif isinstance(node.func, ast.Attribute) and not node.args:
            yield site.replace(node, site.text(node.func.value), 0.6)


def add_method(site: Site) -> Iterator[Change]:
    """A text made lower case or stripped, where it is compared, looked up or returned."""
    node = site.node
    is_text = isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
    held = isinstance(site.parent, ast.Compare | ast.Return | ast.Subscript | ast.Assign)
    if is_text and held and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        assert isinstance(node, ast.expr)
        for name in ("lower", "strip", "upper"):
            yield site.replace(node, f"{site.text(node)}.{name}()", 0.4)
