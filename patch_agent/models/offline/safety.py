"""Functions that are left alone, because changed code in them could reach beyond the copy.

There is no sandbox yet: a candidate is run. So what reaches files, processes or the network, by
itself or through functions of the same repository, is never changed.
"""

import ast
from collections.abc import Iterable

from patch_agent.models.offline.source import Function, SourceFile, functions_of

_MODULES = frozenset(
    {
        "os", "subprocess", "shutil", "socket", "ssl", "pathlib", "tempfile", "glob", "io",
        "signal", "ctypes", "multiprocessing", "threading", "asyncio", "concurrent", "pty", "mmap",
        "urllib", "http", "ftplib", "smtplib", "imaplib", "poplib", "telnetlib", "socketserver",
        "xmlrpc", "requests", "httpx", "aiohttp", "urllib3", "paramiko", "boto3", "sqlite3",
        "psycopg", "psycopg2", "pymysql", "sqlalchemy", "redis", "pymongo", "dbm", "shelve",
        "pickle", "marshal", "importlib", "runpy", "webbrowser", "sys", "zipfile", "tarfile",
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


def unsafe_functions(sources: Iterable[SourceFile]) -> dict[str, str]:
    """`path:name` of each function to leave alone -> why (a name it uses)."""
    direct: dict[str, str] = {}
    calls: dict[str, set[str]] = {}
    names: dict[str, str] = {}
    for source in sources:
        aliases = _aliases(source.tree)
        for function in functions_of(source.tree):
            key = place_of(source, function)
            names[key] = function.name
            calls[key] = _called(function)
            why = _reaches(function, aliases)
            if why:
                direct[key] = why
    return _closed(direct, calls, names)


def place_of(source: SourceFile, function: Function) -> str:
    """How a function is named: `auth/session.py:is_valid`."""
    return f"{source.path}:{function.name}"


def _closed(
    direct: dict[str, str], calls: dict[str, set[str]], names: dict[str, str]
) -> dict[str, str]:
    found = dict(direct)
    while True:
        reached = {names[key] for key in found}
        more = {
            key: f"it calls {sorted(called & reached)[0]}"
            for key, called in calls.items()
            if key not in found and called & reached
        }
        if not more:
            return found
        found.update(more)


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


def _called(function: Function) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                found.add(node.func.id)
            elif isinstance(node.func, ast.Attribute):
                found.add(node.func.attr)
    return found - {function.name}


def _reaches(function: Function, aliases: set[str]) -> str:
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id in aliases and node.attr not in _HARMLESS:
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
