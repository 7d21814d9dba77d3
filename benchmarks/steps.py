"""What one trivial step costs: a reply was sent -> the next request has arrived.

The service runs in a process of its own; both read the system's monotonic clock. The commits of
the log are timed in the same run and taken off; a bare loop on the same service is the floor.
"""

import contextlib
import http.client
import io
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from patch_agent.bootstrap import runs
from patch_agent.settings import Flags
from patch_agent.stores import database, sqlite
from tests.support.repositories import FIXED, make_repository

STEPS = 110
Times = list[tuple[float, float]]


@contextlib.contextmanager
def service() -> Iterator[tuple[str, Callable[[], Times]]]:
    """The address of a fresh service, and what gives its times (and ends it)."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.service"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None

    def times() -> Times:
        out, _ = process.communicate()
        return [(arrived, sent) for arrived, sent in json.loads(out)]

    try:
        yield process.stdout.readline().strip(), times
    finally:
        process.kill()
        process.wait()


def time_commits(commits: list[tuple[float, float]]) -> None:
    """Note the start and the length of every commit of the log from now on."""
    inner = database.transaction

    @contextlib.contextmanager
    def timed(connection: Any) -> Iterator[None]:
        leaving = inner(connection)
        leaving.__enter__()
        yield
        started = time.monotonic()
        leaving.__exit__(None, None, None)
        commits.append((started, time.monotonic() - started))

    setattr(sqlite, "transaction", timed)  # noqa: B010 - the store's own name for it


def patch_gaps(folder: Path) -> tuple[list[float], list[float]]:
    """Seconds of each gap, and of the commits in it."""
    root = make_repository(folder / "repo", FIXED)
    commits: list[tuple[float, float]] = []
    time_commits(commits)
    flags = Flags(model="claude-sonnet-5-5", max_steps=STEPS, baseline=False, yes=True)
    with service() as (url, times):
        environ = {
            "PATCH_HOME": str(folder / "home"),
            "ANTHROPIC_BASE_URL": url,
            "PATH": "/usr/bin",
        }
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            runs.fix(root, "read", flags, environ)
        seen = times()
    gaps, inside = [], []
    for (_, sent), (arrived, _) in pairwise(seen):
        gaps.append(arrived - sent)
        inside.append(sum(took for at, took in commits if sent <= at <= arrived))
    return gaps, inside


def floor_gaps(folder: Path) -> list[float]:
    """The same conversation from a bare loop: http.client and one tool."""
    file = folder / "repo" / "calc.py"
    messages: list[dict[str, Any]] = [{"role": "user", "content": "read"}]
    with service() as (url, times):
        connection = http.client.HTTPConnection(urlsplit(url).netloc)
        for _ in range(STEPS):
            body = json.dumps({"model": "m", "max_tokens": 1000, "messages": messages})
            connection.request("POST", "/v1/messages", body)
            events = connection.getresponse().read().decode().split("\n\n")
            data = [json.loads(part.split("data: ", 1)[1]) for part in events if "data: " in part]
            start = next(e for e in data if e["type"] == "content_block_start")["content_block"]
            pieces = [
                e["delta"]["partial_json"] for e in data if e["type"] == "content_block_delta"
            ]
            call = {**start, "input": json.loads("".join(pieces))}
            result = {
                "type": "tool_result",
                "tool_use_id": call["id"],
                "content": file.read_text(),
            }
            messages += [
                {"role": "assistant", "content": [call]},
                {"role": "user", "content": [result]},
            ]
        connection.close()
        seen = times()
    return [arrived - sent for (_, sent), (arrived, _) in pairwise(seen)]


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        gaps, commits = patch_gaps(folder)
        floor = floor_gaps(folder)
    own = [gap - inside for gap, inside in zip(gaps, commits, strict=True)]
    print(f"{'milliseconds per step':<34}{'median':>8}{'steps 5-15':>12}{'95-105':>10}{'ratio':>8}")
    rows = (
        ("Patch, whole gap", gaps),
        ("of it commits of the log", commits),
        ("Patch less commits", own),
        ("bare loop (no log, no checks)", floor),
    )
    for label, values in rows:
        early, late = median(values[5:15]), median(values[95:105])
        print(
            f"{label:<34}{median(values) * 1000:>8.2f}{early * 1000:>12.2f}{late * 1000:>10.2f}"
            f"{late / early if early else 0:>8.2f}"
        )


if __name__ == "__main__":
    main()
