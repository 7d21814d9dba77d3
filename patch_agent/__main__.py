"""The entry: hands over to patch(1) when called like it, else starts Patch's command line.

Nothing heavy is imported before it is known that Patch itself is meant: scripts call `patch` often.
"""

import os
import sys
from collections.abc import Sequence

COMMANDS = (
    "fix",
    "demo",
    "resume",
    "sessions",
    "show",
    "log",
    "diff",
    "undo",
    "redo",
)
OPTIONS = ("--help", "--version")


def main() -> None:
    """`patch`: Patch, or the next `patch` on PATH (product.md, "GNU patch")."""
    arguments = sys.argv[1:]
    if not _is_for_patch(arguments):
        if arguments or not sys.stdin.isatty():
            _refuse_misspelt(arguments)
            _hand_over(arguments)
        arguments = ["--help"]
    _run(arguments, "patch")


def main_agent() -> None:
    """`patch-agent`: the same program under a name of its own; it never hands over."""
    _run(sys.argv[1:] or ["--help"], "patch-agent")


def _is_for_patch(arguments: Sequence[str]) -> bool:
    if not arguments:
        return False
    first = arguments[0]
    if first == "-C" and len(arguments) > 2:
        return arguments[2] in COMMANDS
    return first in COMMANDS or first in OPTIONS


def _run(arguments: list[str], program: str) -> None:
    if arguments == ["--version"]:
        _print_version(hands_over=program == "patch")
        return
    if arguments == ["--help"] and _print_stored_help(program):
        return
    from patch_agent.cli.app import run

    run(arguments, program)


def _print_version(hands_over: bool) -> None:
    from patch_agent import __version__

    print(f"Patch (patch-agent) {__version__}")
    other = find_other_patch() if hands_over else None
    if other is not None:
        first_line = _first_line_of_version(other)
        print(f"{first_line or other} (used for everything that is not a command of Patch)")


def _print_stored_help(program: str) -> bool:
    # The text is what the command line would print at 80 columns; a test holds the two together.
    try:
        with open(os.path.join(os.path.dirname(__file__), "cli", "help.txt"), "rb") as file:
            text = file.read()
        sys.stdout.buffer.write(text.replace(b"Usage: patch ", b"Usage: %b " % program.encode()))
    except (OSError, AttributeError):
        return False
    return True


def _refuse_misspelt(arguments: Sequence[str]) -> None:
    if not arguments or arguments[0].startswith("-") or os.path.lexists(arguments[0]):
        return
    from difflib import get_close_matches

    near = get_close_matches(arguments[0], COMMANDS, n=1, cutoff=0.7)
    if near:
        name = arguments[0].encode("ascii", "backslashreplace").decode()
        _fail(f"patch: no such command: {name}; did you mean {near[0]}?")


def _hand_over(arguments: Sequence[str]) -> None:
    other = find_other_patch()
    if other is None:
        _fail(
            "patch: not a command of Patch, and no other `patch` program is on PATH to take it; "
            "`patch --help` lists the commands"
        )
    else:
        sys.stdout.flush()
        os.execv(other, ["patch", *arguments])


def find_other_patch() -> str | None:
    """The first `patch` on PATH that is not this program, nor another copy of it."""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder, "patch")
        runs = os.path.isabs(path) and os.path.isfile(path) and os.access(path, os.X_OK)
        if runs and not _is_this_program(path):
            return path
    return None


def _is_this_program(path: str) -> bool:
    # Two environments may each have a Patch: handing over in a circle would never end.
    try:
        with open(path, "rb") as file:
            return b"patch_agent" in file.read(4096)
    except OSError:
        return True


def _first_line_of_version(path: str) -> str:
    # posix_spawn: importing subprocess would cost more than all the rest of --version.
    reader, writer = os.pipe()
    try:
        actions = [(os.POSIX_SPAWN_DUP2, writer, 1), (os.POSIX_SPAWN_CLOSE, reader)]
        pid = os.posix_spawn(path, [path, "--version"], os.environ, file_actions=actions)
        os.close(writer)
        writer = -1
        text = os.read(reader, 4096)
        os.waitpid(pid, 0)
    except OSError:
        return ""
    finally:
        os.close(reader)
        if writer >= 0:
            os.close(writer)
    return text.decode("utf-8", "replace").split("\n", 1)[0].strip()


def _fail(line: str) -> None:
    print(line, file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main()
