"""Each tool: what it does, what it records, and what it says when it refuses."""

import codecs
import json
import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from patch_agent.core.errors import ToolError
from patch_agent.core.events import NoteAdded, TodoChanged
from patch_agent.core.evidence import FileRead, FileWritten, TestsRan
from patch_agent.core.protocols import Expectation, Invocation, Tool, ToolOutcome
from patch_agent.core.state import FileSeen, State, TestRun
from patch_agent.core.testing import TestReport
from patch_agent.core.values import LineRange, TodoItem
from patch_agent.execution import capture
from patch_agent.execution.environment import child_environment
from patch_agent.stores.memory import MemoryBlobs
from patch_agent.tools import run_command
from patch_agent.tools.registry import build_tools
from patch_agent.tools.toolbox import Toolbox
from patch_agent.workspace.files import content_hash
from tests.support.records import report
from tests.support.repositories import fingerprint, make_repository, write_files

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


def test_an_unknown_output_is_the_model_s_mistake_and_no_damage(kit: Kit) -> None:
    for name in ("output:", "output:nonsense", "output:../../x", "output:" + "0" * 64):
        assert "There is no output" in kit.refused("read_file", path=name)


def test_a_mark_is_not_shown_as_text_and_line_ends_are_not_shown(kit: Kit) -> None:
    write_files(kit.root, {"w.txt": b"\xef\xbb\xbfa\r\n\tb\r\n"})
    assert kit.run("read_file", path="w.txt").content == "w.txt: 2 lines\n1\ta\n2\t\tb"


def test_a_file_of_many_characters_is_shown_in_portions(kit: Kit) -> None:
    write_files(kit.root, {"wide.txt": ("z" * 999 + "\n") * 100})
    first = kit.run("read_file", path="wide.txt")
    assert first.content.startswith("wide.txt: lines 1-31 of 100; go on with start_line=32\n")
    assert first.facts[0].ranges == (LineRange(1, 31),)  # type: ignore[union-attr]
    last = kit.run("read_file", path="wide.txt", start_line=90, end_line=5000)
    assert last.content.startswith("wide.txt: lines 90-100 of 100\n")


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


def test_git_s_own_folder_cannot_be_asked_for_by_a_glob(kit: Kit) -> None:
    (kit.root / ".git" / "secret.py").write_text("token two")
    everything = kit.run("list_files").content
    assert kit.run("list_files", glob="*").content == everything
    assert kit.run("list_files", glob="**").content == everything
    assert kit.run("list_files", glob=".git/**").content == "0 files"
    assert kit.run("search", pattern="token", glob="*").content == "No matches."
    assert "closed to tools" in kit.refused("search", pattern="token", path=".git")
    assert "closed to tools" in kit.refused("list_files", path="sub/../.GIT")


def test_odd_names_are_one_line_each(kit: Kit) -> None:
    write_files(kit.root, {"odd/line\nbreak": "", "odd/sep\u2028": "", "odd/größe 日本": ""})
    with open(os.fsencode(kit.root) + b"/odd/bytes\xff", "w"):
        pass
    assert kit.run("list_files", path="odd").content.splitlines() == [
        "4 files", "odd/bytes\\xff", "odd/größe 日本", "odd/line\\nbreak", "odd/sep\\u2028",
    ]  # fmt: skip


def test_only_line_ends_end_the_lines_of_a_match(kit: Kit) -> None:
    write_files(kit.root, {"ff.txt": b"hit\x0chit\xe2\x80\xa8hit\r\n"})
    assert kit.run("search", pattern="hit").content == "1 match:\nff.txt:1:hit\x0chit\u2028hit"


def test_matches_are_shown_though_another_file_cannot_be_read(kit: Kit) -> None:
    partly = kit.root.parent / "rg"
    partly.write_text("#!/bin/sh\necho a.py:2:two\necho 'b.py: Permission denied' >&2\nexit 2\n")
    partly.chmod(0o755)
    box = Toolbox(kit.root, kit.tester, kit.blobs, child_environment(os.environ), str(partly))
    call = Invocation("c1", {"pattern": "two"}, kit.state, 1)
    assert build_tools(box)["search"].run(call).content == "1 match:\na.py:2:two"
    partly.write_text("#!/bin/sh\necho 'b.py: Permission denied' >&2\nexit 2\n")
    with pytest.raises(ToolError, match=r"The search failed: b\.py: Permission denied"):
        build_tools(box)["search"].run(call)


def test_a_missing_search_program_is_said(kit: Kit) -> None:
    box = Toolbox(kit.root, kit.tester, kit.blobs, {}, "/nowhere/rg")
    with pytest.raises(ToolError, match="The search failed: /nowhere/rg: No such file"):
        build_tools(box)["list_files"].run(Invocation("c1", {}, kit.state, 1))


