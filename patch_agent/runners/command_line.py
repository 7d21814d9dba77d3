"""A test command as the user wrote it: words, or a shell line that says so."""

import shlex

from patch_agent.core.errors import UserError

_OPERATORS = frozenset("();<>|&")


def parse_command(text: str) -> tuple[str, ...]:
    """The argv of a command; one with shell operators runs as `bash -o pipefail -c`.

    Raises UserError when its quotes do not close.
    """
    try:
        words = shlex.split(text)
        lexer = shlex.shlex(text, posix=True, punctuation_chars="();<>|&")
        lexer.whitespace_split = True
        has_operators = any(token and set(token) <= _OPERATORS for token in lexer)
    except ValueError as error:
        raise UserError(f"--test-cmd {text!r} cannot be read: {error}") from None
    if has_operators or "`" in text or "$" in text or "\n" in text.strip():
        return ("bash", "-o", "pipefail", "-c", text)
    return tuple(words)
