"""When a text is not in a file: where something like it is, and what differs."""

from difflib import SequenceMatcher, get_close_matches

MAX_LINES = 20_000
SHOWN = 8


def describe_nearest(text: str, wanted: str) -> str:
    """A message for the model: the nearest place with its lines, and the kind of difference."""
    lines = text.split("\n")[:MAX_LINES]
    pattern = wanted.strip("\n").split("\n")
    first = next((line for line in pattern if line.strip()), "")
    at = _nearest_line(lines, first)
    if at is None:
        return "old_text is not in the file, nor anything like it; read the file again."
    offset = next((i for i, line in enumerate(pattern) if line.strip()), 0)
    begin = max(at - offset, 0)
    there = lines[begin : begin + min(len(pattern), SHOWN)]
    shown = "\n".join(f"{begin + i + 1}\t{line[:300]}" for i, line in enumerate(there))
    kind = _difference(pattern, lines[begin : begin + len(pattern)])
    return f"old_text is not in the file word for word{kind}. The nearest place is:\n{shown}"


def _nearest_line(lines: list[str], wanted: str) -> int | None:
    stripped = [line.strip() for line in lines]
    target = wanted.strip()
    if not target:
        return None
    if target in stripped:
        return stripped.index(target)
    short = [line for line in dict.fromkeys(stripped) if 0 < len(line) <= 500]
    near = get_close_matches(target[:500], short, n=1, cutoff=0.6)
    return stripped.index(near[0]) if near else None


def _difference(wanted: list[str], there: list[str]) -> str:
    if [line.split() for line in wanted] == [line.split() for line in there]:
        tabs = any("\t" in line for line in there) != any("\t" in line for line in wanted)
        return (
            " (it differs only in tabs against spaces)" if tabs else " (only white space differs)"
        )
    for number, (one, other) in enumerate(zip(wanted, there, strict=False)):
        if one != other:
            parts = SequenceMatcher(None, one[:500], other[:500]).get_opcodes()
            changed = [part for part in parts if part[0] != "equal"]
            if len(changed) == 1:
                _, a, b, c, d = changed[0]
                return (
                    f" (line {number + 1} of it has {one[a:b]!r} where the file has {other[c:d]!r})"
                )
            return f" (line {number + 1} of it is not as in the file)"
    return ""
