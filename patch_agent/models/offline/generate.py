"""Candidates: every operator at every suspicious node, the most promising first."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from patch_agent.models.offline.operators.registry import OPERATORS, Entry
from patch_agent.models.offline.operators.site import Site
from patch_agent.models.offline.safety import Unsafe
from patch_agent.models.offline.scope import Value, scope_of
from patch_agent.models.offline.source import SourceFile, first_line, functions_of

MAX_PER_LINE = 120
MAX_CANDIDATES = 3_000
MODULE_SUSPICION = 0.6
"""A module's constant runs at import, where no test is blamed for it: this share of its users'."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One edit: bytes `start` to `end` of a file become `text`.

    name, first: of the function whose code is exchanged, and the line of that code; name "": an
    assignment at the module's own level, which begins at line `first`.
    """

    path: str
    start: int
    end: int
    text: str
    line: int
    operator: str
    why: str
    score: float
    name: str = ""
    first: int = 0


def generate(
    sources: Mapping[str, SourceFile],
    suspicion: Mapping[tuple[str, int], float],
    values: Iterable[Value],
    left_alone: Mapping[tuple[str, int], Unsafe],
) -> tuple[Candidate, ...]:
    """Ranked candidates; functions that are left alone have none."""
    known = tuple(values)
    users = _suspicion_of_users(sources.values(), suspicion)
    found: list[Candidate] = []
    for source in sources.values():
        found += _in_functions(source, suspicion, known, left_alone)
        found += _in_module(source, users, known)
    unique = {(c.path, c.start, c.end, c.text): c for c in sorted(found, key=lambda c: c.score)}
    ranked = sorted(unique.values(), key=lambda c: (-c.score, c.path, c.start, c.text))
    return tuple(_capped(ranked))[:MAX_CANDIDATES]


def _capped(ranked: Iterable[Candidate]) -> Iterator[Candidate]:
    used: dict[tuple[str, int], int] = {}
    for candidate in ranked:
        place = (candidate.path, candidate.line)
        used[place] = used.get(place, 0) + 1
        if used[place] <= MAX_PER_LINE:
            yield candidate


def _in_functions(
    source: SourceFile,
    suspicion: Mapping[tuple[str, int], float],
    values: tuple[Value, ...],
    left_alone: Mapping[tuple[str, int], Unsafe],
) -> Iterator[Candidate]:
    for function in functions_of(source.tree):
        if (source.path, first_line(function)) in left_alone:
            continue
        scope = scope_of(source, function, values)
        for statement in function.body:
            for parent, node in _walk(statement, function):
                score = _suspicion_of(source, node, suspicion)
                if score > 0:
                    site = Site(node, parent, source, scope)
                    yield from _at(site, score, (function.name, first_line(function)))


def _walk(node: ast.AST, parent: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    yield parent, node
    for child in ast.iter_child_nodes(node):
        # Annotations say nothing about what runs.
        if child is not getattr(node, "annotation", None):
            yield from _walk(child, node)


def _suspicion_of(
    source: SourceFile, node: ast.AST, suspicion: Mapping[tuple[str, int], float]
) -> float:
    first = getattr(node, "lineno", 0)
    if isinstance(node, ast.comprehension):
        first = node.target.lineno
    if not isinstance(node, ast.expr):
        return suspicion.get((source.path, first), 0.0)
    # The lines of an expression in several lines are not all counted by the interpreter.
    near = range(first, max(first - 6, 0), -1)
    return next((suspicion[source.path, n] for n in near if (source.path, n) in suspicion), 0.0)


def _at(site: Site, score: float, place: tuple[str, int]) -> Iterator[Candidate]:
    for entry in OPERATORS:
        yield from _by(entry, site, score, place)


def _by(entry: Entry, site: Site, score: float, place: tuple[str, int]) -> Iterator[Candidate]:
    for change in entry.function(site):
        line = site.source.data.count(b"\n", 0, change.start) + 1
        yield Candidate(
            path=site.source.path,
            start=change.start,
            end=change.end,
            text=change.text,
            line=line,
            operator=entry.name,
            why=entry.why,
            score=round(score * score * entry.prior * change.weight, 6),
            name=place[0],
            first=place[1],
        )


def _in_module(
    source: SourceFile, users: Mapping[tuple[str, str], float], values: tuple[Value, ...]
) -> Iterator[Candidate]:
    scope = scope_of(source, None, values)
    for statement in source.tree.body:
        if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
            continue
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        scores = [users.get((path, name), 0.0) for path in (source.path, "") for name in names]
        score = max(scores, default=0.0) * MODULE_SUSPICION
        if score > 0:
            for parent, node in _walk(statement.value, statement):
                site = Site(node, parent, source, scope)
                yield from _at(site, score, ("", statement.lineno))


def _suspicion_of_users(
    sources: Iterable[SourceFile], suspicion: Mapping[tuple[str, int], float]
) -> dict[tuple[str, str], float]:
    """(path, name) -> the highest suspicion of a line that uses a name of the module's own level.

    Constants in capitals are known to other modules too: those stand under the path "".
    """
    found: dict[tuple[str, str], float] = {}
    for source in sources:
        for node in ast.walk(source.tree):
            name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
            score = suspicion.get((source.path, getattr(node, "lineno", 0)), 0.0) if name else 0.0
            if score > 0:
                places = [(source.path, name), *([("", name)] if name.isupper() else [])]
                for place in places:
                    found[place] = max(found.get(place, 0.0), score)
    return found
