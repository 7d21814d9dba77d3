"""Reading JUnit XML as pytest and others write it."""

import re
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from patch_agent.core.testing import Failure, Outcome

MAX_BYTES = 200_000_000
MAX_FAILURES = 20
MAX_TEXT = 2_000


@dataclass(frozen=True, slots=True)
class Case:
    """One `testcase` element. file and line: "" and 0 when the writer did not give them."""

    classname: str
    name: str
    file: str
    line: int
    outcome: Outcome
    text: str


def read_cases(path: Path) -> tuple[Case, ...] | None:
    """The test cases of a report file; None when there is none that can be read."""
    try:
        if path.stat().st_size > MAX_BYTES:
            return None
        data = path.read_bytes()
        # No runner's report declares entities; one that does is made to blow up its reader.
        if b"<!DOCTYPE" in data[:4096] or b"<!ENTITY" in data:
            return None
        root = ElementTree.fromstring(data)
    except (OSError, ElementTree.ParseError):
        return None
    return tuple(_case(element) for element in root.iter("testcase"))


def _case(element: ElementTree.Element) -> Case:
    outcome, text = _outcome(element)
    line = element.get("line", "")
    return Case(
        classname=element.get("classname", ""),
        name=element.get("name", ""),
        file=element.get("file", ""),
        line=int(line) + 1 if line.isdigit() else 0,
        outcome=outcome,
        text=text,
    )


def _outcome(element: ElementTree.Element) -> tuple[Outcome, str]:
    # A test may carry a failure and then an error of its teardown: the worst counts.
    for tag, outcome in (("failure", "failed"), ("error", "error")):
        child = element.find(tag)
        if child is not None:
            text = f"{child.get('message', '')}\n{child.text or ''}".strip()
            return ("failed" if outcome == "failed" else "error"), text
    child = element.find("skipped")
    if child is None:
        return "passed", ""
    if child.get("type") == "pytest.xfail":
        return "xfailed", child.get("message", "")
    return "skipped", child.get("message", "")


def failures_of(cases: dict[str, Case]) -> tuple[Failure, ...]:
    """The first failures with their texts cut to what helps: assertion and last frames."""
    bad = [(key, case) for key, case in cases.items() if case.outcome in ("failed", "error")]
    return tuple(
        Failure(key, shorten(case.text), *_place(case)) for key, case in bad[:MAX_FAILURES]
    )


def _place(case: Case) -> tuple[str, int]:
    frames = re.findall(r"^([^\s:][^:\n]*\.py):(\d+):", case.text, re.MULTILINE)
    return (frames[-1][0], int(frames[-1][1])) if frames else (case.file, case.line)


def shorten(text: str) -> str:
    """A failure's text within MAX_TEXT: its end matters most, then its beginning."""
    if len(text) <= MAX_TEXT:
        return text
    head = MAX_TEXT // 4
    return f"{text[:head]}\n[...]\n{text[-(MAX_TEXT - head) :]}"
