"""MJCF's neighbours: names lead on from the text's folder, and stay within what is trusted."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from warpdyn.formats.mjcf.mjcf_files import Neighbours
from warpdyn.formats.robot_source import Reading, RobotSource
from warpdyn.model.description import ModelError

ELEMENT = etree.fromstring("<mesh/>")


@pytest.fixture
def text(tmp_path: Path) -> RobotSource:
    folder = tmp_path / "robot"
    (folder / "parts").mkdir(parents=True)
    (folder / "main.xml").write_text("<mujoco/>")
    (folder / "parts" / "a.stl").write_bytes(b"12345")
    (tmp_path / "b.stl").write_bytes(b"123")
    return RobotSource.of(folder / "main.xml", "load", "MJCF")


def test_names_lead_from_the_folder_of_the_text(text: RobotSource) -> None:
    """Or from others that are named; what was found is called by its way from there."""
    files, reading = Neighbours(text, True, 9, 99), Reading("main.xml")
    path = files.find(reading, ELEMENT, "parts/a.stl")
    assert files.find(reading, ELEMENT, "a.stl", [path.parent]) == path
    assert files.name(path) == "parts/a.stl" and files.read_file(reading, ELEMENT, path) == b"12345"


def test_a_trusted_folder_is_the_bound(text: RobotSource, tmp_path: Path) -> None:
    """Its files are read, though they lie beside the text's folder."""
    reading = Reading("main.xml")
    with pytest.raises(ModelError, match=r'"\.\./b\.stl" is outside of the folder of main\.xml'):
        Neighbours(text, True, 9, 99).find(reading, ELEMENT, "../b.stl")
    files = Neighbours(text, tmp_path, 9, 99)
    assert files.name(files.find(reading, ELEMENT, "../b.stl")) == "../b.stl"


def test_what_is_read_is_counted(text: RobotSource) -> None:
    """Files and bytes, together."""
    reading = Reading("main.xml")
    for most in ((1, 99), (9, 7)):
        files = Neighbours(text, True, *most)
        path = files.find(reading, ELEMENT, "parts/a.stl")
        files.read_file(reading, ELEMENT, path)
        with pytest.raises(ModelError, match="there is too much to read"):
            files.read_file(reading, ELEMENT, path)


def test_files_that_are_no_files_or_cannot_be_opened_are_refused(text: RobotSource) -> None:
    """By their name and the reason."""
    files, reading = Neighbours(text, True, 9, 9999999), Reading("main.xml")
    folder = files.find(reading, ELEMENT, "parts/a.stl").parent
    with pytest.raises(ModelError, match=r'"parts" is a directory; name a file of the robot'):
        files.read_file(reading, ELEMENT, folder)
    with pytest.raises(ModelError, match=r'"parts/gone\.stl" cannot be read: No such file'):
        files.read_file(reading, ELEMENT, folder / "gone.stl")
