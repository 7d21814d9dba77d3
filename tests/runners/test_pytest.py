"""pytest, really run: what each kind of end becomes in the report."""

import os
import sys
from pathlib import Path

import pytest

from patch_agent.core.errors import ToolError
from patch_agent.core.testing import TestReport
from patch_agent.execution.environment import child_environment
from patch_agent.runners.tester import CommandTester
from patch_agent.stores.memory import MemoryBlobs
from tests.support.repositories import write_files

PASSES = "def test_a(): pass\n"
PYTEST = (sys.executable, "-m", "pytest")
ENVIRONMENT = {**child_environment(os.environ), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def run(
    root: Path,
    files: dict[str, str],
    *more: str,
    selection: tuple[str, ...] = (),
    timeout_s: float = 60,
    environment: dict[str, str] | None = None,
) -> TestReport:
    write_files(root, files)
    tester = CommandTester(
        root, [(*PYTEST, *more)], timeout_s, environment or ENVIRONMENT, MemoryBlobs()
    )
    (report,) = tester.run(selection, lambda _text: None)
    return report


def test_every_outcome_is_told_by_its_id(tmp_path: Path) -> None:
    code = """
import pytest

def test_passed(): pass
def test_failed(): assert 1 == 2
@pytest.mark.skip(reason="not now")
def test_skipped(): pass
@pytest.mark.xfail
def test_xfailed(): assert False
@pytest.mark.xfail
def test_xpassed(): pass
@pytest.mark.xfail(strict=True)
def test_strict(): pass
@pytest.fixture
def broken(): raise RuntimeError("setup")
def test_setup(broken): pass
@pytest.fixture
def leaky():
    yield
    raise RuntimeError("teardown")
def test_teardown(leaky): pass
@pytest.mark.parametrize("text", ["a b", "x[1]", "ü", "a::b", "<&>"])
def test_text(text): pass
class TestGroup:
    class TestInner:
        def test_deep(self): pass
"""
    report = run(tmp_path, {"sub/test_all.py": code})
    assert {key.split("::", 1)[1]: value for key, value in report.outcomes.items()} == {
        "test_passed": "passed",
        "test_failed": "failed",
        "test_skipped": "skipped",
        "test_xfailed": "xfailed",
        "test_xpassed": "passed",
        "test_strict": "failed",
        "test_setup": "error",
        "test_teardown": "error",
        "test_text[a b]": "passed",
        "test_text[x[1]]": "passed",
        "test_text[\\xfc]": "passed",
        "test_text[a::b]": "passed",
        "test_text[<&>]": "passed",
        "TestGroup::TestInner::test_deep": "passed",
    }
    assert all(key.startswith("sub/test_all.py::") for key in report.outcomes)
    assert (report.ending, report.exit_code, report.passed) == ("exit", 1, False)
    failure = next(f for f in report.failures if f.test_id.endswith("test_failed"))
    assert (failure.file, failure.line) == ("sub/test_all.py", 5)
    assert "assert 1 == 2" in failure.text


def test_all_passed_is_a_pass(tmp_path: Path) -> None:
    report = run(tmp_path, {"test_a.py": "def test_a(): pass\n"})
    assert (report.passed, report.counts, report.note) == (True, {"passed": 1}, "")
    assert not list(tmp_path.rglob("__pycache__"))
    assert not (tmp_path / ".pytest_cache").exists()


@pytest.mark.parametrize(
    ("files", "more", "note"),
    [
        ({"test_a.py": "import pytest\npytest.skip(allow_module_level=True)\n"}, (), ""),
        ({"test_a.py": f"import pytest\n@pytest.mark.skip\n{PASSES}"}, (), ""),
        ({"test_a.py": "x = 1\n"}, (), "pytest found no tests to run"),
        ({"test_a.py": "def test_a(): pass\n"}, ("-k", "nothing"), "pytest found no tests to run"),
        ({"test_a.py": "def test_a(): pass\n"}, ("--no-such-flag",), "it wrote no results"),
        ({"test_a.py": "import os\ndef test_a(): os._exit(0)\n"}, (), "it wrote no results"),
        ({"test_a.py": "import os, signal\ndef test_a(): os.kill(os.getpid(), signal.SIGKILL)\n"},
         (), ""),
        ({"test_a.py": "def test_a(): pass\n", "test_b.py": "import gone\n"}, (), ""),
        ({"test_a.py": "def test_a(): pass\n", "test_b.py": "def (:\n"}, (), ""),
        ({"test_a.py": PASSES, "conftest.py": "raise SystemExit(0)\n"}, (), "it wrote"),
    ],
)  # fmt: skip
def test_what_is_no_pass_is_none(
    files: dict[str, str], more: tuple[str, ...], note: str, tmp_path: Path
) -> None:
    report = run(tmp_path, files, *more)
    assert not report.passed
    assert report.note.startswith(note)


def test_files_that_do_not_load_are_no_tests(tmp_path: Path) -> None:
    files = {"test_a.py": "def test_a(): pass\n", "sub/test_b.py": "import gone\n"}
    report = run(tmp_path, files, "--continue-on-collection-errors")
    assert report.outcomes == {"test_a.py::test_a": "passed"}
    (error,) = report.collection_errors
    assert "test_b" in error
    assert "No module named 'gone'" in error


def test_a_time_out_is_no_exit_code(tmp_path: Path) -> None:
    files = {"test_a.py": "import time\ndef test_a(): time.sleep(60)\n"}
    report = run(tmp_path, files, timeout_s=1.5)
    assert (report.ending, report.exit_code, report.passed) == ("timeout", None, False)


def test_a_selection_is_never_complete(tmp_path: Path) -> None:
    files = {"test_a.py": "def test_a(): pass\ndef test_b(): assert False\n"}
    report = run(tmp_path, files, selection=("test_a.py::test_a",))
    assert (report.outcomes, report.complete) == ({"test_a.py::test_a": "passed"}, False)


@pytest.mark.parametrize("name", ["-x", "--lf", "gone.py", "../x.py", "a\x00b", "/etc/passwd"])
def test_a_selection_that_names_no_test_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ToolError):
        run(tmp_path, {"test_a.py": "def test_a(): pass\n"}, selection=(name,))


