"""Finding the user's repository, without running anything that belongs to it."""

import os
from dataclasses import dataclass
from pathlib import Path

from patch_agent.core.errors import UserError
from patch_agent.workspace.git import GitCall, git, git_result


@dataclass(frozen=True, slots=True)
class Repository:
    """A work tree. root: its top, with links resolved. head_commit None: no commit yet.

    object_format: `sha1` or `sha256`.
    """

    root: Path
    git_dir: Path
    common_dir: Path
    head_commit: str | None
    object_format: str

    @property
    def call(self) -> GitCall:
        """For git calls that read the user's repository."""
        return GitCall(self.root, self.git_dir, self.root)


def find_repository(start: Path) -> Repository:
    """The repository that `start` lies in. Raises UserError (repository) with what to do."""
    call = GitCall(start)
    result = git_result(
        call, "rev-parse", "--is-bare-repository", "--is-inside-work-tree", "--absolute-git-dir"
    )
    if result.ending != "exit" or result.exit_code != 0:
        raise _not_usable(start, result.stderr.decode("utf-8", "replace"))
    # A folder's name may hold a line break: what is a path comes last.
    bare, inside, git_dir = os.fsdecode(result.output).removesuffix("\n").split("\n", 2)
    if bare == "true":
        raise UserError(
            f"{start} is a bare repository; Patch needs a working tree: git clone it", "repository"
        )
    if inside != "true":
        raise UserError(
            f"{start} is inside a .git folder; go to the working tree and try again", "repository"
        )
    told = os.fsdecode(git(call, "rev-parse", "--show-object-format", "--show-toplevel"))
    object_format, top = told.removesuffix("\n").split("\n", 1)
    return Repository(
        root=Path(top).resolve(),
        git_dir=Path(git_dir),
        common_dir=_common_dir(Path(git_dir)),
        head_commit=_head(call),
        object_format=object_format,
    )


def _common_dir(git_dir: Path) -> Path:
    pointer = git_dir / "commondir"
    if not os.path.isfile(pointer):
        return git_dir
    return (git_dir / os.fsdecode(pointer.read_bytes()).removesuffix("\n")).resolve()


def _head(call: GitCall) -> str | None:
    result = git_result(call, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    if result.exit_code != 0:
        return None
    return result.output.decode("ascii").strip()


def _not_usable(start: Path, words: str) -> UserError:
    if "not a git repository" in words:
        return UserError(
            f"{start} is not in a git repository; go to one, or make one with: git init",
            "repository",
        )
    last = words.strip().splitlines()[-1] if words.strip() else "git gave no reason"
    return UserError(f"the git repository at {start} cannot be used: {last}", "repository")


def create_repository(root: Path, message: str) -> None:
    """Make a folder a git repository with all of its files in one commit."""
    call = GitCall(root)
    git(call, "init", "--quiet", "--initial-branch=main", "--template=")
    git(call, "add", "--all")
    identity = {"user.name": "Patch", "user.email": "patch@localhost"}
    git(GitCall(root, overrides=identity), "commit", "--quiet", "--no-verify", "-m", message)
