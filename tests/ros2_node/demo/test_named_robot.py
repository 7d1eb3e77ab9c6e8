"""The robot of a demo node, by name or by file."""

from __future__ import annotations

import pytest

import warpdyn as wd
from ros2_node.demo.named_robot import urdf_text


def test_a_bundled_robot_and_its_file_have_the_same_text(tmp_path):
    text = urdf_text("panda")
    assert wd.load_urdf(text).name == "panda"
    file = tmp_path / "any_name"
    file.write_text(text)
    assert urdf_text(str(file)) == text


def test_an_unknown_robot_is_refused_with_the_bundled_names(tmp_path):
    with pytest.raises(ValueError, match=r"nonsense: there is no such file; .* ur5e"):
        urdf_text("nonsense")
    with pytest.raises(ValueError, match="is a directory"):
        urdf_text(str(tmp_path))
