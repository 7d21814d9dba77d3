"""Where the tools behind a test run keep what they keep between runs: not in the working tree."""

from pathlib import Path


def redirected_caches(folder: Path) -> dict[str, str]:
    """Environment variables that send caches and coverage data of Python's test tools to `folder`.

    Without them each run would change files of the tree that it is to prove.
    """
    return {
        "COVERAGE_FILE": str(folder / "coverage"),
        "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "hypothesis"),
        "MYPY_CACHE_DIR": str(folder / "mypy"),
        "RUFF_CACHE_DIR": str(folder / "ruff"),
    }
