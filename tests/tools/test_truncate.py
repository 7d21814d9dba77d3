"""What is cut is marked, and the mark is true."""

import re

import pytest

from patch_agent.core.values import LineRange
from patch_agent.tools.truncate import LINE_CAP, cut_line, keep_ends, number_lines, split_lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\r\nb\n\n", ["a", "b", ""]),
        ("a\rb\x0cc\u2028d\n", ["a\rb\x0cc\u2028d"]),
    ],
)
def test_lines_end_with_line_feeds_only(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


def test_a_long_line_can_be_walked_through_by_its_marks() -> None:
    line = "".join(chr(97 + n % 26) for n in range(2 * LINE_CAP + 10))
    got, column = "", 1
    while column:
        part = cut_line(line, column)
        mark = re.search(r" \[cut: (\d+) more characters; column=(\d+)\]$", part)
        got += part[: mark.start()] if mark else part
        assert not mark or int(mark[1]) == len(line) - len(got)
        column = int(mark[2]) if mark else 0
    assert got == line
    assert cut_line("short", 99) == ""


def test_at_least_one_line_is_shown() -> None:
    assert number_lines(["x" * 50, "y"], LineRange(1, 2), 1, 10) == ("1\t" + "x" * 50, 1)
    assert number_lines(["x", "y"], LineRange(1, 2), 1, 100) == ("1\tx\n2\ty", 2)


@pytest.mark.parametrize("cap", [10, 64, 100, 1000])
def test_head_and_tail_are_of_the_text_and_the_rest_is_counted(cap: int) -> None:
    text = "".join(f"line {n}\n" for n in range(1, 200))
    cut = keep_ends(text, cap)
    mark = re.search(r"\[\.\.\. (?:lines (\d+)-(\d+)|\d+ characters) left out \.\.\.\]\n", cut)
    assert mark is not None
    head, tail = cut[: mark.start()], cut[mark.end() :]
    assert text.startswith(head.rstrip("\n"))
    assert text.endswith(tail)
    assert len(head) + len(tail) <= cap + 1
    if mark[1]:
        assert head.count("\n") + 1 == int(mark[1])
        assert tail.startswith(f"line {int(mark[2]) + 1}\n")
    assert keep_ends("short", 10) == "short"


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("a\n" + "x" * 40, "a\n[... lines 2-2 left out ...]\n"),
        ("x" * 40 + "\nb\nc", "[... lines 1-1 left out ...]\nb\nc"),
        ("x" * 40 + "\n", "xxxxxxxxxx\n[... 21 characters left out ...]\nxxxxxxxxx\n"),
        ("a\rb\n" + "x\n" * 20, "a\rb\nx\nx\nx\n[... lines 5-16 left out ...]\n" + "x\n" * 5),
    ],
)
def test_lines_that_do_not_fit_are_left_out_whole(text: str, cut: str) -> None:
    assert keep_ends(text, 20) == cut
