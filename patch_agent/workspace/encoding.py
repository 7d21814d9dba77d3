"""Bytes as text and back: the file's own encoding, mark and line ends, or a refusal."""

import codecs
from dataclasses import dataclass

from patch_agent.core.errors import ToolError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class TextFile:
    """text: without the mark, line ends as they are. newline: the most common line end."""

    text: str
    encoding: str
    bom: bytes
    newline: str


def decode(data: bytes) -> TextFile:
    """The text of a file. Raises ToolError for bytes that are no text, or not surely which."""
    for bom, encoding in _MARKS:
        if data.startswith(bom):
            return _decoded(data, bom, encoding)
    if b"\x00" in data:
        raise ToolError("The file is binary (it holds NUL bytes); it cannot be read as text.")
    try:
        return _as_text(data.decode("utf-8"), "utf-8", b"")
    except UnicodeDecodeError:
        return _guessed(data)


def _decoded(data: bytes, bom: bytes, encoding: str) -> TextFile:
    try:
        text = data[len(bom) :].decode(encoding)
    except UnicodeDecodeError:
        raise ToolError(
            f"The file begins like {encoding} text and is not; it is left alone."
        ) from None
    return _as_text(text, encoding, bom)


def _guessed(data: bytes) -> TextFile:
    from charset_normalizer import from_bytes

    best = from_bytes(data).best()
    if best is not None:
        text = data.decode(best.encoding, "replace")
        if _encodes_to(text, best.encoding, data):
            return _as_text(text, best.encoding, b"")
    raise ToolError("The file is neither UTF-8 nor text in an encoding that is surely known.")


def _encodes_to(text: str, encoding: str, data: bytes) -> bool:
    try:
        return text.encode(encoding) == data
    except UnicodeEncodeError:
        return False


def decode_like(data: bytes, like: TextFile) -> TextFile:
    """The text of bytes that are known to be in the same form as `like`. Raises ToolError."""
    if not data.startswith(like.bom):
        raise ToolError("The file would lose its byte-order mark; nothing was changed.")
    return _decoded(data, like.bom, like.encoding)


def _as_text(text: str, encoding: str, bom: bytes) -> TextFile:
    crlf = text.count("\r\n")
    newline = "\r\n" if crlf > text.count("\n") - crlf else "\n"
    return TextFile(text, encoding, bom, newline)


def encode_part(text: str, like: TextFile) -> bytes:
    """A piece of text in the file's encoding. Raises ToolError when it cannot hold it."""
    try:
        return text.encode(like.encoding)
    except UnicodeEncodeError as error:
        bad = text[error.start : error.end][:20]
        raise ToolError(
            f"The file is in {like.encoding}, which cannot hold {bad!a}; nothing was changed."
        ) from None


def encode(content: str, like: TextFile) -> bytes:
    """A whole new text for a file: its mark, its encoding, and plain newlines as its line ends."""
    if like.bom:
        content = content.removeprefix("\ufeff")
    if like.newline == "\r\n" and "\r\n" not in content:
        content = content.replace("\n", "\r\n")
    return like.bom + encode_part(content, like)
