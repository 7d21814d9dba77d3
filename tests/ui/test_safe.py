"""Nothing from outside can steer a terminal or hide from a reader."""

import io

import pytest

from patch_agent.ui.safe import make_robust, one_line, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("größer 漢字 👩\u200d💻", "größer 漢字 👩\u200d💻"),
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("\x1b]52;c;aGk=\x07", "\\x1b]52;c;aGk=\\x07"),
        ("a\rb", "a\\x0db"),
        ("\u202etxt.exe", "\\u202etxt.exe"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("\udcff lone", "\\udcff lone"),
        ("line\nnext\tcell", "line\nnext\tcell"),
        ("\u2028", "\\u2028"),
        ("\x9b31m", "\\x9b31m"),
    ],
)
def test_what_could_do_harm_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [("", ""), ("one", "one"), ("one\ntwo", "one …"), ("x" * 200, "x" * 159 + "…")],
)
def test_one_line_is_cut_with_a_mark(text: str, shown: str) -> None:
    assert one_line(text) == shown


def test_a_stream_that_lacks_a_character_escapes_it() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    make_robust(stream)
    stream.write("fail→pass")
    stream.flush()
    assert raw.getvalue() == b"fail\\u2192pass"
