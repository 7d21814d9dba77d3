"""Whole bytes in, whole bytes out; paths stay inside the repository."""

import errno
import os
import stat
from pathlib import Path

import pytest

from patch_agent.core.errors import ToolError
from patch_agent.workspace.files import content_hash, hash_on_disk, link_hash, read_bytes
from patch_agent.workspace.paths import is_git_name, resolve
from patch_agent.workspace.writing import atomic_write, move_file, remove_file


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    return path


def test_a_write_gives_the_hash_of_what_is_on_disk(file: Path) -> None:
    written = atomic_write(file, b"new", expect_sha256=content_hash(b"old"))
    assert written.not_kept == ()
    assert written.sha256 == content_hash(b"new") == hash_on_disk(file)


@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600, 0o444])
def test_mode_and_neighbours_stay(file: Path, mode: int) -> None:
    file.chmod(mode)
    atomic_write(file, b"new", expect_sha256=content_hash(b"old"))
    assert stat.S_IMODE(file.stat().st_mode) == mode
    assert [path.name for path in file.parent.iterdir()] == ["a.txt"]


def test_a_hard_link_stays_one_file(file: Path) -> None:
    os.link(file, file.with_name("b.txt"))
    atomic_write(file, b"newer", expect_sha256=content_hash(b"old"))
    assert file.with_name("b.txt").read_bytes() == b"newer"


def test_what_changed_meanwhile_is_not_overwritten(file: Path) -> None:
    with pytest.raises(ToolError, match="changed while it was edited"):
        atomic_write(file, b"new", expect_sha256=content_hash(b"something else"))
    assert file.read_bytes() == b"old"


def test_a_new_file_gets_its_folders_and_never_overwrites(tmp_path: Path) -> None:
    path = tmp_path / "x" / "y" / "z.txt"
    atomic_write(path, b"new", expect_sha256=None)
    assert path.read_bytes() == b"new"
    with pytest.raises(ToolError, match="exists by now"):
        atomic_write(path, b"other", expect_sha256=None)
    assert path.read_bytes() == b"new"


def test_a_write_that_fails_changes_nothing(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ToolError, match="No space left on device"):
        atomic_write(file, b"new", expect_sha256=content_hash(b"old"))
    monkeypatch.undo()
    assert file.read_bytes() == b"old"
    assert [path.name for path in file.parent.iterdir()] == ["a.txt"]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.mkdir(), "is a folder"),
        (lambda path: os.mkfifo(path), "not a regular file"),
        (lambda path: path.write_bytes(b"x" * 101), "101 bytes"),
        (lambda path: None, "There is no file"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, make: object, words: str) -> None:
    path = tmp_path / "thing"
    make(path)  # type: ignore[operator]
    with pytest.raises(ToolError, match=words):
        read_bytes(path, 100)


# --- Nothing is left behind, nothing is claimed ------------------------------------------------


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def refuse(_descriptor: int) -> None:
    raise OSError(28, "No space left on device")


def test_a_new_file_that_cannot_be_written_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "there").mkdir()
    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(ToolError, match="nothing was changed"):
        atomic_write(tmp_path / "there" / "x" / "y" / "z.txt", b"new", expect_sha256=None)
    assert names(tmp_path) == ["there"]
    assert names(tmp_path / "there") == []


