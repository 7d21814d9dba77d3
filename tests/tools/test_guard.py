"""Texts that leave parts of a file out are told from texts that only speak of such things."""

import pytest

from patch_agent.core.errors import ToolError
from patch_agent.tools.guard import check_omissions

LONG = "".join(f"line {number}\n" for number in range(50))


@pytest.mark.parametrize(
    "line",
    [
        "# ... rest of the code unchanged ...",
        "// ... existing code ...",
        "    # The remaining methods stay as they are",
        "/* rest of the styles remain the same */",
        "<!-- ... other sections ... -->",
        "... (rest of the file unchanged)",
        "\u2026 remaining lines omitted",
        "-- existing columns unchanged",
        "{/* ... existing props ... */}",
    ],
)
def test_a_comment_for_what_is_left_out_is_refused(line: str) -> None:
    with pytest.raises(ToolError, match="Line 2 of the content"):
        check_omissions(LONG, f"a\n{line}\nb\n")


@pytest.mark.parametrize(
    "line",
    [
        "# The rest is sorted by name.",
        "return other.unchanged",
        "def f(): ...",
        "rest = items[1:]  # remaining",
        "print('... other things')",
        "# TODO: ...",
    ],
)
def test_other_lines_are_not(line: str) -> None:
    check_omissions(LONG, f"a\n{line}\nb\n")


def test_a_comment_that_was_there_before_may_stay() -> None:
    line = "# ... existing code ...\n"
    check_omissions(LONG + line, "a\n" + line)


def test_a_file_that_does_not_get_shorter_loses_nothing() -> None:
    check_omissions("a\n", "a\n# the rest remains unchanged\n")
