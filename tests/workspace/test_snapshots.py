"""Snapshots cover what the user has, byte for byte, and never touch the user's git folder."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from patch_agent.core.values import FileChange
from patch_agent.workspace import private_store
from patch_agent.workspace.repository import find_repository
from patch_agent.workspace.snapshots import GitSnapshots
from tests.support.repositories import fingerprint, git, make_repository, write_files

FILES: dict[str, str | bytes] = {"a.txt": "one\n", "sub/b.txt": "two\r\nthree\n"}
Take = Callable[[], str]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repo", FILES)


def snapshots_of(root: Path, session: str = "p1") -> GitSnapshots:
    store = root.parent / f"{root.name}-store"
    return GitSnapshots(find_repository(root), store, session)


def changed(snapshots: GitSnapshots, before: str, after: str) -> list[tuple[str, str]]:
    return [(change.path, change.kind) for change in snapshots.changes(before, after)]


def test_changes_of_every_kind_are_seen(root: Path) -> None:
    snapshots = snapshots_of(root)
    before = snapshots.take().tree
    write_files(root, {"a.txt": "ONE\n", "new/c.txt": "c"})
    (root / "sub" / "b.txt").unlink()
    after = snapshots.take().tree
    assert changed(snapshots, before, after) == [
        ("a.txt", "modified"), ("new/c.txt", "added"), ("sub/b.txt", "deleted"),
    ]  # fmt: skip


def test_an_edit_that_is_taken_back_is_the_same_tree(root: Path) -> None:
    snapshots = snapshots_of(root)
    before = snapshots.take().tree
    (root / "a.txt").write_text("other\n")
    assert snapshots.take(["a.txt"]).tree != before
    (root / "a.txt").write_text("one\n")
    assert snapshots.take(["a.txt"]).tree == before


def test_modes_and_links_are_part_of_a_tree(root: Path) -> None:
    snapshots = snapshots_of(root)
    before = snapshots.take().tree
    (root / "a.txt").chmod(0o755)
    (root / "link").symlink_to("a.txt")
    (root / "broken").symlink_to("nowhere")
    after = snapshots.take().tree
    assert changed(snapshots, before, after) == [
        ("a.txt", "modified"), ("broken", "added"), ("link", "added"),
    ]  # fmt: skip
    assert snapshots.changes(before, after)[0] == FileChange(
        "a.txt",
        "modified",
        snapshots.changes(before, after)[0].before,
        snapshots.changes(before, after)[0].before,
        "100644",
        "100755",
    )


NAMES = [
    "white space.txt", "new\nline.txt", 'quote".txt', "-dash.txt", "größe.txt", "tab\there",
    "glob[*]?.txt", "back\\slash", ":colon", "!bang", "#hash", ".hidden", "a" * 200,
]  # fmt: skip


def test_odd_names_are_names(root: Path) -> None:
    snapshots = snapshots_of(root)
    before = snapshots.take().tree
    write_files(root, {name: name for name in NAMES})
    raw = os.fsencode(root) + b"/bytes\xff.txt"
    with open(raw, "w") as file:
        file.write("x")
    after = snapshots.take().tree
    names = [*NAMES, os.fsdecode(b"bytes\xff.txt")]
    assert sorted(path for path, _ in changed(snapshots, before, after)) == sorted(names)
    assert snapshots.trees.diff_stat(before, after, sorted(names))["files"] == len(names)
    one = snapshots.trees.diff(before, after, ["glob[*]?.txt"])
    assert one.count(b"diff --git") == 1


def test_bytes_are_kept_whatever_the_users_settings_say(root: Path) -> None:
    git(root, "config", "core.autocrlf", "true")
    git(root, "config", "core.eol", "crlf")
    write_files(root, {".gitattributes": "* text=auto eol=crlf ident\n", "id.txt": "$Id$\n"})
    snapshots = snapshots_of(root)
    tree = snapshots.take().tree
    target = root.parent / "out"
    target.mkdir()
    snapshots.trees.materialise(tree, target)
    for name in ("a.txt", "sub/b.txt", "id.txt"):
        assert (target / name).read_bytes() == (root / name).read_bytes()


def test_the_users_git_folder_stays_byte_for_byte(root: Path) -> None:
    write_files(root, {"staged.txt": "s", "untracked.txt": "u"})
    git(root, "add", "staged.txt")
    (root / "a.txt").write_text("dirty\n")
    git(root, "stash", "push", "-q", "a.txt")
    os.utime(root / "sub" / "b.txt", (1, 1))
    before = fingerprint(root / ".git")
    snapshots = snapshots_of(root)
    first = snapshots.take().tree
    (root / "untracked.txt").write_text("changed")
    second = snapshots.take().tree
    snapshots.changes(first, second)
    snapshots.trees.diff(first, second, ["untracked.txt"])
    snapshots.by_products()
    assert fingerprint(root / ".git") == before


def test_nothing_of_the_repository_runs(root: Path) -> None:
    marker = root.parent / "marker"
    evil = root.parent / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {marker}\ncat\n")
    evil.chmod(0o755)
    for name in ("pre-commit", "post-index-change", "post-checkout"):
        hook = root / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_bytes(evil.read_bytes())
        hook.chmod(0o755)
    for setting in ("core.fsmonitor", "filter.x.clean", "filter.x.smudge", "filter.x.process",
                    "diff.external", "diff.x.textconv", "core.pager", "core.sshCommand",
                    "core.alternateRefsCommand", "core.editor"):  # fmt: skip
        git(root, "config", setting, str(evil))
    write_files(root, {".gitattributes": "* filter=x diff=x\n", "c.txt": "c"})
    snapshots = snapshots_of(root)
    before = snapshots.take().tree
    (root / "c.txt").write_text("d")
    after = snapshots.take().tree
    assert b"-c\n" in snapshots.trees.diff(before, after, ["c.txt"])
    snapshots.trees.diff_stat(before, after, ["c.txt"])
    target = root.parent / "out"
    target.mkdir()
    snapshots.trees.materialise(after, target)
    assert not marker.exists()


def test_a_snapshot_survives_what_the_user_does_to_history(root: Path) -> None:
    snapshots = snapshots_of(root)
    tree = snapshots.take().tree
    (root / "a.txt").write_text("rewritten\n")
    git(root, "commit", "-qa", "--amend", "-m", "other")
    git(root, "reflog", "expire", "--expire=now", "--all")
    git(root, "gc", "-q", "--prune=now")
    target = root.parent / "out"
    target.mkdir()
    snapshots.trees.materialise(tree, target)
    assert (target / "a.txt").read_text() == "one\n"
    assert (target / "sub" / "b.txt").read_bytes() == b"two\r\nthree\n"


def test_ignored_files_stay_out_unless_the_user_tracks_them(root: Path) -> None:
    write_files(root, {".gitignore": "*.log\n", "tracked.log": "t", "other.log": "o"})
    git(root, "add", "-f", "tracked.log", ".gitignore")
    git(root, "commit", "-q", "-m", "log")
    snapshots = snapshots_of(root)
    before = snapshots.take().tree
    write_files(root, {"tracked.log": "T", "other.log": "O", "new.log": "n"})
    assert changed(snapshots, before, snapshots.take().tree) == [("tracked.log", "modified")]


def test_a_path_that_a_tool_wrote_is_covered_even_if_it_is_ignored(root: Path) -> None:
    write_files(root, {".gitignore": "*.log\n"})
    snapshots = snapshots_of(root)
    before = snapshots.take().tree
    write_files(root, {"x.log": "x"})
    after = snapshots.take(["x.log"]).tree
    assert changed(snapshots, before, after) == [("x.log", "added")]


def test_the_users_own_ignore_rules_count(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = root.parent / "home"
    (home / ".config" / "git").mkdir(parents=True)
    (home / ".config" / "git" / "ignore").write_text("*.mine\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (root / ".git" / "info").mkdir(exist_ok=True)
    (root / ".git" / "info" / "exclude").write_text("*.local\n")
    snapshots = snapshots_of(root)
    before = snapshots.take().tree
    write_files(root, {"a.mine": "", "b.local": "", "c.txt": ""})
    assert changed(snapshots, before, snapshots.take().tree) == [("c.txt", "added")]


def test_by_products_of_test_runs_stay_out_and_are_listed(root: Path) -> None:
    write_files(root, {"kept.pyc": "tracked"})
    git(root, "add", "-f", "kept.pyc")
    git(root, "commit", "-q", "-m", "odd")
    snapshots = snapshots_of(root)
    before = snapshots.take().tree
    write_files(
        root,
        {"pkg/__pycache__/m.pyc": "x", ".coverage": "x", ".pytest_cache/v/a": "x", "kept.pyc": "y"},
    )
    assert changed(snapshots, before, snapshots.take().tree) == [("kept.pyc", "modified")]
    assert sorted(snapshots.by_products()) == [".coverage", ".pytest_cache/", "pkg/__pycache__/"]


def test_borders_are_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private_store, "MAX_FILE_BYTES", 2**20)
    make_repository(root / "vendor" / "inner", {"x.txt": "x"})
    write_files(root, {"big.bin": b"0" * 2**21, "data/big.bin": b"0" * 2**21, "data/ok": "ok"})
    snapshot = snapshots_of(root).take()
    assert sorted(snapshot.notes) == [
        "not covered by snapshots: big.bin (larger than 1 MB)",
        "not covered by snapshots: data/big.bin (larger than 1 MB)",
        "not covered by snapshots: vendor/inner/ (a repository of its own)",
    ]


def test_a_submodule_is_a_border_and_no_trouble(root: Path) -> None:
    inner = make_repository(root.parent / "inner", {"x.txt": "x"})
    git(root, "-c", "protocol.file.allow=always", "submodule", "-q", "add", str(inner), "inner")
    git(root, "commit", "-q", "-m", "submodule")
    snapshots = snapshots_of(root)
    before = snapshots.take().tree
    (root / "a.txt").write_text("ONE\n")
    assert changed(snapshots, before, snapshots.take().tree) == [("a.txt", "modified")]


def test_the_diff_applies_to_the_start(root: Path) -> None:
    write_files(root, {"bin": bytes(range(256)), "no-end": "x"})
    snapshots = snapshots_of(root)
    before = snapshots.take().tree
    write_files(root, {"a.txt": "1\n", "sub/b.txt": "two\r\n3\n", "bin": b"\x00\x01", "no-end": "y",
                       "new file": "n\n"})  # fmt: skip
    (root / "a.txt").chmod(0o755)
    after = snapshots.take().tree
    paths = [change.path for change in snapshots.changes(before, after)]
    diff = snapshots.trees.diff(before, after, paths)
    target = root.parent / "out"
    target.mkdir()
    snapshots.trees.materialise(before, target)
    subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], cwd=target, input=diff, check=True)
    assert fingerprint(target) == {
        name: digest for name, digest in fingerprint(root).items() if not name.startswith(".git/")
    }
    assert snapshots.trees.diff_stat(before, after, paths) == {
        "files": 5, "insertions": 4, "deletions": 3,
    }  # fmt: skip


def test_sessions_have_an_index_each_and_share_the_objects(root: Path) -> None:
    one, other = snapshots_of(root, "p1"), snapshots_of(root, "p2")
    assert one.take().tree == other.take().tree
    (root / "a.txt").write_text("ONE\n")
    assert one.take().tree == other.take().tree


def test_a_new_repository_a_sha256_one_and_a_linked_worktree_work(tmp_path: Path) -> None:
    new = tmp_path / "new"
    new.mkdir()
    git(new, "init", "-q")
    write_files(new, FILES)
    sha256 = tmp_path / "sha256"
    sha256.mkdir()
    git(sha256, "init", "-q", "--object-format=sha256")
    write_files(sha256, FILES)
    git(sha256, "add", "-A")
    git(sha256, "commit", "-q", "-m", "x")
    main = make_repository(tmp_path / "main", FILES)
    git(main, "worktree", "add", "-q", str(tmp_path / "linked"))
    for root in (new, sha256, tmp_path / "linked"):
        snapshots = snapshots_of(root)
        before = snapshots.take().tree
        (root / "a.txt").write_text("ONE\n")
        assert changed(snapshots, before, snapshots.take().tree) == [("a.txt", "modified")]


def test_the_store_is_private(root: Path) -> None:
    snapshots_of(root).take()
    assert (root.parent / "repo-store").stat().st_mode & 0o077 == 0
