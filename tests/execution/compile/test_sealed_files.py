"""Cache files are used only if they are unchanged and written by a trusted user."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from warpdyn.execution.compile import sealed_files
from warpdyn.execution.compile import sealed_files as chosen
from warpdyn.execution.compile.sealed_files import (
    SHARED,
    distrust_folder,
    is_tagged,
    make_folder,
    read,
    tag_folder,
    write,
)

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
NOBODY = 65534


def test_written_bytes_are_read_back(tmp_path: Path) -> None:
    """Folders are made for this user only, whatever the umask. No other file is left there."""
    before = os.umask(0)
    try:
        write(tmp_path / "new" / "deep" / "entry", b"some\nbytes")
    finally:
        os.umask(before)
    path = tmp_path / "new" / "deep" / "entry"
    assert read(path) == b"some\nbytes" and list(path.parent.iterdir()) == [path]
    assert path.stat().st_mode & 0o777 == 0o600
    assert all(
        folder.stat().st_mode & 0o777 == 0o700 for folder in (path.parent, *path.parents[1:2])
    )


@pytest.mark.parametrize("position", [0, 20, 90, -1])
def test_one_flipped_bit_is_detected(tmp_path: Path, position: int) -> None:
    """Wherever it is. The entry is removed."""
    path = tmp_path / "entry"
    write(path, b"0.0613982335")
    whole = bytearray(path.read_bytes())
    whole[position] ^= 1
    path.write_bytes(whole)
    assert read(path) is None and not path.exists()


def test_a_renamed_entry_is_refused(tmp_path: Path) -> None:
    """It is complete, but it belongs to another key."""
    write(tmp_path / "a", b"x")
    (tmp_path / "a").rename(tmp_path / "b")
    assert read(tmp_path / "b") is None


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    """A FIFO does not block, and a link is not followed. The wrong entry is removed, not the target
    of a link."""
    path, target = tmp_path / "entry", tmp_path / "target"
    os.mkfifo(path)
    assert read(path) is None and not path.exists()
    write(target, b"precious")
    path.symlink_to(target)
    assert read(path) is None and not path.is_symlink() and target.exists()
    path.mkdir()
    assert read(path) is None and not path.exists()
    assert read(path) is None


def test_a_full_disk_leaves_the_old_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It leaves no partial file."""
    write(tmp_path / "entry", b"before")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sealed_files.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write(tmp_path / "entry", b"after")
    assert [path.name for path in tmp_path.iterdir()] == ["entry"]
    assert read(tmp_path / "entry") == b"before"


def test_a_link_in_place_of_the_partial_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The link is not followed."""
    monkeypatch.setattr(sealed_files.secrets, "token_hex", lambda n: "0" * (2 * n))
    target = tmp_path / "target"
    target.write_text("precious")
    (tmp_path / (".entry." + "0" * 16)).symlink_to(target)
    with pytest.raises(FileExistsError):
        write(tmp_path / "entry", b"x")
    assert target.read_text() == "precious"


@pytest.mark.parametrize("mode", [0o666, 0o602])
def test_files_and_folders_that_others_can_write_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    """They are used only if the user declares them shared."""
    write(tmp_path / "entry", b"x")
    (tmp_path / "entry").chmod(mode)
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o1777)
    assert distrust_folder(folder) == "every user can write to it"
    monkeypatch.setenv(SHARED, "1")
    assert distrust_folder(folder) == "" and read(tmp_path / "entry") == b"x"
    monkeypatch.delenv(SHARED)
    assert read(tmp_path / "entry") is None


@AS_ROOT
def test_files_and_folders_of_others_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files and folders belong to another user, or to a group that has other members."""
    write(tmp_path / "entry", b"x")
    os.chown(tmp_path / "entry", NOBODY, NOBODY)
    assert read(tmp_path / "entry") is None
    folder = tmp_path / "folder"
    folder.mkdir()
    os.chown(folder, NOBODY, NOBODY)
    assert distrust_folder(folder) == f"it belongs to user {NOBODY}"
    os.chown(folder, 0, NOBODY)
    folder.chmod(0o775)
    assert distrust_folder(folder) == f"group {NOBODY} can write to it"
    folder.chmod(0o755)
    assert distrust_folder(folder) == ""
    folder.chmod(0o775)
    monkeypatch.setenv(SHARED, "1")
    assert distrust_folder(folder) == ""


@pytest.mark.parametrize(
    ("name", "group_of_user", "members", "private"),
    [
        ("me", 5, [], True),
        ("me", 5, ["me"], True),
        ("me", 5, ["me", "you"], False),
        ("me", 6, [], False),
        ("staff", 5, [], False),
    ],
)
def test_a_group_with_only_its_user_is_private(
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    group_of_user: int,
    members: list[str],
    private: bool,
) -> None:
    """It has the user's name, is the user's first group, and has no other member."""
    user = SimpleNamespace(pw_name="me", pw_gid=group_of_user)
    group = SimpleNamespace(gr_name=name, gr_mem=members)
    monkeypatch.setattr(sealed_files.pwd, "getpwuid", lambda _: user)
    monkeypatch.setattr(sealed_files.grp, "getgrgid", lambda _: group)
    assert sealed_files._is_private.__wrapped__(5) is private


def test_a_link_to_the_cache_folder_is_accepted(tmp_path: Path) -> None:
    """`~/.cache` may be on another disk. A link inside the cache is refused."""
    (tmp_path / "link").symlink_to(tmp_path)
    assert distrust_folder(tmp_path / "link") == "it is a link"
    assert distrust_folder(tmp_path / "link", link=True) == ""


def test_a_folder_of_our_own_is_tagged(tmp_path: Path) -> None:
    """A folder with other files is not, and the tag of another program does not count."""
    make_folder(tmp_path / "ours")
    tag_folder(tmp_path / "ours", is_ours=True)
    assert is_tagged(tmp_path / "ours")
    tag_folder(tmp_path, is_ours=False)
    assert not is_tagged(tmp_path)
    (tmp_path / sealed_files.TAG).write_text("Signature: 8a477f597d28d172789f06886806bc55\n")
    assert not is_tagged(tmp_path)


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.LARGEST == 268_435_456
