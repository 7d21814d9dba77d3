"""A Python file as bytes and as a tree, and where in the bytes each node of the tree stands."""

import ast
import codecs
import re
from dataclasses import dataclass
from itertools import pairwise

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class SourceFile:
    """path: relative to the root, with slashes. data: the bytes; offsets count in them."""

    path: str
    data: bytes
    tree: ast.Module
    starts: tuple[int, ...]

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Where a node begins and ends, as byte offsets."""
        start = self.starts[node.lineno - 1] + node.col_offset
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return start, self.starts[end_line - 1] + end_column

    def text(self, node: ast.expr | ast.stmt) -> str:
        """A node as it is written."""
        start, end = self.span(node)
        return self.data[start:end].decode()

    def line(self, number: int) -> str:
        """A line by its number, without its end and its blanks."""
        ends = (*self.starts, len(self.data))
        return self.data[ends[number - 1] : ends[number]].decode().strip()


def parse_source(path: str, data: bytes) -> SourceFile | None:
    """The file, or None when it is no UTF-8 Python that this interpreter can parse."""
    if re.search(rb"\r(?!\n)", data) or b"\x0c" in data:
        return None
    try:
        data.decode("utf-8")
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError):
        return None
    mark = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    ends = [match.end() for match in re.finditer(rb"\n", data)]
    return SourceFile(path, data, tree, (mark, *ends))


def functions_of(tree: ast.Module) -> tuple[Function, ...]:
    """The outermost functions, and those that classes define; not functions inside functions."""
    found: list[Function] = []

    def collect(body: list[ast.stmt]) -> None:
        for node in body:
            if isinstance(node, Function):
                found.append(node)
            elif isinstance(node, ast.ClassDef):
                collect(node.body)
            elif isinstance(node, ast.If | ast.Try | ast.With):
                children = ast.iter_child_nodes(node)
                collect([child for child in children if isinstance(child, ast.stmt)])

    collect(tree.body)
    return tuple(found)


def first_line(function: Function) -> int:
    """The line that the function's code object carries: that of its first decorator, if any."""
    return min([function.lineno, *(item.lineno for item in function.decorator_list)])


def between(source: SourceFile, left: ast.expr, right: ast.expr) -> tuple[int, int]:
    """The bytes between two neighbouring nodes: the operator, blanks, perhaps parentheses."""
    return source.span(left)[1], source.span(right)[0]


def compared_pairs(node: ast.Compare) -> list[tuple[ast.expr, ast.cmpop, ast.expr]]:
    """(left, operator, right) for each comparison of a chain."""
    operands = [node.left, *node.comparators]
    return [
        (left, operator, right)
        for (left, right), operator in zip(pairwise(operands), node.ops, strict=True)
    ]
