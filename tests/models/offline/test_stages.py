"""The stages of the search one by one: source, safety, localisation, candidates, choice."""

import ast

from patch_agent.models.offline.choose import choose
from patch_agent.models.offline.generate import Candidate, generate
from patch_agent.models.offline.localise import Traced, rank_lines
from patch_agent.models.offline.safety import unsafe_functions
from patch_agent.models.offline.source import SourceFile, functions_of, parse_source


def parsed(code: str | bytes, path: str = "m.py") -> SourceFile:
    source = parse_source(path, code.encode() if isinstance(code, str) else code)
    assert source is not None
    return source


# --- source ------------------------------------------------------------------------------


def test_nodes_are_found_in_the_bytes_whatever_the_text_holds() -> None:
    code = "\ufeffx = 'größe 漢'; y = x + 1\r\nz = y\r\n".encode()
    source = parsed(code)
    texts = [source.text(node) for node in ast.walk(source.tree) if isinstance(node, ast.expr)]
    assert "'größe 漢'" in texts
    assert "x + 1" in texts
    assert source.line(2) == "z = y"


def test_what_is_no_plain_python_is_left_out() -> None:
    assert parse_source("a.py", b"def f(:\n") is None
    assert parse_source("a.py", b"x = '\xe4'\n") is None
    assert parse_source("a.py", b"x = 1\ry = 2\n") is None


def test_methods_are_functions_and_inner_functions_are_not() -> None:
    source = parsed(
        "class A:\n  def m(self):\n    def inner(): pass\n    return inner\n"
        "if True:\n  async def g(): pass\n"
    )
    assert [function.name for function in functions_of(source.tree)] == ["m", "g"]


# --- safety ------------------------------------------------------------------------------


def test_functions_that_reach_beyond_the_copy_are_named_with_why() -> None:
    source = parsed(
        "import os, shutil as sh, socket, subprocess\nfrom pathlib import Path\n"
        "from os import remove\n"
        "def a(p): sh.rmtree(p)\n"
        "def b(p): return os.path.join(p, 'x') + str(socket.AF_INET)\n"
        "def c(p): Path(p).unlink()\n"
        "def d(p): return a(p)\n"
        "def e(p): return self_contained(p)\n"
        "def self_contained(p): return p + 1\n"
        "def f(p): remove(p)\n"
        "def g(p): return open(p)\n"
        "def h(p): return p.open\n"
        "def i(p): return p.replace('a', 'b')\n"
        "def j(p): return K()\n"
        "def k(p): return p.run()\n"
        "class K:\n"
        "  def __init__(self): self.run()\n"
        "  def run(self): subprocess.run([])\n"
        "  def go(self): self.replace()\n"
        "  def replace(self): self.run()\n"
        "class L:\n"
        "  def replace(self): return 1\n"
    )
    found = unsafe_functions([source]).values()
    assert [(one.line, one.name) for one in sorted(found, key=lambda one: one.line)] == [
        (4, "a"), (6, "c"), (7, "d"), (10, "f"), (11, "g"), (14, "j"), (15, "k"),
        (17, "__init__"), (18, "run"), (19, "go"), (20, "replace"),
    ]  # fmt: skip
    assert {one.name: one.why for one in found}["d"] == "it calls a"


# --- localisation ------------------------------------------------------------------------


def test_lines_of_failing_tests_alone_come_first() -> None:
    traces = [
        Traced("t1", "failed", {"a.py": (1, 2, 3)}),
        Traced("t2", "passed", {"a.py": (1, 2)}),
        Traced("t3", "passed", {"a.py": (1,), "b.py": (9,)}),
        Traced("t4", "skipped", {"a.py": (3,)}),
    ]
    scores = rank_lines(traces, "")
    assert sorted(scores, key=lambda place: -scores[place]) == [
        ("a.py", 3),
        ("a.py", 2),
        ("a.py", 1),
    ]
    assert scores["a.py", 3] == 1.0


def test_the_traceback_and_the_words_of_the_task_sharpen() -> None:
    lines = {"auth/login.py": (1, 2), "other.py": (5,)}
    traces = [Traced("t", "failed", lines, frames=(("auth/login.py", 2),))]
    scores = rank_lines(traces, "The auth test fails")
    assert scores["auth/login.py", 2] > scores["auth/login.py", 1] > scores["other.py", 5]


# --- candidates --------------------------------------------------------------------------

CODE = "LIMIT = 3\ndef f(a):\n    return a < LIMIT\ndef g(a):\n    return open(a) < 3\n"


def test_candidates_are_ranked_and_leave_alone_what_is_not_safe() -> None:
    source = parsed(CODE)
    suspicion = {("m.py", 3): 1.0, ("m.py", 5): 1.0}
    candidates = generate({"m.py": source}, suspicion, [], unsafe_functions([source]))
    assert {c.line for c in candidates} == {1, 3}
    assert (candidates[0].operator, candidates[0].text) == ("swap_comparison", "<=")
    assert [c.score for c in candidates] == sorted((c.score for c in candidates), reverse=True)
    assert {(c.name, c.first) for c in candidates} == {("f", 2), ("", 1)}


def test_the_same_edit_is_one_candidate() -> None:
    source = parsed(CODE)
    candidates = generate({"m.py": source}, {("m.py", 3): 1.0}, [], {})
    places = [(c.path, c.start, c.end, c.text) for c in candidates]
    assert len(places) == len(set(places))


# --- choice ------------------------------------------------------------------------------


def candidate(source: SourceFile, old: bytes, text: str, score: float) -> Candidate:
    start = source.data.index(old)
    line = source.data.count(b"\n", 0, start) + 1
    return Candidate("m.py", start, start + len(old), text, line, "swap", "why", score, "f", 1)


def test_the_best_repair_comes_first_as_whole_lines() -> None:
    source = parsed("def f(a):\r\n    x = a < 1\r\n    return x\r\n")
    better = candidate(source, b"<", "<=", 0.9)
    worse = candidate(source, b"1", "2", 0.5)
    repairs = choose([worse, better], {"m.py": source})
    assert [(r.old_text, r.new_text) for r in repairs] == [
        ("    x = a < 1", "    x = a <= 1"),
        ("    x = a < 1", "    x = a < 2"),
    ]


def test_an_edit_of_a_repeated_line_takes_lines_around_it() -> None:
    source = parsed("def f(a):\n    a += 1\n    a *= 2\n    a += 1\n    return a\n")
    start = source.data.rindex(b"+=")
    edit = Candidate("m.py", start, start + 2, "-=", 4, "swap", "why", 1.0, "f", 1)
    repair = choose([edit], {"m.py": source})[0]
    assert source.data.decode().count(repair.old_text) == 1
    new = source.data.decode().replace(repair.old_text, repair.new_text)
    assert new == "def f(a):\n    a += 1\n    a *= 2\n    a -= 1\n    return a\n"