def test_a_place_to_search_that_is_not_there_is_named(kit: Kit) -> None:
    assert "gone" in kit.refused("search", pattern="x", path="gone")
    assert "gone" in kit.refused("list_files", path="gone")
    assert kit.run("list_files", glob="*.none").content == "0 files"


def test_very_many_matches_are_counted_as_at_least(kit: Kit) -> None:
    write_files(kit.root, {"huge.txt": ("hit" + "x" * 290 + "\n") * 20_000})
    assert kit.run("search", pattern="hit").content.startswith("at least ")


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


@pytest.mark.parametrize("tool", ["edit_file", "write_file"])
@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("../x", "outside of the repository"),
        ("/etc/passwd", "outside of the repository"),
        ("out/x", "leads outside"),
        (".git/config", "closed to tools"),
        ("sub", "is a folder"),
        ("pipe", "neither a file nor a folder"),
        ("a\x00", "holds a NUL"),
    ],
)
def test_what_may_not_be_written_is_refused(kit: Kit, tool: str, path: str, words: str) -> None:
    (kit.root / "out").symlink_to("..")
    os.mkfifo(kit.root / "pipe")
    more = {"edits": edit("a", "b")} if tool == "edit_file" else {"content": "x"}
    before = fingerprint(kit.root)
    assert words in kit.refused(tool, path=path, **more)
    assert fingerprint(kit.root) == before


def test_a_file_that_is_not_there_is_not_edited(kit: Kit) -> None:
    assert "There is no file gone.py" in kit.refused(
        "edit_file", path="gone.py", edits=edit("a", "b")
    )


def test_a_binary_file_is_not_edited_and_not_rewritten(kit: Kit) -> None:
    write_files(kit.root, {"bin": b"a\x00b"})
    seen = {"bin": FileSeen(content_hash(b"a\x00b"), ())}
    kit.state = State(root=str(kit.root), files_read=seen)
    assert "binary" in kit.refused("edit_file", path="bin", edits=edit("a", "b"))
    assert "binary" in kit.refused("write_file", path="bin", content="text")


def test_several_edits_are_all_made_or_none(kit: Kit) -> None:
    kit.run("read_file", path="a.py")
    both = [*edit("one", "1"), *edit("gone", "x")]
    assert kit.refused("edit_file", path="a.py", edits=both).startswith("Edit 2: ")
    assert (kit.root / "a.py").read_text() == FILES["a.py"]
    outcome = kit.run("edit_file", path="a.py", edits=[*edit("one", "1"), *edit("1\ntwo", "12")])
    assert (kit.root / "a.py").read_text() == "12\nthree\n"
    assert outcome.summary == "a.py  +2 -3"


def test_what_was_seen_moves_with_an_edit(kit: Kit) -> None:
    write_files(kit.root, {"n.txt": "".join(f"{n}\n" for n in range(1, 21))})
    kit.run("read_file", path="n.txt", start_line=10, end_line=12)
    outcome = kit.run("edit_file", path="n.txt", edits=edit("\n2\n", "\n2\n2a\n2b\n"))
    assert outcome.facts == (
        FileWritten(
            "n.txt",
            content_hash((kit.root / "n.txt").read_bytes()),
            (LineRange(3, 5), LineRange(12, 14)),
        ),
    )


def test_a_match_by_line_ends_is_told(kit: Kit) -> None:
    write_files(kit.root, {"w.txt": b"a\r\nb\r\n"})
    kit.run("read_file", path="w.txt")
    outcome = kit.run("edit_file", path="w.txt", edits=edit("a\nb", "a\nB"))
    assert outcome.content == "w.txt changed (+1 -1 lines), matched by line ends.\n1\ta\n2\tB"


def test_a_link_to_nothing_makes_the_file_that_it_names(kit: Kit) -> None:
    (kit.root / "link").symlink_to("sub/real.txt")
    outcome = kit.run("write_file", path="link", content="x\n")
    assert outcome.touched == ("sub/real.txt",)
    assert (kit.root / "link").is_symlink()
    assert (kit.root / "sub" / "real.txt").read_text() == "x\n"


def test_the_intent_of_a_new_file_has_no_bytes_before(kit: Kit) -> None:
    call = Invocation("c", {"path": "new", "content": "a\n"}, kit.state, 1)
    expected = kit.tools["write_file"].expected(call)
    assert expected == Expectation({"new": ""}, {"new": content_hash(b"a\n")})
    assert not (kit.root / "new").exists()


