"""What the private store covers, what it names as left out, and what it lives through."""

import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from patch_agent.core.errors import StoreError, UserError
from patch_agent.workspace import private_store
from patch_agent.workspace.repository import find_repository
from patch_agent.workspace.snapshots import GitSnapshots
from tests.support.repositories import git, make_repository, write_files

FILES: dict[str, str | bytes] = {"a.txt": "one\n", "sub/b.txt": "two\n"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repo", FILES)


def snapshots_of(root: Path, session: str = "p1") -> GitSnapshots:
    return GitSnapshots(find_repository(root), root.parent / f"{root.name}-store", session)


def index_of(root: Path, session: str) -> Path:
    (index,) = (root.parent / f"{root.name}-store").glob(f"index-{session}.*")
    return index


def changed(snapshots: GitSnapshots, before: str, after: str) -> list[tuple[str, str]]:
    return [(change.path, change.kind) for change in snapshots.changes(before, after)]


def everything(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Path -> mode and bytes (of a link: where it leads) of all there is, folders too."""
    found: dict[str, tuple[int, bytes]] = {}
    for path in [folder, *folder.rglob("*")]:
        info = path.lstat()
        data = b""
        if stat.S_ISLNK(info.st_mode):
            data = os.fsencode(os.readlink(path))
        elif stat.S_ISREG(info.st_mode):
            data = path.read_bytes()
        found[str(path.relative_to(folder))] = (info.st_mode, data)
    return found


def use(snapshots: GitSnapshots, root: Path) -> None:
    """Everything that can be asked of snapshots."""
    first = snapshots.take().tree
    write_files(root, {"a.txt": "ONE\n", "fresh.txt": "f\n"})
    second = snapshots.take(["a.txt"]).tree
    third = snapshots.take().tree
    paths = [change.path for change in snapshots.changes(first, third)]
    snapshots.changes(second, third)
    snapshots.trees.diff(first, third, paths)
    snapshots.trees.diff_stat(first, third, paths)
    snapshots.by_products()
    snapshots.trees.read(str(snapshots.changes(first, third)[0].after))
    out = root.parent / f"{root.name}-out"
    out.mkdir()
    snapshots.trees.materialise(third, out)


# --- The user's git folders ----------------------------------------------------------------


def test_no_byte_and_no_mode_of_any_git_folder_changes(root: Path) -> None:
    inner = make_repository(root.parent / "inner", {"x.txt": "x"})
    git(root, "-c", "protocol.file.allow=always", "submodule", "-q", "add", str(inner), "mod")
    git(root, "commit", "-q", "-m", "submodule")
    make_repository(root / "nested", {"y.txt": "y"})
    git(root, "worktree", "add", "-q", str(root.parent / "linked"))
    git(root, "tag", "v1")
    git(root, "gc", "-q")
    write_files(root, {"staged.txt": "s", "a.txt": "stashed\n"})
    git(root, "stash", "push", "-q", "a.txt")
    git(root, "add", "staged.txt")
    git(root, "update-index", "--split-index", "--untracked-cache")
    os.utime(root / "sub" / "b.txt", (1, 1))
    folders = (root / ".git", root / "nested" / ".git")
    before = [everything(folder) for folder in folders]
    use(snapshots_of(root), root)
    use(snapshots_of(root.parent / "linked"), root.parent / "linked")
    use(snapshots_of(root / "mod"), root / "mod")
    assert [everything(folder) for folder in folders] == before


def test_a_killed_snapshot_leaves_the_git_folders_and_can_be_taken_again(root: Path) -> None:
    make_repository(root / "nested", {"y.txt": "y"})
    write_files(root, {f"many/{n}.txt": f"{n}\n" * 50 for n in range(300)})
    before = everything(root)
    script = (
        "import sys; from pathlib import Path\n"
        "from patch_agent.workspace.repository import find_repository\n"
        "from patch_agent.workspace.snapshots import GitSnapshots\n"
        "root = Path(sys.argv[1])\n"
        "print('ready', flush=True)\n"
        "GitSnapshots(find_repository(root), root.parent / 'repo-store', 'p1').take()\n"
    )
    for delay in (0.0, 0.02, 0.05):
        child = subprocess.Popen(
            [sys.executable, "-c", script, str(root)],
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert child.stdout is not None
        child.stdout.readline()
        try:
            child.wait(delay)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        child.stdout.close()
    assert everything(root) == before
    snapshots = snapshots_of(root)
    tree = snapshots.take().tree
    (root / "many" / "7.txt").write_text("seven\n")
    assert changed(snapshots, tree, snapshots.take().tree) == [("many/7.txt", "modified")]


# --- A snapshot is of now, or there is none ------------------------------------------------


def test_a_lock_of_a_git_that_was_killed_is_no_obstacle(root: Path) -> None:
    snapshots = snapshots_of(root)
    before = snapshots.take().tree
    shutil.copy(index_of(root, "p1"), f"{index_of(root, 'p1')}.lock")
    (root / "a.txt").write_text("ONE\n")
    assert changed(snapshots, before, snapshots.take().tree) == [("a.txt", "modified")]


def test_what_cannot_be_snapshotted_is_an_error_and_never_the_old_tree(root: Path) -> None:
    snapshots = snapshots_of(root)
    snapshots.take()
    (root / "a.txt").write_text("ONE\n")
    index_of(root, "p1").write_bytes(b"damaged")
    with pytest.raises(StoreError, match="cannot be looked at: fatal: "):
        snapshots.take()


def test_a_missing_tree_is_a_store_error_in_git_s_words(root: Path) -> None:
    snapshots = snapshots_of(root)
    tree = snapshots.take().tree
    with pytest.raises(StoreError, match="git diff-tree failed: "):
        snapshots.changes("1" * 40, tree)
    with pytest.raises(StoreError, match="git diff-tree failed: "):
        snapshots.trees.diff("1" * 40, tree, ["a.txt"])
    with pytest.raises(StoreError, match="git cat-file failed: "):
        snapshots.trees.read("1" * 40)


def test_an_empty_object_in_the_user_s_store_does_not_stand_for_a_file(root: Path) -> None:
    blob = git(root, "rev-parse", "HEAD:a.txt").strip()
    broken = root / ".git" / "objects" / blob[:2] / blob[2:]
    broken.chmod(0o644)
    broken.write_bytes(b"")
    snapshots = snapshots_of(root)
    before = snapshots.take().tree
    (root / "a.txt").write_text("ONE\n")
    after = snapshots.take().tree
    assert snapshots.trees.read(str(snapshots.changes(before, after)[0].before)) == b"one\n"


def test_the_home_folder_and_the_root_are_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = make_repository(tmp_path / "home", FILES)
    monkeypatch.setenv("HOME", str(home))
    with pytest.raises(UserError, match="too large a place"):
        snapshots_of(home).take()


# --- Files become folders -------------------------------------------------------------------


def test_a_file_may_become_a_folder_and_a_folder_a_file(root: Path) -> None:
    snapshots = snapshots_of(root)
    before = snapshots.take().tree
    (root / "a.txt").unlink()
    (root / "sub" / "b.txt").unlink()
    (root / "sub").rmdir()
    write_files(root, {"a.txt/inner": "i", "sub": "s"})
    after = snapshots.take(["a.txt/inner", "sub"]).tree
    assert after == snapshots.take().tree
    assert sorted(changed(snapshots, before, after)) == [
        ("a.txt", "deleted"), ("a.txt/inner", "added"), ("sub", "added"), ("sub/b.txt", "deleted"),
    ]  # fmt: skip


# --- Borders --------------------------------------------------------------------------------


def test_a_repository_that_appears_later_is_a_border_with_a_note(root: Path) -> None:
    snapshots = snapshots_of(root)
    before = snapshots.take().tree
    make_repository(root / "cloned", {"x.txt": "x"})
    (root / "begun").mkdir()
    git(root / "begun", "init", "-q")
    write_files(root, {"begun/y.txt": "y", "a.txt": "ONE\n", "new.txt": "n"})
    snapshot = snapshots.take()
    assert sorted(snapshot.notes) == [
        "not covered by snapshots: begun/ (a repository of its own)",
        "not covered by snapshots: cloned/ (a repository of its own)",
    ]
    assert changed(snapshots, before, snapshot.tree) == [
        ("a.txt", "modified"),
        ("new.txt", "added"),
    ]
    assert snapshots.take() == type(snapshot)(snapshot.tree)


def test_a_file_that_a_tool_wrote_inside_a_border_is_covered(root: Path) -> None:
    make_repository(root / "nested", {"y.txt": "y"})
    snapshots = snapshots_of(root)
    before = snapshots.take().tree
    write_files(root, {"nested/y.txt": "Y"})
    after = snapshots.take(["nested/y.txt"]).tree
    assert changed(snapshots, before, after) == [("nested/y.txt", "added")]
    assert snapshots.take().tree == after


def test_what_is_ignored_is_no_border_and_never_named(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private_store, "MAX_FILE_BYTES", 2**20)
    make_repository(root / "sub" / "deps" / "lib", {"x.txt": "x"})
    write_files(root, {".gitignore": "deps/\nbuild/\n", "sub/build/big": b"0" * 2**21})
    assert snapshots_of(root).take().notes == ()


def test_a_large_file_stays_out_whatever_its_name_and_also_if_it_is_tracked(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private_store, "MAX_FILE_BYTES", 2**20)
    names = [
        "a\nb",
        "cr\r",
        "end ",
        "#x",
        "!x",
        "back\\slash",
        "glob[a]*?",
        "tracked.bin",
        ".coverage",
    ]
    write_files(root, dict.fromkeys(names, b"0" * (2**20 + 1)))
    git(root, "add", "-f", "tracked.bin", ".coverage")
    snapshots = snapshots_of(root)
    snapshot = snapshots.take()
    assert len(snapshot.notes) == len(names) - 1
    out = root.parent / "out"
    out.mkdir()
    snapshots.trees.materialise(snapshot.tree, out)
    # What the user tracks under a by-product's name is covered like any other file.
    assert sorted(path.name for path in out.iterdir()) == [".coverage", "a.txt", "sub"]


def test_links_are_kept_as_links_and_nothing_outside_is_walked(root: Path) -> None:
    outside = make_repository(root.parent / "outside", {"x.txt": "x"})
    (root / "out").symlink_to(outside)
    (root / "up").symlink_to("..")
    (root / "self").symlink_to(".")
    snapshots = snapshots_of(root)
    snapshot = snapshots.take()
    assert snapshot.notes == ()
    target = root.parent / "target"
    target.mkdir()
    snapshots.trees.materialise(snapshot.tree, target)
    assert sorted(path.name for path in target.iterdir()) == ["a.txt", "out", "self", "sub", "up"]
    assert os.readlink(target / "out") == str(outside)


# --- By-products ----------------------------------------------------------------------------


def test_what_was_there_before_the_first_step_is_no_by_product(root: Path) -> None:
    write_files(root, {"pkg/__pycache__/old.pyc": "old", ".coverage": "old"})
    snapshots = snapshots_of(root)
    before = snapshots.take().tree
    write_files(root, {"pkg/__pycache__/old.pyc": "OLD", "pkg/__pycache__/new.pyc": "new"})
    (root / ".coverage").unlink()
    after = snapshots.take().tree
    assert changed(snapshots, before, after) == [
        (".coverage", "deleted"), ("pkg/__pycache__/old.pyc", "modified"),
    ]  # fmt: skip
    assert snapshots.by_products() == ("pkg/__pycache__/",)


def test_a_resumed_session_still_knows_its_by_products(root: Path) -> None:
    before = snapshots_of(root).take().tree
    write_files(root, {".pytest_cache/v/x": "x", "__pycache__/m.pyc": "x"})
    again = snapshots_of(root)
    assert again.take().tree == before
    assert again.by_products() == (".pytest_cache/", "__pycache__/")


def test_what_the_user_ignores_is_not_listed_as_a_by_product(root: Path) -> None:
    write_files(root, {".gitignore": "__pycache__/\n"})
    snapshots = snapshots_of(root)
    snapshots.take()
    write_files(root, {"__pycache__/m.pyc": "x", "sub/.coverage": "x", "w.patch-new/x": "no"})
    assert snapshots.by_products() == ("sub/.coverage",)


# --- Kinds of repositories ------------------------------------------------------------------


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_loose_and_packed_objects_are_shared_and_not_written_again(
    tmp_path: Path, object_format: str
) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q", f"--object-format={object_format}")
    write_files(root, FILES)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "x")
    snapshots_of(root).take()
    blob = git(root, "rev-parse", "HEAD:a.txt").strip()
    name = Path("objects", blob[:2], blob[2:])
    assert (root / ".git" / name).samefile(tmp_path / "repo-store" / name)


def test_a_store_that_cannot_be_linked_to_is_filled_by_writing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_source: Path, _target: Path) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    snapshots = snapshots_of(root)
    tree = snapshots.take().tree
    out = root.parent / "out"
    out.mkdir()
    snapshots.trees.materialise(tree, out)
    assert (out / "sub" / "b.txt").read_text() == "two\n"


def test_objects_that_a_clone_borrows_are_owned_here(root: Path) -> None:
    clone = root.parent / "clone"
    git(root.parent, "clone", "-q", "--shared", str(root), str(clone))
    snapshots = snapshots_of(clone)
    tree = snapshots.take().tree
    root.rename(root.parent / "gone")
    out = root.parent / "out"
    out.mkdir()
    snapshots.trees.materialise(tree, out)
    assert (out / "a.txt").read_text() == "one\n"


def test_a_repository_with_nothing_in_it_has_a_tree(tmp_path: Path) -> None:
    (tmp_path / "repo").mkdir()
    git(tmp_path / "repo", "init", "-q")
    snapshots = snapshots_of(tmp_path / "repo")
    before = snapshots.take().tree
    write_files(tmp_path / "repo", FILES)
    after = snapshots.take().tree
    assert changed(snapshots, before, after) == [("a.txt", "added"), ("sub/b.txt", "added")]
    for name in FILES:
        (tmp_path / "repo" / name).unlink()
    assert snapshots.take().tree == before


def test_attributes_that_change_bytes_or_hide_differences_have_no_effect(root: Path) -> None:
    rules = "[attr]odd -text -diff\n*.txt working-tree-encoding=UTF-16 text binary odd\n"
    write_files(root, {".gitattributes": rules, "u.txt": "\ufeffa\n".encode("utf-16-le")})
    snapshots = snapshots_of(root)
    before = snapshots.take().tree
    write_files(root, {"a.txt": "ONE\n", "u.txt": "\ufeffb\n".encode("utf-16-le")})
    after = snapshots.take().tree
    assert b"-one\n+ONE\n" in snapshots.trees.diff(before, after, ["a.txt"])
    change = next(c for c in snapshots.changes(before, after) if c.path == "u.txt")
    assert snapshots.trees.read(str(change.after)) == "\ufeffb\n".encode("utf-16-le")


def test_a_diff_of_very_many_files_is_whole(root: Path) -> None:
    snapshots = snapshots_of(root)
    before = snapshots.take().tree
    names = [f"many/{'x' * 180}{n:04}.txt" for n in range(1200)]
    write_files(root, {name: f"{name}\n" for name in names})
    after = snapshots.take().tree
    assert snapshots.trees.diff(before, after, names).count(b"diff --git ") == 1200
    assert snapshots.trees.diff_stat(before, after, names) == {
        "files": 1200, "insertions": 1200, "deletions": 0,
    }  # fmt: skip


def test_what_a_tool_wrote_stays_covered_in_the_next_process(root: Path) -> None:
    write_files(root, {".gitignore": "*.log\n"})
    first = snapshots_of(root)
    before = first.take().tree
    write_files(root, {"x.log": "x"})
    after = first.take(["x.log"]).tree
    second = snapshots_of(root)
    assert second.take().tree == after != before
    assert index_of(root, "p1").exists()


def test_a_damaged_index_of_an_earlier_process_is_made_again(root: Path) -> None:
    before = snapshots_of(root).take().tree
    index_of(root, "p1").write_bytes(b"DIRC torn")
    assert snapshots_of(root).take().tree == before
