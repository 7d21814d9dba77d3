"""pytest: found by its files and settings, read from the JUnit XML it writes."""

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from patch_agent.core.testing import Outcome, TestReport
from patch_agent.execution.process import ProcessResult
from patch_agent.runners.junit import Case, failures_of, read_cases, shorten
from patch_agent.runners.python_environment import python_command
from patch_agent.runners.runner import Detected, Run

SKIPPED_FOLDERS = frozenset(
    {".git", ".hg", ".venv", "venv", "env", "node_modules", ".tox", ".nox", "build", "dist",
     "__pycache__", "site-packages", ".eggs"}
)  # fmt: skip
MAX_ENTRIES = 20_000
NOTHING_COLLECTED = 5
_SETTINGS = {
    "pytest.ini": "",
    ".pytest.ini": "",
    "pyproject.toml": "[tool.pytest",
    "tox.ini": "[pytest]",
    "setup.cfg": "[tool:pytest]",
}


class Pytest:
    """The adapter of pytest; it also runs unittest's test cases."""

    name = "pytest"

    def detect(self, root: Path, path: str) -> Detected | None:
        """Settings of pytest, a conftest.py, or files that it would collect."""
        why = _find_settings(root) or _find_tests(root)
        if why is None:
            return None
        python, chosen = python_command(root, path)
        return Detected((*python, "-m", "pytest"), f"{why}; {chosen}")

    def recognises(self, argv: Sequence[str]) -> bool:
        """`pytest ...`, `python -m pytest ...`, also behind uv, poetry, hatch, coverage."""
        for index, word in enumerate(argv):
            name = PurePosixPath(word).name
            if name in ("pytest", "py.test"):
                before = argv[index - 1] if index else ""
                return index == 0 or before in ("-m", "run") or not before.startswith("-")
            if name in ("bash", "sh") and "-c" in argv:
                return False
        return False

    def command(
        self, argv: Sequence[str], selection: Sequence[str], report: Path
    ) -> tuple[str, ...]:
        """The command with a report, without a cache folder, and only the selection if given."""
        added = [f"--junitxml={report}", "-o", "junit_family=xunit1"]
        if not any(word in ("--lf", "--ff", "--last-failed", "--failed-first") for word in argv):
            added += ["-p", "no:cacheprovider"]
        return (*argv, *added, *(("--", *selection) if selection else ()))

    def read(self, run: Run) -> TestReport:
        """Outcomes by node id; files that could not be loaded are apart from tests."""
        cases = read_cases(run.report)
        named = _by_id(cases or (), run.root)
        broken = {key: case for key, case in named.items() if _is_collection(case)}
        tests = {key: case for key, case in named.items() if key not in broken}
        outcomes: dict[str, Outcome] = {key: case.outcome for key, case in tests.items()}
        result = run.result
        return TestReport(
            runner=self.name,
            argv=run.argv,
            cwd=".",
            ending=result.ending,
            exit_code=result.exit_code,
            duration_s=round(result.duration_s, 3),
            outcomes=outcomes,
            failures=failures_of(named),
            collection_errors=tuple(f"{key}: {shorten(case.text)}" for key, case in broken.items()),
            complete=run.complete,
            output_blob=run.blob,
            note=_note(run, cases),
        )

    def is_test_path(self, path: str) -> bool:
        """pytest's default patterns, and whatever lies in a folder of tests."""
        name = PurePosixPath(path).name
        if fnmatchcase(name, "test_*.py") or fnmatchcase(name, "*_test.py"):
            return True
        folders = PurePosixPath(path).parts[:-1]
        return any(folder in ("tests", "test", "testing") for folder in folders)

    def steers_tests(self, path: str) -> bool:
        """Settings and hooks of pytest and of the interpreter that runs it."""
        name = PurePosixPath(path).name
        steering = {"conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", "noxfile.py",
                    "setup.cfg", "pyproject.toml", "sitecustomize.py", "usercustomize.py",
                    ".coveragerc"}  # fmt: skip
        return name in steering or name.endswith(".pth")


def _find_settings(root: Path) -> str | None:
    for name, mark in _SETTINGS.items():
        try:
            text = (
                (root / name).read_text("utf-8", "replace") if os.path.isfile(root / name) else None
            )
        except OSError:
            continue
        if text is not None and mark in text:
            return f"{name} has settings of pytest" if mark else f"there is a {name}"
    return None


def _find_tests(root: Path) -> str | None:
    left = MAX_ENTRIES
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS)
        left -= len(files) + 1
        for name in sorted(files):
            if name == "conftest.py" or (name.startswith("test_") and name.endswith(".py")):
                return f"found {os.path.relpath(os.path.join(folder, name), root)}"
            if name.endswith("_test.py"):
                return f"found {os.path.relpath(os.path.join(folder, name), root)}"
        if left <= 0:
            return None
    return None


def _by_id(cases: Sequence[Case], root: Path) -> dict[str, Case]:
    named: dict[str, Case] = {}
    for case in cases:
        key = _node_id(case, root)
        known = named.get(key)
        # A test whose teardown fails is written twice: once passed, once as an error.
        if known is None or known.outcome not in ("failed", "error"):
            named[key] = case
    return named


def _node_id(case: Case, root: Path) -> str:
    if not case.name:
        return case.classname
    if not case.file:
        return f"{case.classname}::{case.name}" if case.classname else case.name
    module = case.file.removesuffix(".py").replace("/", ".").replace("\\", ".")
    inner = case.classname
    # The class name is the dotted path of the module and then the classes, relative to rootdir.
    for length in range(len(module.split(".")), 0, -1):
        tail = ".".join(module.split(".")[-length:])
        if inner == tail or inner.startswith(tail + "."):
            inner = inner[len(tail) :].strip(".")
            break
    classes = [part for part in inner.split(".") if part]
    file = case.file.replace("\\", "/")
    if os.path.isabs(file):
        file = os.path.relpath(file, root)
    return "::".join([file, *classes, case.name])


def _is_collection(case: Case) -> bool:
    return case.outcome == "error" and ("collection failure" in case.text or not case.file)


def _last_words(result: ProcessResult) -> str:
    lines = [line.strip() for line in result.text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "none"


def _note(run: Run, cases: tuple[Case, ...] | None) -> str:
    if run.result.ending == "not_started":
        return run.result.problem
    if run.result.ending == "exit" and cases is None:
        return f"it wrote no results; its last words: {_last_words(run.result)}"
    if run.result.ending == "exit" and run.result.exit_code == NOTHING_COLLECTED:
        return "pytest found no tests to run"
    return ""