@pytest.mark.parametrize(
    ("content", "lines"), [("", "0 lines"), ("a", "1 line"), ("a\n", "1 line"), ("a\nb", "2 lines")]
)
def test_lines_are_counted_as_read_file_counts_them(kit: Kit, content: str, lines: str) -> None:
    outcome = kit.run("write_file", path="new", content=content)
    assert outcome.content == f"new created ({lines}, {len(content)} bytes)."


def test_a_rewritten_file_keeps_its_mark_and_encoding(kit: Kit) -> None:
    write_files(kit.root, {"m.txt": codecs.BOM_UTF16_LE + "a\r\n".encode("utf-16-le")})
    kit.run("read_file", path="m.txt")
    kit.run("write_file", path="m.txt", content="\ufeffé\n")
    assert (kit.root / "m.txt").read_bytes() == (codecs.BOM_UTF16_LE + "é\r\n".encode("utf-16-le"))


def test_a_character_that_cannot_be_written_is_refused(kit: Kit) -> None:
    write_files(kit.root, {"l.txt": "gr\xfc\xdfe und so weiter\n".encode("latin-1")})
    kit.run("read_file", path="l.txt")
    assert "cannot hold" in kit.refused("edit_file", path="l.txt", edits=edit("so", "漢"))
    assert "cannot hold" in kit.refused("write_file", path="l.txt", content="漢\n")
    assert "not valid Unicode" in kit.refused("write_file", path="new", content="\ud800")
    assert not (kit.root / "new").exists()


def test_a_text_with_parts_left_out_does_not_replace_a_file(kit: Kit) -> None:
    write_files(kit.root, {"big.py": "".join(f"x{n} = {n}\n" for n in range(300))})
    kit.run("read_file", path="big.py")
    told = kit.refused("write_file", path="big.py", content="x0 = 1\n# ... rest unchanged ...\n")
    assert "Line 2 of the content ('# ... rest unchanged ...')" in told
    assert (kit.root / "big.py").read_text().count("\n") == 300


# --- run_command ---------------------------------------------------------------------------


def test_a_command_tells_how_it_ended_and_what_it_wrote(kit: Kit) -> None:
    outcome = kit.run("run_command", command="echo out; echo err >&2; exit 3")
    assert outcome.content == "exit code 3.\nOutput:\nout\nerr\n"
    assert (outcome.is_error, outcome.exit_code, outcome.touched) == (True, 3, None)


def test_a_command_runs_in_the_root_with_no_input(kit: Kit) -> None:
    outcome = kit.run("run_command", command="pwd; cat; test -t 0 || echo no terminal")
    assert outcome.content == f"exit code 0.\nOutput:\n{kit.root}\nno terminal\n"
    assert (outcome.is_error, outcome.exit_code, outcome.blobs) == (False, 0, ())
    assert kit.run("run_command", command="true").content == "exit code 0.\nOutput:\n(none)"


def test_a_command_that_dies_or_cannot_start_says_so(kit: Kit) -> None:
    assert "ended by signal 9" in kit.run("run_command", command="kill -9 $$").content
    for command in ("a\x00b", "\ud800"):
        outcome = kit.run("run_command", command=command)
        assert outcome.is_error
        assert outcome.content.startswith("could not be started (/bin/sh: ")


def test_what_a_command_leaves_running_is_ended_and_told(kit: Kit) -> None:
    outcome = kit.run("run_command", command="sleep 60 & echo begun")
    assert "1 process(es) it left running were ended." in outcome.content
    assert not outcome.is_error


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


def test_the_lines_left_out_are_those_of_the_full_output(kit: Kit) -> None:
    command = "printf 'a\\rb\\fc\\n'; seq 1 20000"
    outcome = kit.run("run_command", command=command)
    found = re.search(r"\[\.\.\. lines (\d+)-(\d+) left out \.\.\.\]\n(\d+)", outcome.content)
    assert found is not None
    # The first line is not of seq: line n + 1 holds n.
    assert found[2] == found[3]
    first = int(found[1])
    page = kit.run("read_file", path=f"output:{outcome.blobs[0]}", start_line=first, end_line=first)
    assert page.content.endswith(f"\n{first}\t{first - 1}")


def test_of_output_beyond_all_limits_the_end_is_shown_too(
    kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capture, "SPILL_LIMIT", 1_000)
    monkeypatch.setattr(run_command, "SHOWN_CHARS", 2_000)
    outcome = kit.run("run_command", command="seq 1 20000")
    assert len(kit.blobs.get(outcome.blobs[0])) == 1_000
    assert "The output but its last 107894 bytes can be read with read_file" in outcome.content
    assert outcome.content.endswith("19999\n20000\n")