def test_variables_of_the_outside_do_not_steer_a_run(tmp_path: Path) -> None:
    environment = {**ENVIRONMENT, "PYTEST_ADDOPTS": "-k nothing"}
    report = run(tmp_path, {"test_a.py": "def test_a(): pass\n"}, environment=environment)
    assert report.passed


def test_tests_of_unittest_are_run_too(tmp_path: Path) -> None:
    code = (
        "import unittest\n\nclass T(unittest.TestCase):\n"
        "    def test_a(self): self.assertEqual(1, 1)\n"
        "    def test_b(self):\n        for n in (1, 2):\n"
        "            with self.subTest(n=n): self.assertEqual(n, 1)\n"
    )
    report = run(tmp_path, {"test_a.py": code})
    assert report.outcomes["test_a.py::T::test_a"] == "passed"
    assert not report.passed


def test_ids_do_not_depend_on_where_the_settings_are(tmp_path: Path) -> None:
    files = {"pyproject.toml": "[tool.pytest.ini_options]\ntestpaths = ['tests']\n",
             "tests/unit/test_a.py": "class TestA:\n    def test_a(self): pass\n"}  # fmt: skip
    assert list(run(tmp_path, files).outcomes) == ["tests/unit/test_a.py::TestA::test_a"]


def test_the_same_file_name_twice_and_a_module_named_like_a_class(tmp_path: Path) -> None:
    files = {
        "a/test_x.py": "def test_x(): pass\n", "a/__init__.py": "", "b/__init__.py": "",
        "b/test_x.py": "def test_x(): assert False\n",
        "test_x.py": "class test_x:\n    pass\ndef test_y(): pass\n",
    }  # fmt: skip
    assert run(tmp_path, files).outcomes == {
        "a/test_x.py::test_x": "passed",
        "b/test_x.py::test_x": "failed",
        "test_x.py::test_y": "passed",
    }
