"""Evidence: the facts that tools and the runtime saw. Nothing else can set an evidence field."""

from dataclasses import dataclass
from typing import ClassVar

from patch_agent.core.testing import TestReport
from patch_agent.core.values import (
    Cause,
    ChangeKey,
    FileChange,
    LineRange,
    Moment,
    RestoreKind,
    TestRunKind,
)


@dataclass(frozen=True, slots=True)
class FileRead:
    """The model was shown these lines of the version with this SHA-256."""

    path: str
    sha256: str
    ranges: tuple[LineRange, ...]


@dataclass(frozen=True, slots=True)
class FileWritten:
    """A file tool wrote (with `sha256` "": removed) a file; the hash is of the bytes read back.

    ranges: the lines of the new version that the model knows (its own words count as seen).
    """

    path: str
    sha256: str
    ranges: tuple[LineRange, ...] = ()


@dataclass(frozen=True, slots=True)
class FilesChanged:
    """The tree differs after a step of this run; `tree` is the tree that is there now.

    folders: those that the step made.
    """

    step: int
    tree: str
    changes: tuple[FileChange, ...]
    during: Cause
    folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TreeObserved:
    """The runtime looked at the tree. `changes`: what someone else changed since the last look."""

    tree: str
    moment: Moment
    changes: tuple[FileChange, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TestsRan:
    """The runtime ran the test command(s); `tree` was there before the run.

    Only kind "complete" can prove, only "baseline" is the baseline; "partial" informs.
    """

    __test__: ClassVar[bool] = False

    kind: TestRunKind
    step: int
    tree: str
    reports: tuple[TestReport, ...]
    by_products: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BaselineSkipped:
    """There is no baseline, and why."""

    why: str


@dataclass(frozen=True, slots=True)
class RestoreBegun:
    """An undo or redo is about to write: the intent.

    changes: what it will do to each path, from what is there. keys: the changes of the run that
    are taken back or made again.
    """

    kind: RestoreKind
    tree: str
    changes: tuple[FileChange, ...]
    keys: tuple[ChangeKey, ...]


@dataclass(frozen=True, slots=True)
class FilesRestored:
    """An undo or redo ended: every path is as it says; `tree` is the tree that is there now."""

    kind: RestoreKind
    tree: str
    changes: tuple[FileChange, ...]
    keys: tuple[ChangeKey, ...]


EvidenceEvent = (
    FileRead
    | FileWritten
    | FilesChanged
    | TreeObserved
    | TestsRan
    | BaselineSkipped
    | RestoreBegun
    | FilesRestored
)