def test_one_endless_line_is_cut_in_the_middle(kit: Kit) -> None:
    outcome = kit.run("run_command", command="printf 'x%.0s' $(seq 1 30000); printf end")
    assert "[... 18003 characters left out ...]" in outcome.content
    assert outcome.content.endswith("xend")
    assert len(kit.blobs.get(outcome.blobs[0])) == 30_003


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


def test_the_wording_of_a_failing_run_leads_to_what_failed(kit: Kit) -> None:
    output = kit.blobs.put(b"all of it")
    failed = replace(report(1, a="passed", b="failed"), output_blob=output)
    kit.tester.reports = (failed,)
    outcome = kit.run("run_tests")
    assert outcome.content.startswith("FAILED: 1 failed, 1 passed in 0.50 s.\n")
    assert f"Full output: read_file, path output:{output}." in outcome.content
    assert (outcome.blobs, outcome.exit_code, outcome.touched) == ((output,), 1, None)


def test_a_command_that_could_not_start_is_no_pass(kit: Kit) -> None:
    kit.tester.reports = (replace(report(0), ending="not_started", exit_code=None),)
    outcome = kit.run("run_tests")
    assert outcome.content.startswith("FAILED: ")
    assert outcome.is_error


def test_without_a_test_command_nothing_runs(kit: Kit) -> None:
    kit.state = State(root=str(kit.root))
    outcome = kit.tools["run_tests"].run(Invocation("c1", {}, kit.state, 1))
    assert outcome.content == "NO TESTS RAN: no test command is known for this repository."
    assert (outcome.is_error, outcome.facts, kit.tester.selections) == (True, (), [])


# --- todo, note ----------------------------------------------------------------------------


def test_todo_items_are_added_and_updated_by_id(kit: Kit) -> None:
    first = kit.run("todo", items=[{"id": "1", "text": "look"}, {"id": "2", "text": "mend"}])
    assert first.content == "1 [open] look\n2 [open] mend"
    assert "a new item needs a text" in kit.refused("todo", items=[{"id": "9"}])


def test_a_note_is_kept_and_limited(kit: Kit) -> None:
    assert kit.run("note", text="remember").content == "Noted."
    assert "1 to 2000" in kit.refused("note", text=" ")


def test_known_todo_items_are_changed_and_the_others_stay(kit: Kit) -> None:
    kit.state = replace(kit.state, todo=(TodoItem("1", "look"), TodoItem("2", "mend", "doing")))
    outcome = kit.tools["todo"].run(
        Invocation("c1", {"items": [{"id": "1", "status": "done"}]}, kit.state, 1)
    )
    assert outcome.content == "1 [done] look\n2 [doing] mend"
    assert outcome.facts == (
        TodoChanged((TodoItem("1", "look", "done"), TodoItem("2", "mend", "doing"))),
    )
    many = [{"id": str(n), "text": "x"} for n in range(200)]
    assert "more than 100 items" in kit.refused("todo", items=many)


def test_a_note_is_recorded_as_the_model_s(kit: Kit) -> None:
    assert kit.run("note", text=" remember\nthis ").facts == (NoteAdded("remember\nthis"),)
    assert "1 to 2000" in kit.refused("note", text="x" * 2001)


# --- repair_search -------------------------------------------------------------------------


def test_the_repair_search_is_offered_only_where_there_is_one(kit: Kit) -> None:
    asked: list[object] = []

    def search(task: str, failing: tuple[str, ...], progress: Any) -> str:
        progress("looking")
        asked.append((task, failing))
        return json.dumps({"problem": None, "tried": 9, "plausible": 1})

    assert "repair_search" not in kit.tools
    box = Toolbox(
        kit.root, kit.tester, kit.blobs, child_environment({}), RIPGREP, repair_search=search
    )
    tool = build_tools(box)["repair_search"]
    with pytest.raises(ToolError, match="No test is known to fail"):
        tool.run(Invocation("c1", {"task": "mend"}, kit.state, 1))
    run = TestRun("baseline", 0, "t1", (report(1, a="failed", b="passed", c="error"),))
    state = replace(kit.state, baseline=run)
    outcome = tool.run(Invocation("c1", {"task": "mend"}, state, 1))
    assert outcome.summary == "9 edits tried, 1 pass all tests"
    assert asked == [("mend", tuple(sorted(k for k, v in run.outcomes.items() if v != "passed")))]


def test_every_description_is_for_a_reader(kit: Kit) -> None:
    for tool in kit.tools.values():
        assert re.match(r"[A-Z].*\.$", tool.spec.description, re.DOTALL)
        assert tool.spec.schema["additionalProperties"] is False
