"""The search on real repositories: the right repair first, nothing else touched."""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from patch_agent.execution.environment import child_environment
from patch_agent.models.offline.search import SearchRequest, search
from tests.support.repositories import write_files

FIXTURES = Path(__file__).parents[3] / "fixtures" / "repos"
PYTEST = (sys.executable, "-m", "pytest")
ENVIRONMENT = {**child_environment(os.environ), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def run(root: Path, task: str = "Fix it.", time_limit_s: float = 60.0) -> dict[str, Any]:
    request = SearchRequest(root.resolve(), PYTEST, (), task, ENVIRONMENT, time_limit_s)
    result: dict[str, Any] = json.loads(search(request, lambda _text: None))
    return result


def repository(root: Path, **files: str) -> Path:
    write_files(root, {name.replace("__", "/") + ".py": text for name, text in files.items()})
    return root


@pytest.mark.parametrize(
    ("name", "path", "old", "new"),
    [
        ("auth_expiry", "auth/session.py", "    return now <= token.expires_at",
         "    return now < token.expires_at"),
        ("cart_totals", "shop/pricing.py", "    return goods - shipping(goods)",
         "    return goods + shipping(goods)"),
        ("slug_text", "textkit/excerpts.py", '        cut = cut.rsplit(" ", 1)[1]',
         '        cut = cut.rsplit(" ", 1)[0]'),
        ("crlf_config", "settings/parser.py", "    word = value.strip()",
         "    word = value.strip().lower()"),
    ],
)  # fmt: skip
def test_the_right_repair_comes_first(
    name: str, path: str, old: str, new: str, tmp_path: Path
) -> None:
    root = tmp_path / "copy"
    shutil.copytree(FIXTURES / name, root)
    before = {p: p.read_bytes() for p in root.rglob("*") if p.is_file()}
    result = run(root)
    best = result["repairs"][0]
    assert (best["path"], best["old_text"], best["new_text"]) == (path, old, new)
    assert result["problem"] == ""
    assert {p: p.read_bytes() for p in root.rglob("*") if p.is_file()} == before


def test_a_constant_of_a_module_is_a_suspect_too(tmp_path: Path) -> None:
    root = repository(
        tmp_path,
        limits="WEEK = 6\n",
        dates="from limits import WEEK\n\ndef weeks(days):\n    return days // WEEK\n",
        test_dates="from dates import weeks\n\ndef test_a(): assert weeks(14) == 2\n"
        "def test_b(): assert weeks(20) == 2\n",
        conftest="",
    )
    repair = next(repair for repair in run(root)["repairs"] if repair["path"] == "limits.py")
    assert (repair["old_text"], repair["new_text"]) == ("WEEK = 6", "WEEK = 7")


def test_a_value_used_while_loading_is_tried_in_processes(tmp_path: Path) -> None:
    root = repository(
        tmp_path,
        m="BASE = 9\nTABLE = [n * BASE for n in range(5)]\n\ndef f(n):\n"
        "    return TABLE[n] + BASE * 0\n",
        test_m="from m import f\n\ndef test_f(): assert [f(1), f(2), f(4)] == [10, 20, 40]\n",
        conftest="",
    )
    best = run(root)["repairs"][0]
    assert (best["path"], best["new_text"]) == ("m.py", "BASE = 10")


def test_tests_of_unittest_and_marks_of_pytest_are_understood(tmp_path: Path) -> None:
    root = repository(
        tmp_path,
        m="def add(a, b):\n    return a - b\n\n\ndef same(a):\n    return a\n",
        test_m=(
            "import unittest, pytest\nfrom m import add, same\n\n"
            "class T(unittest.TestCase):\n"
            "    def test_add(self): self.assertEqual(add(2, 3), 5)\n"
            "    def test_zero(self): self.assertEqual(add(2, 0), 2)\n"
            "@pytest.mark.xfail\ndef test_later(): assert same(1) == 2\n"
            "@pytest.mark.skip\ndef test_never(): assert False\n"
        ),
        conftest="",
    )
    result = run(root)
    assert result["repairs"][0]["new_text"] == "    return a + b"


def test_candidates_that_hang_are_ended(tmp_path: Path) -> None:
    root = repository(
        tmp_path,
        m=(
            "def count(n):\n    steps = 0\n    while n > 1:\n        n -= 1\n        steps += 1\n"
            "    return steps\n"
        ),
        test_m="from m import count\n\ndef test_a(): assert count(5) == 5\n"
        "def test_b(): assert count(1) == 1\ndef test_c(): assert count(0) == 0\n",
        conftest="",
    )
    result = run(root)
    assert result["repairs"][0]["new_text"] in ("    while n >= 1:", "    while n > 0:")
    assert result["complete"]


def test_functions_that_reach_out_are_left_alone(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    root = repository(
        tmp_path / "repo",
        m=(
            "import os\n\ndef clean(keep):\n"
            f"    if keep != 1:\n        open({str(marker)!r}, 'w').close()\n    return keep - 1\n"
        ),
        test_m="from m import clean\n\ndef test_a(): assert clean(1) == 2\n",
        conftest="",
    )
    result = run(root)
    assert result["repairs"] == []
    assert result["left_alone"] == ["m.py:clean (it calls open)"]
    assert not marker.exists()


def test_what_cannot_be_repaired_names_the_suspects(tmp_path: Path) -> None:
    root = repository(
        tmp_path,
        m="def greet(name):\n    return 'x'\n",
        test_m="from m import greet\n\ndef test_a(): assert greet('Ada') == 'Hello, Ada!'\n"
        "def test_b(): assert greet('Bob') == 'Hello, Bob!'\n",
        conftest="",
    )
    result = run(root)
    assert (result["repairs"], result["complete"], result["problem"]) == ([], True, "")
    assert (result["suspects"][0]["path"], result["suspects"][0]["line"]) == ("m.py", 2)


def test_tests_that_pass_in_the_copy_are_a_problem_that_is_named(tmp_path: Path) -> None:
    root = repository(tmp_path, test_m="def test_a(): pass\n")
    assert run(root)["problem"] == "the failing tests do not fail in a copy of the files"


def test_tests_that_cannot_run_are_a_problem_that_is_named(tmp_path: Path) -> None:
    root = repository(tmp_path, test_m="import gone\n")
    assert run(root)["problem"] == "the tests could not be run in a copy of the files"


def test_other_runners_are_refused(tmp_path: Path) -> None:
    request = SearchRequest(tmp_path, ("make", "test"), (), "x", ENVIRONMENT)
    assert "pytest only" in json.loads(search(request, lambda _text: None))["problem"]
