"""Every operator makes the change that its example promises, and only Python."""

import ast
import textwrap

import pytest

from patch_agent.models.offline.operators.registry import OPERATORS, Entry
from patch_agent.models.offline.operators.site import Scope, Site
from patch_agent.models.offline.source import SourceFile, parse_source

SCOPE = Scope(
    names=("a", "b", "n"),
    constants=("LOW", "HIGH"),
    attributes={"a": ("x", "y")},
    values=("value", 7),
)


def parsed(code: str) -> SourceFile:
    source = parse_source("m.py", code.encode())
    assert source is not None
    return source


def changed_by(entry: Entry, code: str) -> list[str]:
    source = parsed(code)
    found = []
    for parent in ast.walk(source.tree):
        for node in ast.iter_child_nodes(parent):
            for change in entry.function(Site(node, parent, source, SCOPE)):
                new = source.data[: change.start] + change.text.encode() + source.data[change.end :]
                found.append(new.decode())
    return found


def in_function(code: str) -> str:
    return f"def f(a, b, n):\n    while n:\n{textwrap.indent(code, ' ' * 8)}\n"


@pytest.mark.parametrize("entry", OPERATORS, ids=lambda entry: entry.name)
def test_the_example_is_among_the_changes(entry: Entry) -> None:
    before, after = entry.example
    assert in_function(after) in changed_by(entry, in_function(before))


PROGRAM = '''
def f(a, b, n, *rest, key=None):
    """A bit of everything."""
    total = 0
    for i in range(1, n + 1):
        if a[i] < b and not (a[-1] == key or i >= 3):
            total += a[i : n] [0] * 2 - 1
        elif not a.x:
            continue
        else:
            break
    text = f"{total:>{n}} {a.lstrip()!r}"
    while (total
           <= n):  # a comment < here
        total -= 1
    return sorted(x for x in rest if x)[0] if a.y else min(a, (b)) // 2
'''


@pytest.mark.parametrize("entry", OPERATORS, ids=lambda entry: entry.name)
def test_changes_are_small_and_most_are_python(entry: Entry) -> None:
    changes = changed_by(entry, PROGRAM)
    good = 0
    for new in changes:
        assert new != PROGRAM
        try:
            ast.parse(new)
            good += 1
        except SyntaxError:
            continue
    assert good >= 0.8 * len(changes)


def test_names_of_operators_are_unique() -> None:
    assert len({entry.name for entry in OPERATORS}) == len(OPERATORS)
