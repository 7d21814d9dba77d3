"""Functions that are left alone, because changed code in them could reach beyond the copy.

There is no sandbox yet: a candidate is run. So what reaches files, processes or the network, by
itself or through functions of the same repository, is never changed.
"""

import ast
import datetime
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from patch_agent.models.offline.source import Function, SourceFile, first_line

_MODULES = frozenset(
    {
        "os", "subprocess", "shutil", "socket", "ssl", "pathlib", "tempfile", "glob", "io",
        "signal", "ctypes", "multiprocessing", "pty", "mmap", "urllib", "http", "ftplib", "smtplib",
        "imaplib", "poplib", "telnetlib", "socketserver", "xmlrpc", "requests", "httpx", "aiohttp",
        "urllib3", "paramiko", "boto3", "sqlite3", "psycopg", "psycopg2", "pymysql", "sqlalchemy",
        "redis", "pymongo", "dbm", "shelve", "importlib", "runpy", "webbrowser", "zipfile",
        "tarfile",
    }
)  # fmt: skip
_HARMLESS = frozenset(
    {
        "path", "environ", "sep", "linesep", "PurePath", "PurePosixPath", "StringIO", "BytesIO",
        "maxsize", "Lock", "RLock", "Event", "parse", "HTTPStatus",
    }
)  # fmt: skip
_BUILTINS = frozenset({"open", "exec", "eval", "compile", "__import__", "input", "breakpoint"})
_METHODS = frozenset(
    {
        "open", "write_text", "write_bytes", "read_text", "read_bytes", "unlink", "rmdir", "mkdir",
        "touch", "symlink_to", "hardlink_to", "chmod", "rglob", "iterdir", "system", "popen",
        "connect", "sendall", "sendto", "urlopen", "rmtree", "makedirs", "execute", "kill",
        "terminate", "truncate",
    }
)  # fmt: skip


_OF_BUILTINS = frozenset(
    name
    for kind in (str, bytes, list, dict, set, tuple, int, float, datetime.datetime)
    for name in dir(kind)
)
"""A method of such a name is most likely that of a builtin type, whatever else is called so."""


@dataclass(frozen=True, slots=True)
class Unsafe:
    """A function to leave alone. why: what it uses or calls."""

    path: str
    line: int
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class _Known:
    path: str
    line: int
    name: str
    owner: str
    calls: frozenset[str]

    @property
    def callable_as(self) -> str:
        """What a caller writes: `f` for a function, `.m` for a method, the class for its making."""
        if not self.owner:
            return self.name
        return self.owner if self.name in ("__init__", "__new__") else f".{self.name}"


def unsafe_functions(sources: Iterable[SourceFile]) -> dict[tuple[str, int], Unsafe]:
    """(path, first line) -> the functions to leave alone."""
    known: list[_Known] = []
    found: dict[tuple[str, int], Unsafe] = {}
    for source in sources:
        aliases = _aliases(source.tree)
        for owner, function in _functions(source.tree.body, ""):
            one = _Known(source.path, first_line(function), function.name, owner, _called(function))
            known.append(one)
            why = _reaches(function, aliases)
            if why:
                found[one.path, one.line] = Unsafe(one.path, one.line, one.name, why)
    _close(found, known)
    return found


def _functions(body: list[ast.stmt], owner: str) -> Iterator[tuple[str, Function]]:
    for node in body:
        if isinstance(node, Function):
            yield owner, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, node.name)
        elif isinstance(node, ast.If | ast.Try | ast.With):
            children = ast.iter_child_nodes(node)
            yield from _functions([c for c in children if isinstance(c, ast.stmt)], owner)


def _close(found: dict[tuple[str, int], Unsafe], known: list[_Known]) -> None:
    """Add what calls something unsafe, until nothing more is added."""
    while True:
        reached = {one.callable_as for one in known if (one.path, one.line) in found}
        more = [one for one in known if (one.path, one.line) not in found and one.calls & reached]
        if not more:
            return
        for one in more:
            name = sorted(one.calls & reached)[0].removeprefix(".")
            found[one.path, one.line] = Unsafe(one.path, one.line, one.name, f"it calls {name}")


def _aliases(tree: ast.Module) -> set[str]:
    """Names under which a module has something that reaches out."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] in _MODULES:
                    found.add((alias.asname or alias.name).split(".")[0])
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in _MODULES:
            found |= {a.asname or a.name for a in node.names if a.name not in _HARMLESS}
    return found


def _called(function: Function) -> frozenset[str]:
    found: set[str] = set()
    for node in ast.walk(function):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name):
            found.add(node.func.id)
        elif isinstance(node.func, ast.Attribute):
            own = isinstance(node.func.value, ast.Name) and node.func.value.id in ("self", "cls")
            if own or node.func.attr not in _OF_BUILTINS:
                found.add(f".{node.func.attr}")
    return frozenset(found)


def _reaches(function: Function, aliases: set[str]) -> str:
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            is_constant = node.attr in _HARMLESS or node.attr.isupper()
            if node.value.id in aliases and not is_constant:
                return f"it uses {node.value.id}.{node.attr}"
        elif isinstance(node, ast.Name) and node.id in aliases and _is_called(function, node):
            return f"it uses {node.id}"
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", None) or getattr(node.func, "attr", "")
            builtin = isinstance(node.func, ast.Name) and name in _BUILTINS
            if builtin or (isinstance(node.func, ast.Attribute) and name in _METHODS):
                return f"it calls {name}"
    return ""


def _is_called(function: Function, name: ast.Name) -> bool:
    return any(isinstance(node, ast.Call) and node.func is name for node in ast.walk(function))
