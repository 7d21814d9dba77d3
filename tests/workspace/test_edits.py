"""Edits change what they name and no other byte."""

import codecs

import pytest

from patch_agent.core.errors import ToolError
from patch_agent.workspace.edits import Edit, apply_edits


def edited(data: bytes, *edits: Edit) -> bytes:
    return apply_edits(data, edits).data


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\nb\n", "b", "B", b"a\nB\n"),
        (b"a\r\nb\r\nc\r\n", "a\nb", "x\ny", b"x\r\ny\r\nc\r\n"),
        (b"a\r\nb\nc\r\n", "b\nc", "b\nC", b"a\r\nb\nC\r\n"),
        (b"a\r\nb\nc\n", "a", "A\nA2", b"A\r\nA2\r\nb\nc\n"),
        (b"one", "one", "two", b"two"),
        (b"one", "one", "two\n", b"two\n"),
        (b"a\n\tb\n", "\tb", "\tc", b"a\n\tc\n"),
        (codecs.BOM_UTF8 + b"a\n", "a", "b", codecs.BOM_UTF8 + b"b\n"),
        (codecs.BOM_UTF16_LE + "aé\n".encode("utf-16-le"), "é", "ö",
         codecs.BOM_UTF16_LE + "aö\n".encode("utf-16-le")),
        ("gr\xfc\xdfe und so weiter\n".encode("latin-1"), "so", "nicht",
         "gr\xfc\xdfe und nicht weiter\n".encode("latin-1")),
        (b"a $1 \\1 {x} %s\n", "a", "$2 \\2 {y} %d", b"$2 \\2 {y} %d $1 \\1 {x} %s\n"),
        (b"", "", "new\n", b"new\n"),
        (b"a\nb\n", "a\nb\n", "", b""),
        (b"x" * 400_000 + b"y", "y", "z", b"x" * 400_000 + b"z"),
        ("漢字 a\n".encode(), "a", "b", "漢字 b\n".encode()),
        (b"a\x0bb\x0cc\n", "c", "d", b"a\x0bb\x0cd\n"),
        (b"a\rb\rc", "b", "x", b"a\rx\rc"),
    ],
)  # fmt: skip
def test_only_the_named_text_changes(before: bytes, old: str, new: str, after: bytes) -> None:
    assert edited(before, Edit(old, new)) == after


def test_several_edits_see_each_other_in_order() -> None:
    assert edited(b"a b\n", Edit("a", "b c"), Edit("c b", "d")) == b"b d\n"


def test_one_edit_that_does_not_fit_refuses_all() -> None:
    with pytest.raises(ToolError, match="Edit 2: "):
        apply_edits(b"a b\n", [Edit("a", "x"), Edit("gone", "y")])


def test_every_place_can_be_meant() -> None:
    assert edited(b"a b a\na\n", Edit("a", "x", replace_all=True)) == b"x b x\nx\n"


@pytest.mark.parametrize(
    ("data", "edit", "words"),
    [
        (b"a\nb\na\n", Edit("a", "x"), "occurs 2 times, at lines 1, 3"),
        (b"a\n", Edit("a", "a"), "are the same"),
        (b"a\n", Edit("", "x"), "old_text is empty"),
        (b"def f(a):\n    return a\n", Edit("def f(a): \n", "x"), "only white space differs"),
        (b"if x:\n\treturn 1\n", Edit("if x:\n    return 1", "y"), "tabs against spaces"),
        (b"total = price * 2\n", Edit("total = price * 3", "x"), "'3' where the file has '2'"),
        (b"one\n", Edit("something else entirely", "x"), "nor anything like it"),
        (b"a\x00b", Edit("a", "b"), "binary"),
        ("größe und süße\n".encode("latin-1"), Edit("gr", "漢"), "cannot hold"),
        (b"\xff\xfe\x00", Edit("a", "b"), "left alone"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_helps(data: bytes, edit: Edit, words: str) -> None:
    with pytest.raises(ToolError, match=words):
        apply_edits(data, [edit])


def test_the_nearest_place_is_shown_with_its_lines() -> None:
    with pytest.raises(ToolError) as caught:
        apply_edits(
            b"x = 1\ndef total(a):\n    return a\n", [Edit("def totl(a):\n    return a", "")]
        )
    assert "2\tdef total(a):\n3\t    return a" in str(caught.value)


def test_the_result_tells_lines_and_ranges() -> None:
    result = apply_edits(b"1\n2\n3\n4\n", [Edit("2\n", "two\nzwei\n")])
    assert (result.removed, result.added, result.rule) == (1, 2, "exact")
    assert "2\ttwo\n3\tzwei" in result.preview
