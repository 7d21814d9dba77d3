"""Line numbers before and after a replacement."""

import pytest

from patch_agent.core.values import LineRange
from patch_agent.workspace.lines import LineShifts

TEXT = "".join(f"{number}\n" for number in range(1, 10))


def at(line: int) -> int:
    """The offset at which a line of TEXT begins."""
    return 2 * (line - 1)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((1, 2), (1, 2)),
        ((1, 4), (1, 6)),
        ((4, 4), (4, 6)),
        ((5, 9), (7, 10)),
        ((7, 7), (9, 9)),
        ((1, 7), (1, 9)),
        ((9, 9), (10, 10)),
    ],
)
def test_ranges_move_with_what_is_written_before_them(
    before: tuple[int, int], after: tuple[int, int]
) -> None:
    # Line 4 becomes three lines; line 7, with its end, goes.
    shifts = LineShifts(TEXT, [(at(4), at(4) + 1, "a\nb\nc"), (at(7), at(8), "")])
    assert shifts.written == (LineRange(4, 6), LineRange(9, 9))
    assert shifts.moved([LineRange(*before)]) == (LineRange(*after),)


def test_several_parts_of_one_line_add_up() -> None:
    shifts = LineShifts("abc\nd\n", [(0, 1, "A\n"), (2, 3, "C\n")])
    assert shifts.written == (LineRange(1, 2), LineRange(2, 3))
    assert shifts.moved([LineRange(1, 1), LineRange(2, 2)]) == (LineRange(1, 3), LineRange(4, 4))
