"""Files that an MJCF file names: paths start from the folder of the text, and files outside trusted
folders are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from warpdyn.formats.mjcf import mjcf_files
from warpdyn.formats.mjcf.mjcf_files import Neighbours
from warpdyn.formats.robot_source import Reading, RobotSource
from warpdyn.model.names import ModelError

ELEMENT = etree.fromstring("<mesh/>")


@pytest.fixture
def text(tmp_path: Path) -> RobotSource:
    folder = tmp_path / "robot"
    (folder / "parts").mkdir(parents=True)
    (folder / "main.xml").write_text("<mujoco/>")
    (folder / "parts" / "a.stl").write_bytes(b"12345")
    (tmp_path / "b.stl").write_bytes(b"123")
    return RobotSource.of(folder / "main.xml", "load", "MJCF")


def test_file_names_are_relative_to_the_folder_of_the_text(text: RobotSource) -> None:
    """A call may name other folders. Messages call a file by its path from the text's folder."""
    files, reading = Neighbours(text, True, 9, 99), Reading("main.xml")
    path = files.find(reading, ELEMENT, "parts/a.stl")
    assert files.find(reading, ELEMENT, "a.stl", [path.parent]) == path
    assert files.name(path) == "parts/a.stl" and files.read_file(reading, ELEMENT, path) == b"12345"


def test_only_files_in_the_trusted_folder_are_read(text: RobotSource, tmp_path: Path) -> None:
    """They may be outside the text's folder."""
    reading = Reading("main.xml")
    with pytest.raises(ModelError, match=r'"\.\./b\.stl" is outside of the folder of main\.xml'):
        Neighbours(text, True, 9, 99).find(reading, ELEMENT, "../b.stl")
    files = Neighbours(text, tmp_path, 9, 99)
    assert files.name(files.find(reading, ELEMENT, "../b.stl")) == "../b.stl"


def test_the_number_and_total_size_of_files_are_limited(text: RobotSource) -> None:
    """All files count together."""
    reading = Reading("main.xml")
    for most in ((1, 99), (9, 7)):
        files = Neighbours(text, True, *most)
        path = files.find(reading, ELEMENT, "parts/a.stl")
        files.read_file(reading, ELEMENT, path)
        with pytest.raises(ModelError, match="there is too much to read"):
            files.read_file(reading, ELEMENT, path)


def test_directories_and_unreadable_files_are_refused(text: RobotSource) -> None:
    """The message gives the name and the reason."""
    files, reading = Neighbours(text, True, 9, 9999999), Reading("main.xml")
    folder = files.find(reading, ELEMENT, "parts/a.stl").parent
    with pytest.raises(ModelError, match=r'"parts" is a directory; name a file of the robot'):
        files.read_file(reading, ELEMENT, folder)
    with pytest.raises(ModelError, match=r'"parts/gone\.stl" cannot be read: No such file'):
        files.read_file(reading, ELEMENT, folder / "gone.stl")


def test_a_growing_file_is_read_up_to_the_remaining_size(
    text: RobotSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Earlier files have used part of the limit."""
    limits: list[int] = []

    def read(path: Path, most: int, remedy: str) -> bytes:
        limits.append(most)
        return path.read_bytes()

    monkeypatch.setattr(mjcf_files, "read_regular_file", read)
    files, reading = Neighbours(text, True, 2, 10), Reading("main.xml")
    path = files.find(reading, ELEMENT, "parts/a.stl")
    assert files.read_file(reading, ELEMENT, path) == files.read_file(reading, ELEMENT, path)
    assert limits == [10, 5] and (files.files, files.bytes) == (2, 10)


def test_the_messages_of_refused_files_are_complete(text: RobotSource, tmp_path: Path) -> None:
    """The files are missing, outside the folder, forbidden, and too large."""
    reading = Reading("main.xml")
    trusted = Neighbours(text, True, 9, 3 * 2**20)
    beside = "; put it next to main.xml"
    outside = (
        " is outside of the folder of main.xml; only files in it or below are read, or in a folder "
        'that you trust: includes="folder"'
    )
    alone = RobotSource.of("<mujoco/>", "load", "MJCF")
    off = "no other file is read with includes=False"
    without = "it is looked for next to a file; give its path, not a text"
    (tmp_path / "robot" / "ring").symlink_to("ring")
    for files, name, said in (
        (trusted, "none.stl", f'there is no file "none.stl"{beside}'),
        (trusted, "parts", f'there is no file "parts"{beside}'),
        (trusted, "ring", f'there is no file "ring"{beside}'),
        (trusted, "x" * 5000, f'there is no file "{"x" * 5000}"{beside}'),
        (trusted, "../b.stl", f'"../b.stl"{outside}'),
        (Neighbours(text, False, 9, 99), "parts/a.stl", f'"parts/a.stl": {off}'),
        (Neighbours(alone, False, 9, 99), "a.stl", f'"a.stl": {off}'),
        (Neighbours(alone, True, 9, 99), "a.stl", f'"a.stl": {without}'),
    ):
        with pytest.raises(ModelError) as refused:
            files.find(reading, ELEMENT, name)
        assert str(refused.value) == f"main.xml: <mesh>: {said} (line 1)"
    many = Neighbours(text, True, 0, 3 * 2**20)
    with pytest.raises(ModelError, match="too much to read: at most 0 files of 3 MiB together are"):
        many.read_file(reading, ELEMENT, tmp_path / "b.stl")
    with pytest.raises(ValueError) as none:
        Neighbours(text, "nowhere", 9, 99)
    wanted = "includes must be True, False or a folder; 'nowhere' is not a folder"
    assert str(none.value) == wanted
    in_folder = Neighbours(alone, tmp_path, 9, 99)
    assert in_folder.name(in_folder.find(reading, ELEMENT, "b.stl")) == "b.stl"
    assert Neighbours(alone, False, 9, 99).name(tmp_path / "b.stl") == "b.stl"
