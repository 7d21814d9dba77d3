"""A path given by a model becomes a path inside the repository, or a refusal that says why."""

import os
import stat
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from patch_agent.core.errors import ToolError

_IGNORABLE = frozenset("\u00ad\u034f\u061c\u180e\ufeff") | {
    chr(code) for low, high in ((0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x2064))
    for code in range(low, high + 1)
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class RepoPath:
    """relative: POSIX form, from the root, links in it resolved. absolute: what to act on."""

    relative: str
    absolute: Path


def resolve(root: Path, text: str) -> RepoPath:
    """The place that a path names, inside `root`. Raises ToolError for everything else.

    Links are followed and have to stay inside; git's own folder is closed.
    """
    if not text or "\x00" in text:
        raise ToolError("The path is empty or holds a NUL; give one relative to the root.")
    if text.startswith("~"):
        raise ToolError(f"{text} is outside of the repository; give a path relative to its root.")
    top = Path(os.path.realpath(root))
    lexical = Path(os.path.normpath(top / text))
    if not lexical.is_relative_to(top):
        raise ToolError(f"{text} is outside of the repository; give a path relative to its root.")
    try:
        real = Path(os.path.realpath(lexical, strict=os.path.exists(lexical)))
    except (OSError, ValueError) as error:
        raise ToolError(f"{text} cannot be resolved: {error}") from None
    if not real.is_relative_to(top):
        raise ToolError(
            f"{text} is a link that leads outside of the repository; it is not followed."
        )
    relative = real.relative_to(top)
    for part in (*lexical.relative_to(top).parts, *relative.parts):
        if is_git_name(part):
            raise ToolError(f"{text} lies in git's own folder, which is closed to tools.")
    _refuse_special(real, text)
    return RepoPath(relative.as_posix(), real)


def is_git_name(name: str) -> bool:
    """Whether some file system would take this name for `.git`."""
    plain = "".join(char for char in unicodedata.normalize("NFKC", name) if char not in _IGNORABLE)
    folded = plain.casefold().rstrip(". ").split(":", 1)[0]
    return folded in (".git", "git~1")


def _refuse_special(path: Path, text: str) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise ToolError(f"{text} cannot be looked at: {error.strerror}.") from None
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise ToolError(f"{text} is neither a file nor a folder (a device, pipe or socket).")
