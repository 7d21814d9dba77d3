"""The wrong variable, constant or attribute, where another one is in scope."""

import ast
from collections.abc import Iterator

from patch_agent.models.offline.operators.site import Change, Site

MAX_NAMES = 15


def replace_name(site: Site) -> Iterator[Change]:
    """Another variable of the function."""
    node = site.node
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        return
    if node.id not in site.scope.names or _is_called(site):
        return
    for name in [name for name in site.scope.names if name != node.id][:MAX_NAMES]:
        yield site.replace(node, name)


def replace_module_constant(site: Site) -> Iterator[Change]:
    """Another constant of the module."""
    node = site.node
    if isinstance(node, ast.Name) and node.id in site.scope.constants:
        for name in [name for name in site.scope.constants if name != node.id][:MAX_NAMES]:
            yield site.replace(node, name)


def replace_attribute(site: Site) -> Iterator[Change]:
    """Another attribute that is used on the same thing."""
    node = site.node
    if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
        return
    if _is_called(site):
        return
    receiver = site.text(node.value)
    for name in site.scope.attributes.get(receiver, ())[:MAX_NAMES]:
        if name != node.attr:
            yield site.replace(node, f"{receiver}.{name}")


def _is_called(site: Site) -> bool:
    return isinstance(site.parent, ast.Call) and site.parent.func is site.node
