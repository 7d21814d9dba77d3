"""Real git repositories in temporary folders."""

import hashlib
import subprocess
from collections.abc import Mapping
from pathlib import Path

BROKEN = {
    "calc.py": "def add(a, b):\n    return a - b\n\n\ndef double(a):\n    return a * 2\n",
    "tests/test_calc.py": (
        "from calc import add, double\n\n\n"
        "def test_add():\n    assert add(2, 3) == 5\n\n\n"
        "def test_double():\n    assert double(4) == 8\n"
    ),
    "conftest.py": "",
}
"""A repository with one fault: `add` subtracts; one test of two fails."""

FIXED = {**BROKEN, "calc.py": BROKEN["calc.py"].replace("a - b", "a + b")}


def git(root: Path, *arguments: str) -> str:
    """Run git as a user would, apart from their settings."""
    identity = ["-c", "user.name=Someone", "-c", "user.email=someone@localhost"]
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=root, capture_output=True, text=True, check=True
    )
    return done.stdout


def make_repository(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """A repository at `root` with these files in one commit."""
    root.mkdir(parents=True, exist_ok=True)
    write_files(root, files)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", "start")
    return root.resolve()


def write_files(root: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files, with the folders they need."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def fingerprint(folder: Path) -> dict[str, str]:
    """Path -> SHA-256 of every file below a folder."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
