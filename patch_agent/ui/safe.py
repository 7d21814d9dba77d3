"""Text from outside made safe to show: nothing in it can steer a terminal or hide from a reader."""

import os
import sys
import unicodedata
from typing import TextIO

_KEPT = frozenset("\n\t")
_SUSPECT = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def visible(text: str) -> str:
    """The text with control, direction and invisible characters written as escapes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if _is_plain(char) else _escape(char) for char in text)


def _is_plain(char: str) -> bool:
    if char in _KEPT:
        return True
    # A joiner is part of many emoji and of some scripts.
    return unicodedata.category(char) not in _SUSPECT or char == "\u200d"


def _escape(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def one_line(text: str, cap: int = 160) -> str:
    """The first line, safe to show, cut with a mark at `cap` characters."""
    stripped = text.strip()
    first = visible(stripped.splitlines()[0].replace("\t", " ")) if stripped else ""
    cut = first != visible(stripped.replace("\t", " ")) and len(first) < cap
    if len(first) > cap:
        return first[: cap - 1] + "…"
    return first + (" …" if cut else "")


def make_robust(stream: TextIO) -> None:
    """Let a stream write every text: what its encoding lacks is escaped instead of raising."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def make_streams_robust() -> None:
    """Both output streams of this process, one that is closed too; called once at the start."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - it lives as long as the process
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        make_robust(stream)
