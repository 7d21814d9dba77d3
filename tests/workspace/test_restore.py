"""Taking changes back: exact, merged, refused; and going on after a cut."""

import os
from pathlib import Path

import pytest

from patch_agent.core.errors import ToolError
from patch_agent.workspace.repository import find_repository
from patch_agent.workspace.restore_files import carry_out
from patch_agent.workspace.restore_plan import Plan, plan_restore, reversed_changes
from patch_agent.workspace.snapshots import GitSnapshots
from tests.support.repositories import make_repository, write_files

TEXT = "one\ntwo\nthree\nfour\nfive\n"
START: dict[str, str | bytes] = {"a.txt": TEXT, "gone.sh": "exit 0\n", "data.bin": b"\x00\x01"}


class Place:
    def __init__(self, folder: Path) -> None:
        self.root = make_repository(folder / "repo", START)
        os.symlink("a.txt", self.root / "link")
        (self.root / "gone.sh").chmod(0o750)
        self.snapshots = GitSnapshots(find_repository(self.root), folder / "store", "p1")
        self.start = self.snapshots.take().tree

    def run_changes(self) -> None:
        """What a run might do: edit, create in a new folder, delete, point a link elsewhere."""
        write_files(self.root, {"a.txt": TEXT.replace("two", "TWO"), "new/n.py": "n\n"})
        (self.root / "gone.sh").unlink()
        (self.root / "link").unlink()
        os.symlink("data.bin", self.root / "link")
        self.end = self.snapshots.take().tree
        self.changes = self.snapshots.changes(self.start, self.end)

    def plan(self) -> Plan:
        tree = self.snapshots.take().tree
        return plan_restore(self.snapshots.trees, self.root, tree, self.changes)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    made.run_changes()
    return made


def test_what_a_run_did_is_taken_back_exactly_and_made_again(place: Place) -> None:
    plan = place.plan()
    assert plan.conflicts == ()
    carry_out(place.snapshots.trees, place.root, plan.changes, ["new"])
    assert place.snapshots.take().tree == place.start
    assert not (place.root / "new").exists()
    assert (place.root / "gone.sh").stat().st_mode & 0o100
    assert os.readlink(place.root / "link") == "a.txt"
    again = plan_restore(
        place.snapshots.trees, place.root, place.start, reversed_changes(place.changes)
    )
    redo = plan_restore(place.snapshots.trees, place.root, place.start, plan.changes)
    assert again.conflicts == redo.conflicts == ()
    carry_out(place.snapshots.trees, place.root, redo.changes)
    assert place.snapshots.take().tree == place.end


def test_a_folder_that_holds_something_of_the_users_stays(place: Place) -> None:
    write_files(place.root, {"new/mine.txt": "mine\n"})
    carry_out(place.snapshots.trees, place.root, place.plan().changes, ["new"])
    assert (place.root / "new" / "mine.txt").read_text() == "mine\n"
    assert not (place.root / "new" / "n.py").exists()


def test_later_edits_of_other_lines_are_kept(place: Place) -> None:
    text = (place.root / "a.txt").read_text()
    (place.root / "a.txt").write_text(text.replace("five", "FIVE"))
    plan = place.plan()
    assert plan.merged == {"a.txt"}
    carry_out(place.snapshots.trees, place.root, plan.changes)
    assert (place.root / "a.txt").read_text() == TEXT.replace("five", "FIVE")


def test_each_loss_is_a_conflict_with_a_name(place: Place) -> None:
    write_files(place.root, {"a.txt": "all new\n", "new/n.py": "edited\n", "gone.sh": "mine\n"})
    assert {conflict.path for conflict in place.plan().conflicts} == {
        "a.txt",
        "new/n.py",
        "gone.sh",
    }


def test_after_a_cut_the_rest_is_planned_and_what_was_done_is_left(place: Place) -> None:
    whole = place.plan().changes
    carry_out(place.snapshots.trees, place.root, whole[:2])
    rest = plan_restore(
        place.snapshots.trees, place.root, place.snapshots.take().tree, reversed_changes(whole)
    )
    assert rest.conflicts == ()
    assert {change.path for change in rest.changes} == {change.path for change in whole[2:]}
    carry_out(place.snapshots.trees, place.root, rest.changes)
    assert place.snapshots.take().tree == place.start


def test_a_file_changed_at_the_last_moment_is_not_overwritten(place: Place) -> None:
    plan = place.plan()
    (place.root / "a.txt").write_text("just now\n")
    with pytest.raises(ToolError, match=r"a\.txt"):
        carry_out(place.snapshots.trees, place.root, plan.changes)
    assert (place.root / "a.txt").read_text() == "just now\n"


def test_what_is_half_way_or_set_aside_is_finished(place: Place) -> None:
    wanted = reversed_changes(place.plan().changes)
    (place.root / "link").unlink()
    (place.root / "a.txt").write_text("edited while it was cut off\n")
    trees, now = place.snapshots.trees, place.snapshots.take().tree
    plan = plan_restore(trees, place.root, now, wanted, finishing=True)
    assert [conflict.path for conflict in plan.conflicts] == ["a.txt"]
    (place.root / "a.txt").rename(place.root / "aside.txt")
    now = place.snapshots.take().tree
    plan = plan_restore(trees, place.root, now, wanted, finishing=True)
    assert plan.conflicts == ()
    carry_out(trees, place.root, plan.changes)
    assert os.readlink(place.root / "link") == "a.txt"
    assert (place.root / "a.txt").read_text() == TEXT


def test_a_folder_where_a_file_stood_and_back(tmp_path: Path) -> None:
    place = Place(tmp_path)
    (place.root / "a.txt").unlink()
    write_files(place.root, {"a.txt/deep/x.py": "x\n"})
    end = place.snapshots.take().tree
    place.changes = place.snapshots.changes(place.start, end)
    undo = place.plan()
    assert undo.conflicts == ()
    carry_out(place.snapshots.trees, place.root, undo.changes)
    assert place.snapshots.take().tree == place.start
    redo = plan_restore(place.snapshots.trees, place.root, place.start, undo.changes)
    carry_out(place.snapshots.trees, place.root, redo.changes)
    assert place.snapshots.take().tree == end
    (place.root / "a.txt" / "mine").write_text("mine")
    assert {conflict.path for conflict in place.plan().conflicts} == {"a.txt"}
