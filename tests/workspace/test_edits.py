"""Edits change what they name and no other byte."""

import codecs

import pytest

from patch_agent.core.errors import ToolError
from patch_agent.core.values import LineRange
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


# --- Byte for byte ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        # The last line's end is found or made as the file does it elsewhere.
        (b"a\r\nb", "b", "b\nc", b"a\r\nb\r\nc"),
        (b"a\r\nb\r\n", "a\n", "", b"b\r\n"),
        (b"a\r\nb\r\n", "a", "a\n", b"a\r\n\r\nb\r\n"),
        (b"a\r\nb\r\n", "a\r\nb", "a\r\nB", b"a\r\nB\r\n"),
        (b"a\nb\n", "a\r\nb", "a\r\nB", b"a\nB\n"),
        (b"a\r\nb\nc", "c", "C", b"a\r\nb\nC"),
        (b"\r\n\r\n\n", "\n\n\n", "\n\nx\n", b"\r\n\r\nx\n"),
        # Marks stay, and the first line can be matched.
        (codecs.BOM_UTF8 + b"one\r\ntwo\r\n", "one\ntwo", "1\n2\n3",
         codecs.BOM_UTF8 + b"1\r\n2\r\n3\r\n"),
        (codecs.BOM_UTF16_BE + "a\r\nb\r\n".encode("utf-16-be"), "a\nb", "a\nx\nb",
         codecs.BOM_UTF16_BE + "a\r\nx\r\nb\r\n".encode("utf-16-be")),
        (codecs.BOM_UTF32_LE + "a😀\n".encode("utf-32-le"), "😀", "é",
         codecs.BOM_UTF32_LE + "aé\n".encode("utf-32-le")),
        # Far characters are not normalised: full width, combining, quotes.
        ("n = 1  # ［１］ e\u0301 “x”\n".encode(), "n = 1", "n = 2",
         "n = 2  # ［１］ e\u0301 “x”\n".encode()),
        ("“a” it’s\n".encode(), "it’s", "it's", "“a” it's\n".encode()),
        ("設定 = はい\nモード = 通常の動作\n".encode("shift-jis"), "はい", "いいえ",
         "設定 = いいえ\nモード = 通常の動作\n".encode("shift-jis")),
        # Verbatim, whatever a replacement function would make of it.
        (b"line\n", "line", r"\1 \g<0> \n $& $$ %s {x}", b"\\1 \\g<0> \\n $& $$ %s {x}\n"),
        (b"aaa\n", "aaa", "aa", b"aa\n"),
        (b"abab\n", "abab", "ababab", b"ababab\n"),
        (b"a\x85b\xe2\x80\xa8c\n", "c", "d", b"a\x85b\xe2\x80\xa8d\n"),
    ],
)  # fmt: skip
def test_what_is_around_an_edit_stays_as_it_is(
    before: bytes, old: str, new: str, after: bytes
) -> None:
    assert edited(before, Edit(old, new)) == after


def test_every_place_in_a_file_of_mixed_line_ends_keeps_its_own() -> None:
    before = b"a\r\nb\na\nb\r\nA a\r\n"
    assert edited(before, Edit("a", "x\ny", replace_all=True)) == (
        b"x\r\ny\r\nb\nx\ny\nb\r\nA x\r\ny\r\n"
    )


def test_very_many_places_in_one_long_line_are_no_trouble() -> None:
    assert edited(b"a," * 30_000 + b"\n", Edit("a,", "bb;", replace_all=True)) == (
        b"bb;" * 30_000 + b"\n"
    )


def test_places_that_overlap_are_not_one_place() -> None:
    with pytest.raises(ToolError, match="occurs 2 times, at lines 1, 2"):
        apply_edits(b"x\nx\nx\n", [Edit("x\nx\n", "y\n")])


def test_text_of_several_lines_names_the_first_line_of_each_place() -> None:
    data = b"all:\n\tcc a\n\tcc b\n\nsome:\n\tcc a\n\tcc b\n"
    with pytest.raises(ToolError, match="occurs 2 times, at lines 2, 6"):
        apply_edits(data, [Edit("\tcc a\n\tcc b", "\tld")])


def test_an_encoding_with_shift_states_is_refused_where_a_piece_cannot_stand_alone() -> None:
    data = "日本語のテキスト\n".encode("iso-2022-jp")
    try:
        result = edited(data, Edit("本語", "x"))
    except ToolError:
        return
    assert result.decode("iso-2022-jp") == "日xのテキスト\n"


def test_an_insertion_lands_at_its_anchor() -> None:
    data = b"1\n2\nanchor\n3\n"
    assert edited(data, Edit("anchor\n", "anchor\nnew\n")) == b"1\n2\nanchor\nnew\n3\n"
    assert edited(data, Edit("anchor\n", "new\nanchor\n")) == b"1\n2\nnew\nanchor\n3\n"


def test_a_text_that_was_there_before_the_first_edit_is_gone_for_the_second() -> None:
    with pytest.raises(ToolError, match="Edit 2: old_text is not in the file"):
        apply_edits(b"def f():\n    return 1\n", [Edit("return 1", "return 2"), Edit("n 1", "n 3")])


# --- What the result tells -------------------------------------------------------------------


def test_lines_that_old_and_new_text_share_are_not_counted() -> None:
    result = apply_edits(b"a\nb\nc\n", [Edit("a\nb\nc\n", "a\nB\nB2\nc\n"), Edit("a\n", "")])
    assert (result.removed, result.added) == (2, 2)


def test_ranges_of_earlier_edits_move_with_later_ones() -> None:
    data = b"".join(b"%d\n" % number for number in range(1, 101))
    result = apply_edits(
        data, [Edit("\n90\n", "\nninety\n"), Edit("\n2\n", "\n2\n2a\n2b\n")], [LineRange(85, 95)]
    )
    assert result.ranges == (LineRange(3, 5), LineRange(92, 92))
    assert result.seen == (LineRange(3, 5), LineRange(87, 97))
    assert "92\tninety" in result.preview
    assert "3\t2a" in result.preview


def test_the_preview_is_short() -> None:
    result = apply_edits(b"a\n" * 500, [Edit("a", "b" * 400, replace_all=True)])
    lines = result.preview.splitlines()
    assert len(lines) == 41
    assert lines[0] == "1\t" + "b" * 300 + " [cut]"
    assert lines[-1] == "[more changed lines are not shown]"


def test_a_match_by_line_ends_says_so() -> None:
    assert apply_edits(b"a\r\nb\r\n", [Edit("a\nb", "x")]).rule == "line ends"
    assert apply_edits(b"a\r\nb\r\n", [Edit("a", "x")]).rule == "exact"