def test_a_hard_linked_file_that_cannot_be_written_is_as_before(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.link(file, file.with_name("b.txt"))
    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(ToolError, match="nothing was changed"):
        atomic_write(file, b"something longer", expect_sha256=content_hash(b"old"))
    assert file.with_name("b.txt").read_bytes() == b"old"


def test_what_a_killed_write_left_is_no_obstacle_and_goes(file: Path) -> None:
    file.with_name(".a.txt.patch-new").write_bytes(b"half")
    atomic_write(file, b"new", expect_sha256=content_hash(b"old"))
    assert names(file.parent) == ["a.txt"]
    assert file.read_bytes() == b"new"


def test_once_the_file_is_there_it_is_a_success(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = os.fsync

    def only_files(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(22, "Invalid argument")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", only_files)
    written = atomic_write(file, b"new", expect_sha256=content_hash(b"old"))
    assert written.sha256 == content_hash(b"new")


def test_what_changes_while_the_new_bytes_are_written_is_kept(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = os.fsync

    def with_a_neighbour(descriptor: int) -> None:
        sync(descriptor)
        file.write_bytes(b"theirs")

    monkeypatch.setattr(os, "fsync", with_a_neighbour)
    with pytest.raises(ToolError, match="changed while it was edited"):
        atomic_write(file, b"ours", expect_sha256=content_hash(b"old"))
    assert file.read_bytes() == b"theirs"
    assert names(file.parent) == ["a.txt"]


def test_a_link_that_took_the_place_of_a_file_is_not_replaced(file: Path) -> None:
    file.rename(file.with_name("real.txt"))
    file.symlink_to("real.txt")
    with pytest.raises(ToolError, match="not a regular file any more"):
        atomic_write(file, b"new", expect_sha256=content_hash(b"old"))
    assert file.is_symlink()
    assert file.read_bytes() == b"old"


def test_the_longest_names_can_be_written(tmp_path: Path) -> None:
    for name in ("x" * 255, "ö" * 127):
        atomic_write(tmp_path / name, b"new", expect_sha256=None)
        atomic_write(tmp_path / name, b"newer", expect_sha256=content_hash(b"new"))
    assert len(names(tmp_path)) == 2


def test_extended_attributes_and_group_stay(file: Path) -> None:
    try:
        os.setxattr(file, "user.colour", b"red")
    except OSError:
        pytest.skip("this file system keeps no attributes")
    atomic_write(file, b"new", expect_sha256=content_hash(b"old"))
    assert os.getxattr(file, "user.colour") == b"red"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_owner_group_and_set_id_bits_stay(file: Path) -> None:
    os.chown(file, 12345, 54321)
    file.chmod(0o2755)
    atomic_write(file, b"new", expect_sha256=content_hash(b"old"))
    info = file.stat()
    assert (info.st_uid, info.st_gid, stat.S_IMODE(info.st_mode)) == (12345, 54321, 0o2755)


def test_a_folder_that_cannot_hold_a_file_is_named(file: Path) -> None:
    with pytest.raises(ToolError, match=r"z\.txt could not be written \(.*\); nothing was changed"):
        atomic_write(file / "z.txt", b"new", expect_sha256=None)


def test_a_pipe_has_no_hash_and_holds_nobody(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert hash_on_disk(tmp_path / "pipe") == ""
    assert hash_on_disk(tmp_path) == ""
    assert hash_on_disk(tmp_path / "gone") == ""


def test_a_file_that_has_no_room_for_a_new_name_is_filled(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(_source: Path, _target: Path) -> None:
        raise OSError(errno.EBUSY, "Device or resource busy")

    monkeypatch.setattr(os, "rename", busy)
    inode = file.stat().st_ino
    atomic_write(file, b"new", expect_sha256=content_hash(b"old"))
    assert (file.read_bytes(), file.stat().st_ino) == (b"new", inode)
    assert names(file.parent) == ["a.txt"]


def test_what_the_user_may_not_keep_is_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.chmod(0o640)

    def not_allowed(*_arguments: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fchmod", not_allowed)
    written = atomic_write(file, b"new", expect_sha256=content_hash(b"old"))
    assert written.not_kept == ("permissions",)


# --- Removing and moving -----------------------------------------------------------------------


def test_only_the_version_that_is_meant_is_removed(file: Path) -> None:
    with pytest.raises(ToolError, match="changed while it was edited"):
        remove_file(file, expect_sha256=content_hash(b"other"))
    assert file.exists()
    remove_file(file, expect_sha256=content_hash(b"old"))
    assert names(file.parent) == []


def test_a_link_is_removed_and_not_what_it_leads_to(file: Path) -> None:
    link = file.with_name("link")
    link.symlink_to("a.txt")
    with pytest.raises(ToolError, match="changed"):
        remove_file(link, expect_sha256=content_hash(b"old"))
    remove_file(link, expect_sha256=link_hash("a.txt"))
    assert names(file.parent) == ["a.txt"]


def test_a_move_takes_a_free_name_only(file: Path) -> None:
    to = file.parent / "x" / "b.txt"
    move_file(file, to, expect_sha256=content_hash(b"old"))
    assert to.read_bytes() == b"old"
    file.write_bytes(b"mine")
    with pytest.raises(ToolError, match="exists by now"):
        move_file(file, to, expect_sha256=content_hash(b"mine"))
    assert (file.read_bytes(), to.read_bytes()) == (b"mine", b"old")


def test_a_move_that_fails_leaves_no_folder(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "rename", lambda *_: refuse(0))
    with pytest.raises(ToolError, match="nothing was changed"):
        move_file(file, file.parent / "x" / "b.txt", expect_sha256=content_hash(b"old"))
    assert names(file.parent) == ["a.txt"]


# --- Paths -------------------------------------------------------------------------------


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    (root / "sub").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / "a.txt").write_text("")
    (tmp_path / "secret").write_text("")
    (root / "inner").symlink_to("sub")
    (root / "outer").symlink_to(tmp_path)
    (root / "file").symlink_to("a.txt")
    (root / "loop").symlink_to("loop")
    os.mkfifo(root / "pipe")
    return root


@pytest.mark.parametrize(
    ("given", "relative"),
    [
        ("a.txt", "a.txt"),
        ("./sub/../a.txt", "a.txt"),
        ("new/b.txt", "new/b.txt"),
        ("inner/x", "sub/x"),
        ("file", "a.txt"),
        (".", "."),
        (".gitignore", ".gitignore"),
        (".github/x.yml", ".github/x.yml"),
    ],
)
def test_paths_inside_are_taken(root: Path, given: str, relative: str) -> None:
    assert resolve(root, given).relative == relative


def test_an_absolute_path_inside_is_taken(root: Path) -> None:
    assert resolve(root, str(root / "a.txt")).relative == "a.txt"


@pytest.mark.parametrize(
    "given",
    ["", "../secret", "/etc/passwd", "sub/../../secret", "outer/secret", "~/x", "a\x00b", "loop/x",
     ".git/config", ".GIT/config", "sub/.git", "git~1/x", ".git\u200c/x", ".git /config", "pipe",
     ".git::$INDEX_ALLOCATION/x", ".ｇｉｔ/x", ".git.", "inner/.git/x", "new/.git/hooks/x",
     "\ud800", "x" * 300 + "/../../secret", "a.txt/x", "~user", "inner/../../secret"],
)  # fmt: skip
def test_paths_that_lead_elsewhere_are_refused(root: Path, given: str) -> None:
    with pytest.raises(ToolError):
        resolve(root, given)


@pytest.mark.parametrize("name", [".gitx", "git", ".gitmodules", "x.git"])
def test_names_that_only_look_alike_are_no_git_folder(name: str) -> None:
    assert not is_git_name(name)
