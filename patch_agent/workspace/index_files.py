"""The index files of a private store: one per session and process, begun with a copy of another."""

import shutil
from pathlib import Path

from patch_agent.workspace.git import GitCall, git_result


def seed_index(call: GitCall, index: Path) -> bool:
    """Begin `index`, which `call` works on, with the newest copy; whether the session had none."""
    own = _indexes(index.parent, f"{index.stem}.*")
    # Another session's index spares hashing at least: git compares times and sizes.
    found = own or _indexes(index.parent, "index-*")
    if found and not index.exists():
        shutil.copy2(max(found, key=lambda path: path.stat().st_mtime), index)
        # It is only a cache: one that was torn by a power cut is made again.
        if git_result(call, "ls-files", "-z", "--cached").exit_code != 0:
            index.unlink()
    return not own


def drop_older_indexes(index: Path) -> None:
    """Remove what earlier processes of the session left; their git may have been killed."""
    for path in index.parent.glob(f"{index.stem}.*"):
        if path != index:
            path.unlink(missing_ok=True)


def _indexes(store: Path, pattern: str) -> list[Path]:
    return [path for path in store.glob(pattern) if path.suffix != ".lock"]
