"""The search for repairs in a scratch copy: reproduce, localise, generate, validate, choose."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from patch_agent.models.offline.bench import Bench, Progress
from patch_agent.models.offline.choose import choose
from patch_agent.models.offline.generate import generate
from patch_agent.models.offline.localise import Traced, rank_lines
from patch_agent.models.offline.reproduce import Reproduced, reproduce
from patch_agent.models.offline.safety import unsafe_functions
from patch_agent.models.offline.scope import test_values
from patch_agent.models.offline.source import SourceFile, parse_source
from patch_agent.models.offline.validate import Tests, Validated, only_compiling, validate
from patch_agent.runners.registry import runner_for

MAX_SUSPECTS = 10
MAX_FILE_BYTES = 1_000_000
TRACE_SHARE = 0.4


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """root: a copy of the tree that may be written to. argv: the test command.

    failing: the tests to mend, by id. time_limit_s: seconds for all stages together.
    """

    root: Path
    argv: tuple[str, ...]
    failing: tuple[str, ...]
    task: str
    environment: Mapping[str, str]
    time_limit_s: float = 60.0


def search(
    request: SearchRequest, progress: Progress, clock: Callable[[], float] = time.time
) -> str:
    """The result as JSON text: ranked `repairs`, `suspects`, what was tried and left alone."""
    started = clock()
    result: dict[str, Any] = {
        "repairs": [], "suspects": [], "candidates": 0, "tried": 0, "plausible": 0,
        "left_alone": [], "complete": False, "problem": "",
    }  # fmt: skip
    runner = runner_for(request.argv)
    if runner.name != "pytest":
        result["problem"] = "the repair engine works with pytest only"
        return json.dumps(result)
    with TemporaryDirectory(prefix="patch-repair-") as folder:
        bench = Bench(request.root, Path(folder), request.argv, request.environment)
        progress("tracing the tests")
        reproduced = reproduce(bench, request.time_limit_s * TRACE_SHARE)
        failing = reproduced.failing(request.failing)
        if not failing:
            result["problem"] = (
                "the failing tests do not fail in a copy of the files"
                if reproduced.tests
                else "the tests could not be run in a copy of the files"
            )
            return json.dumps(result)
        analysis = _Analysis(request, reproduced, failing, runner.is_test_path)
        until = started + request.time_limit_s
        validated = validate(bench, analysis.candidates, analysis.tests, until, progress)
        _fill(result, analysis, validated)
    result["seconds"] = round(clock() - started, 1)
    return json.dumps(result)


class _Analysis:
    """Where the fault may be, and what could mend it."""

    def __init__(
        self,
        request: SearchRequest,
        reproduced: Reproduced,
        failing: tuple[Traced, ...],
        is_test_path: Callable[[str], bool],
    ) -> None:
        executed = {path for trace in failing for path in trace.lines}
        everything = _parse(request.root, executed | set(reproduced.modules))
        scores = rank_lines((*failing, *reproduced.passing), request.task)
        self.sources = {
            path: source
            for path, source in everything.items()
            if not is_test_path(path) and not path.endswith("conftest.py")
        }
        self.suspicion = {p: score for p, score in scores.items() if p[0] in self.sources}
        self.left_alone = unsafe_functions(self.sources.values())
        tests = [source for path, source in everything.items() if path not in self.sources]
        names = {trace.test.split("::")[-1].split("[")[0] for trace in failing}
        values = test_values(tests, names)
        candidates = generate(self.sources, self.suspicion, values, self.left_alone)
        self.candidates = only_compiling(self.sources, candidates)
        self.tests = Tests(
            tuple(trace.test for trace in failing),
            tuple(trace.test for trace in reproduced.passing),
            reproduced.duration_s,
        )


def _parse(root: Path, paths: set[str]) -> dict[str, SourceFile]:
    found = {}
    for path in sorted(paths):
        file = root / path
        if path.endswith(".py") and file.is_file() and file.stat().st_size <= MAX_FILE_BYTES:
            source = parse_source(path, file.read_bytes())
            if source is not None:
                found[path] = source
    return found


def _fill(result: dict[str, Any], found: _Analysis, validated: Validated) -> None:
    repairs = choose(validated.plausible, found.sources)
    result["repairs"] = [asdict(repair) for repair in repairs]
    result["suspects"] = [
        {"path": path, "line": line, "score": round(score, 3), "source": _line(found, path, line)}
        for (path, line), score in sorted(found.suspicion.items(), key=lambda i: (-i[1], i[0]))[
            :MAX_SUSPECTS
        ]
    ]
    touched = {path for path, _line_number in found.suspicion}
    result["left_alone"] = [
        f"{one.path}:{one.name} ({one.why})"
        for one in sorted(found.left_alone.values(), key=lambda one: (one.path, one.line))
        if one.path in touched
    ]
    result["candidates"] = len(found.candidates)
    result["tried"] = validated.tried
    result["plausible"] = len(validated.plausible)
    result["complete"] = validated.complete
    result["problem"] = validated.problem


def _line(found: _Analysis, path: str, number: int) -> str:
    source = found.sources.get(path)
    return source.line(number)[:160] if source is not None else ""
