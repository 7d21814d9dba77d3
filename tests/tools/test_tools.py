"""Each tool: what it does, what it records, and what it says when it refuses."""

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from patch_agent.core.errors import ToolError
from patch_agent.core.evidence import FileRead, FileWritten, TestsRan
from patch_agent.core.protocols import Invocation, Tool, ToolOutcome
from patch_agent.core.state import FileSeen, State
from patch_agent.core.testing import TestReport
from patch_agent.core.values import LineRange
from patch_agent.execution.environment import child_environment
from patch_agent.stores.memory import MemoryBlobs
from patch_agent.tools.registry import build_tools
from patch_agent.tools.toolbox import Toolbox
from patch_agent.workspace.files import content_hash
from tests.support.records import report
from tests.support.repositories import make_repository, write_files

RIPGREP = str(Path(sys.executable).parent / "rg")
FILES = {"a.py": "one\ntwo\nthree\n", "sub/b.py": "def two():\n    pass\n", ".gitignore": "*.log\n"}


class FixedTester:
    """A test command that always ends in the same way."""

    def __init__(self, *reports: TestReport) -> None:
        self.reports = reports
        self.selections: list[tuple[str, ...]] = []

    def run(self, selection: Any, progress: Any) -> tuple[TestReport, ...]:
        progress("running")
        self.selections.append(tuple(selection))
        return self.reports


class Kit:
    """The tools on a repository, with a state that remembers what was read."""

    def __init__(self, root: Path, tester: FixedTester) -> None:
        self.root = root
        self.tester = tester
        self.blobs = MemoryBlobs()
        box = Toolbox(root, tester, self.blobs, child_environment(os.environ), RIPGREP)
        self.tools: dict[str, Tool] = build_tools(box)
        self.state = State(root=str(root), test_commands=(("pytest",),), tree="t1")

    def run(self, name: str, **arguments: Any) -> ToolOutcome:
        outcome = self.tools[name].run(Invocation("c1", arguments, self.state, 7))
        seen = dict(self.state.files_read)
        for fact in outcome.facts:
            if isinstance(fact, FileRead | FileWritten):
                seen[fact.path] = FileSeen(fact.sha256, fact.ranges)
        self.state = State(
            root=self.state.root, test_commands=(("pytest",),), tree="t1", files_read=seen
        )
        return outcome

    def refused(self, name: str, **arguments: Any) -> str:
        with pytest.raises(ToolError) as caught:
            self.run(name, **arguments)
        return str(caught.value)


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    root = make_repository(tmp_path / "repo", FILES)
    return Kit(root, FixedTester(report(0, a="passed")))


# --- read_file ---------------------------------------------------------------------------


def test_reading_numbers_the_lines_and_records_the_version(kit: Kit) -> None:
    outcome = kit.run("read_file", path="a.py")
    assert outcome.content == "a.py: 3 lines\n1\tone\n2\ttwo\n3\tthree"
    assert outcome.facts == (
        FileRead("a.py", content_hash(b"one\ntwo\nthree\n"), (LineRange(1, 3),)),
    )


def test_a_part_is_recorded_as_a_part(kit: Kit) -> None:
    outcome = kit.run("read_file", path="a.py", start_line=2, end_line=2)
    assert outcome.content == "a.py: lines 2-2 of 3; go on with start_line=3\n2\ttwo"
    assert outcome.facts[0].ranges == (LineRange(2, 2),)  # type: ignore[union-attr]


def test_long_files_and_lines_are_cut_with_a_mark(kit: Kit) -> None:
    write_files(kit.root, {"long.txt": "x\n" * 1200, "wide.txt": "y" * 5000})
    assert (
        "lines 1-500 of 1200; go on with start_line=501"
        in kit.run("read_file", path="long.txt").content
    )
    wide = kit.run("read_file", path="wide.txt").content
    assert wide.endswith("[cut: 3000 more characters; column=2001]")
    assert kit.run("read_file", path="wide.txt", column=4901).content.endswith("\t" + "y" * 100)


def test_the_full_output_of_a_step_can_be_paged(kit: Kit) -> None:
    blob = kit.blobs.put(b"".join(b"line %d\n" % n for n in range(900)))
    outcome = kit.run("read_file", path=f"output:{blob}", start_line=899)
    assert outcome.content.endswith("899\tline 898\n900\tline 899")
    assert outcome.facts == ()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"path": "gone.py"}, "There is no file gone.py"),
        ({"path": "sub"}, "is a folder; list_files"),
        ({"path": "../x"}, "outside of the repository"),
        ({"path": "a.py", "start_line": 9}, "the file has 3 lines"),
        ({"path": "a.py", "start_line": 0}, "counted from 1"),
        ({"path": "a.py", "start_line": 3, "end_line": 2}, "no lines 3 to 2"),
        ({"path": "bin"}, "binary"),
    ],
)
def test_what_cannot_be_read_says_why(kit: Kit, arguments: dict[str, Any], words: str) -> None:
    write_files(kit.root, {"bin": b"a\x00b"})
    assert words in kit.refused("read_file", **arguments)


