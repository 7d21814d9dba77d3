"""What is in scope of a function: the material that repairs are made of."""

import ast
from collections.abc import Iterable

from patch_agent.models.offline.operators.site import Scope
from patch_agent.models.offline.source import Function, SourceFile

MAX_VALUES = 40
Value = int | float | str


def scope_of(source: SourceFile, function: Function | None, values: Iterable[Value]) -> Scope:
    """Names, constants and values near a function (None: the module's own level)."""
    return Scope(
        names=() if function is None else _names(function),
        constants=_constants(source.tree),
        attributes=_attributes(source),
        values=tuple(dict.fromkeys([*values, *_values(source.tree)]))[:MAX_VALUES],
    )


def test_values(sources: Iterable[SourceFile], names: Iterable[str]) -> tuple[Value, ...]:
    """The constants that these test functions (by name) write down."""
    wanted = set(names)
    found: list[Value] = []
    for source in sources:
        for node in ast.walk(source.tree):
            if isinstance(node, Function) and node.name in wanted:
                found += _values(node)
    return tuple(dict.fromkeys(found))[:MAX_VALUES]


def _names(function: Function) -> tuple[str, ...]:
    arguments = function.args
    listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    found = [argument.arg for argument in listed if argument.arg not in ("self", "cls")]
    found += [
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    return tuple(dict.fromkeys(found))


def _constants(tree: ast.Module) -> tuple[str, ...]:
    found = []
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign):
            targets = [node.target]
        found += [item.id for item in targets if isinstance(item, ast.Name) and item.id.isupper()]
    return tuple(dict.fromkeys(found))


def _attributes(source: SourceFile) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    called = {id(node.func) for node in ast.walk(source.tree) if isinstance(node, ast.Call)}
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Attribute) or id(node) in called:
            continue
        if isinstance(node.value, ast.Name):
            found.setdefault(node.value.id, {})[node.attr] = None
    return {receiver: tuple(names) for receiver, names in found.items()}


def _values(tree: ast.AST) -> list[Value]:
    found: list[Value] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str):
            is_short = not isinstance(node.value, str) or len(node.value) <= 60
            if is_short and not isinstance(node.value, bool):
                found.append(node.value)
    return list(dict.fromkeys(found))