def test_an_empty_file_can_be_read(kit: Kit) -> None:
    write_files(kit.root, {"empty": ""})
    assert kit.run("read_file", path="empty").content == "empty: empty file\n"


# --- list_files, search ------------------------------------------------------------------


def test_files_are_listed_without_ignored_ones(kit: Kit) -> None:
    write_files(kit.root, {"x.log": "", "new.py": ""})
    lines = kit.run("list_files").content.splitlines()
    assert lines == ["4 files", ".gitignore", "a.py", "new.py", "sub/b.py"]
    assert kit.run("list_files", path="sub").content.splitlines() == ["1 file", "sub/b.py"]
    assert kit.run("list_files", glob="a*").content.splitlines() == ["1 file", "a.py"]


def test_many_files_are_shown_by_folder(kit: Kit) -> None:
    write_files(kit.root, {f"data/{n % 3}/{n}.txt": "" for n in range(400)})
    content = kit.run("list_files").content
    assert "too many to list" in content
    assert "data/1/  133" in content


def test_searching_finds_lines(kit: Kit) -> None:
    write_files(kit.root, {"x.log": "two"})
    assert kit.run("search", pattern="tw.").content.splitlines() == [
        "2 matches:", "a.py:2:two", "sub/b.py:1:def two():",
    ]  # fmt: skip
    assert kit.run("search", pattern="tw.", literal=True).content == "No matches."
    assert kit.run("search", pattern="TWO", ignore_case=True, glob="a.py").content.endswith("2:two")
    assert kit.run("search", pattern="-two").content == "No matches."


def test_many_matches_are_cut_with_a_count(kit: Kit) -> None:
    write_files(kit.root, {"many.txt": "hit\n" * 500})
    head = kit.run("search", pattern="hit").content.splitlines()[0]
    assert head == "500 matches, the first 100 shown; narrow it with path, glob or the pattern:"


def test_a_pattern_that_is_none_is_explained(kit: Kit) -> None:
    assert "unclosed group" in kit.refused("search", pattern="(")
    assert "pattern is empty" in kit.refused("search", pattern="")
    assert "outside of the repository" in kit.refused("search", pattern="x", path="..")


# --- edit_file, write_file -----------------------------------------------------------------


def edit(old: str, new: str, **more: Any) -> list[dict[str, Any]]:
    return [{"old_text": old, "new_text": new, **more}]


def test_an_edit_changes_the_file_and_tells_what_it_knows_now(kit: Kit) -> None:
    kit.run("read_file", path="a.py")
    outcome = kit.run("edit_file", path="a.py", edits=edit("two", "TWO"))
    assert (kit.root / "a.py").read_bytes() == b"one\nTWO\nthree\n"
    assert outcome.touched == ("a.py",)
    assert outcome.summary == "a.py  +1 -1"
    assert "2\tTWO" in outcome.content
    kit.run("edit_file", path="a.py", edits=edit("TWO", "2"))
    assert (kit.root / "a.py").read_bytes() == b"one\n2\nthree\n"


def test_the_intent_names_the_bytes_before_and_after(kit: Kit) -> None:
    kit.run("read_file", path="a.py")
    arguments = {"path": "a.py", "edits": edit("two", "TWO")}
    expected = kit.tools["edit_file"].expected(Invocation("c", arguments, kit.state, 1))
    assert expected.before == {"a.py": content_hash(b"one\ntwo\nthree\n")}
    assert expected.after == {"a.py": content_hash(b"one\nTWO\nthree\n")}


def test_a_file_that_was_not_read_or_has_changed_is_not_edited(kit: Kit) -> None:
    assert "was not read" in kit.refused("edit_file", path="a.py", edits=edit("two", "x"))
    assert "was not read" in kit.refused("write_file", path="a.py", content="x")
    kit.run("read_file", path="a.py")
    (kit.root / "a.py").write_text("one\ntwo\nfour\n")
    assert "changed on disk" in kit.refused("edit_file", path="a.py", edits=edit("two", "x"))
    assert "changed on disk" in kit.refused("write_file", path="a.py", content="x")
    assert (kit.root / "a.py").read_text() == "one\ntwo\nfour\n"


def test_through_a_link_the_same_file_is_meant(kit: Kit) -> None:
    (kit.root / "link.py").symlink_to("a.py")
    kit.run("read_file", path="link.py")
    kit.run("edit_file", path="a.py", edits=edit("two", "TWO"))
    assert (kit.root / "link.py").is_symlink()
    assert (kit.root / "a.py").read_text() == "one\nTWO\nthree\n"


def test_a_new_file_is_created_and_is_known_then(kit: Kit) -> None:
    outcome = kit.run("write_file", path="x/y.py", content="a = 1\n")
    assert (kit.root / "x" / "y.py").read_text() == "a = 1\n"
    assert outcome.touched == ("x/y.py",)
    kit.run("edit_file", path="x/y.py", edits=edit("1", "2"))


def test_a_rewritten_file_keeps_its_line_ends(kit: Kit) -> None:
    write_files(kit.root, {"w.txt": b"a\r\nb\r\n"})
    kit.run("read_file", path="w.txt")
    kit.run("write_file", path="w.txt", content="a\nB\n")
    assert (kit.root / "w.txt").read_bytes() == b"a\r\nB\r\n"
    assert "already has exactly this" in kit.refused("write_file", path="w.txt", content="a\nB\n")


# --- run_command ---------------------------------------------------------------------------


def test_a_command_tells_how_it_ended_and_what_it_wrote(kit: Kit) -> None:
    outcome = kit.run("run_command", command="echo out; echo err >&2; exit 3")
    assert outcome.content == "exit code 3.\nOutput:\nout\nerr\n"
    assert (outcome.is_error, outcome.exit_code, outcome.touched) == (True, 3, None)


def test_a_command_sees_no_key(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    box = Toolbox(kit.root, kit.tester, kit.blobs, child_environment(os.environ), RIPGREP)
    tool = build_tools(box)["run_command"]
    outcome = tool.run(Invocation("c1", {"command": "env"}, kit.state, 1))
    assert "secret" not in outcome.content


def test_a_command_ends_at_its_limit(kit: Kit) -> None:
    outcome = kit.run("run_command", command="echo begun; sleep 60", timeout_s=1)
    assert outcome.is_error
    assert outcome.exit_code is None
    assert "limit of 1 s" in outcome.content
    assert "begun" in outcome.content


def test_a_command_that_asks_gets_no_answer(kit: Kit) -> None:
    outcome = kit.run("run_command", command=f"{sys.executable} -c 'input()'")
    assert "asked for input" in outcome.content


def test_large_output_is_cut_and_kept_whole(kit: Kit) -> None:
    outcome = kit.run("run_command", command="seq 1 20000")
    assert len(outcome.content) < 13_000
    assert "left out" in outcome.content
    assert outcome.content.endswith("19999\n20000\n")
    (blob,) = outcome.blobs
    assert kit.blobs.get(blob) == b"".join(b"%d\n" % n for n in range(1, 20001))
    assert f"output:{blob}" in outcome.content


# --- run_tests -----------------------------------------------------------------------------


def test_a_complete_run_is_evidence_and_a_selection_is_not(kit: Kit) -> None:
    outcome = kit.run("run_tests")
    assert outcome.content == "PASSED: 1 passed in 0.50 s."
    assert outcome.facts == (TestsRan("complete", 7, "t1", kit.tester.reports),)
    part = kit.run("run_tests", selection=["a"])
    assert "proves nothing" in part.content
    assert part.facts == (TestsRan("partial", 7, "t1", kit.tester.reports),)
    assert kit.tester.selections == [(), ("a",)]


@pytest.mark.parametrize(
    ("reports", "word"),
    [
        ((report(1, a="failed"),), "FAILED"),
        ((report(0, a="skipped"),), "NO TESTS RAN"),
        ((report(5),), "NO TESTS RAN"),
        ((report(0, a="passed"), report(1, b="error")), "FAILED"),
        ((report(1, a="passed"),), "FAILED"),
    ],
)
def test_what_is_no_pass_is_called_so(kit: Kit, reports: tuple[TestReport, ...], word: str) -> None:
    kit.tester.reports = reports
    outcome = kit.run("run_tests")
    assert outcome.content.startswith(word + ":")
    assert outcome.is_error


# --- todo, note ----------------------------------------------------------------------------


def test_todo_items_are_added_and_updated_by_id(kit: Kit) -> None:
    first = kit.run("todo", items=[{"id": "1", "text": "look"}, {"id": "2", "text": "mend"}])
    assert first.content == "1 [open] look\n2 [open] mend"
    assert "a new item needs a text" in kit.refused("todo", items=[{"id": "9"}])


def test_a_note_is_kept_and_limited(kit: Kit) -> None:
    assert kit.run("note", text="remember").content == "Noted."
    assert "1 to 2000" in kit.refused("note", text=" ")


def test_every_description_is_for_a_reader(kit: Kit) -> None:
    for tool in kit.tools.values():
        assert re.match(r"[A-Z].*\.$", tool.spec.description, re.DOTALL)
        assert tool.spec.schema["additionalProperties"] is False
