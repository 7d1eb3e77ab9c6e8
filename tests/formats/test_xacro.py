"""xacro files, expanded by the package xacro."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from time_limit import time_limit

from warpdyn.formats.urdf import load_urdf
from warpdyn.formats.xacro import load_xacro
from warpdyn.model.names import ModelError

TWO_ARMS = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="two">
  <xacro:arg name="length" default="1.5"/><xacro:arg name="tool" default="false"/>
  <xacro:include filename="arm.xacro"/>
  <link name="base"/>
  <xacro:arm side="left"/><xacro:arm side="right"/>
  <xacro:if value="$(arg tool)"><link name="tool"/>
    <joint name="mount" type="fixed"><parent link="left"/><child link="tool"/></joint></xacro:if>
</robot>"""

ARM = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:macro name="arm" params="side">
    <link name="${side}"><inertial><origin xyz="0 0 ${$(arg length) / 2}"/><mass value="2"/>
      <inertia ixx="1" iyy="1" izz="1"/></inertial></link>
    <joint name="${side}_joint" type="continuous">
      <parent link="base"/><child link="${side}"/><axis xyz="1 0 0"/></joint>
  </xacro:macro>
</robot>"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "arm.xacro").write_text(ARM)
    (tmp_path / "two.urdf.xacro").write_text(TWO_ARMS)
    return tmp_path / "two.urdf.xacro"


def test_macros_includes_and_arguments_are_expanded(path: Path) -> None:
    """The robot is that of the expanded file."""
    pytest.importorskip("xacro")
    model = load_xacro(path)
    assert model.joint_names == ("left_joint", "right_joint") and model.link("left").com == (
        0,
        0,
        0.75,
    )
    other = load_xacro(str(path), floating_base=True, length=3, tool=True)
    assert (
        other.floating_base
        and other.link("left").com == (0, 0, 1.5)
        and other.link("tool").mass == 0
    )


def test_a_file_that_xacro_cannot_expand_is_refused(path: Path) -> None:
    """The message contains the words of xacro or of the reader."""
    pytest.importorskip("xacro")
    with pytest.raises(ModelError, match="no such file"):
        load_xacro(path.with_name("three.xacro"))
    for text, said in (
        (
            TWO_ARMS.replace("arm.xacro", "leg.xacro"),
            "two.urdf.xacro: xacro cannot expand it: .*leg.xacro",
        ),
        (TWO_ARMS.replace("</robot>", ""), "two.urdf.xacro: xacro cannot expand it"),
        (
            TWO_ARMS.replace('<link name="base"/>', ""),
            'two.urdf.xacro, expanded: joint "left_joint": its parent link',
        ),
    ):
        path.write_text(text)
        with pytest.raises(ModelError, match=said):
            load_xacro(path)


def test_a_missing_xacro_package_is_reported_with_its_remedy(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says what to install if the package is missing.

    The message of load_urdf for a xacro file names load_xacro.
    """
    with pytest.raises(ModelError, match="load_xacro"):
        load_urdf(path)
    monkeypatch.setitem(sys.modules, "xacro", None)
    with pytest.raises(ModelError, match="pip install xacro"):
        load_xacro(path)


def test_unknown_arguments_are_refused(path: Path) -> None:
    """The message suggests a similar name and lists the arguments of the file and of its
    includes."""
    pytest.importorskip("xacro")
    with pytest.raises(
        ModelError, match=r"no argument .lenght.; did you mean 'length'.* has length, tool"
    ):
        load_xacro(path, lenght=3)
    with pytest.raises(ModelError, match='no argument "x"; the file has length, tool'):
        load_xacro(path, mappings={"x": 3})
    (path.parent / "bare.xacro").write_text('<robot name="bare"><link name="a"/></robot>')
    with pytest.raises(ModelError, match='no argument "x"; the file has none'):
        load_xacro(path.parent / "bare.xacro", x=3)


def test_an_argument_has_one_value(path: Path) -> None:
    """It is a string, a number or a bool, and is not in both places."""
    pytest.importorskip("xacro")
    with pytest.raises(ModelError, match='argument "length" is in mappings, too; give it once'):
        load_xacro(path, mappings={"length": 2}, length=3)
    for value in (None, [1.0], {"length": 1}):
        with pytest.raises(ModelError, match='"length" must be a string, a number or a bool'):
            load_xacro(path, mappings={"length": value})  # type: ignore[dict-item]
    a, b = (load_xacro(path, length=x) for x in (np.float32(2), np.int64(2)))
    assert a.link("left").com == b.link("left").com == (0.0, 0.0, 1.0)


def test_mappings_give_the_arguments(path: Path) -> None:
    """ROS's xacro takes such a dictionary. Its names need not be Python keywords."""
    pytest.importorskip("xacro")
    model = load_xacro(path, mappings={"length": 3, "tool": True})
    assert model.link("left").com == (0, 0, 1.5) and model.link("tool").mass == 0


@pytest.mark.parametrize("name", ["arm.xacro", "two.urdf.xacro"])
def test_a_pipe_is_refused(name: str, path: Path) -> None:
    """It may be the file itself or an included file. The reader does not wait for the pipe's other
    end."""
    pytest.importorskip("xacro")
    (path.parent / name).unlink()
    os.mkfifo(path.parent / name)
    said = "is a pipe, a socket or a device" if name == "arm.xacro" else "there is no such file"
    with time_limit(), pytest.raises(ModelError, match=said):
        load_xacro(path)


def test_the_total_size_of_the_files_is_limited(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of exactly the limit are read, files of one byte more are refused. YAML files count
    too."""
    pytest.importorskip("xacro")
    (path.parent / "sizes.yaml").write_text("length: 2\n")
    text = path.read_text().replace(
        'default="1.5"', "default=\"${xacro.load_yaml('sizes.yaml').length}\""
    )
    path.write_text(text)
    size = sum(each.stat().st_size for each in path.parent.iterdir())
    monkeypatch.setattr("warpdyn.formats.xacro.DESCRIPTION", size)
    assert load_xacro(path).link("left").com == (0, 0, 1.0)
    monkeypatch.setattr("warpdyn.formats.xacro.DESCRIPTION", size - 1)
    with pytest.raises(ModelError, match=r"has \d+ bytes, more than the \d+ bytes that are read"):
        load_xacro(path)


def test_threads_expand_files_one_at_a_time(path: Path) -> None:
    """xacro has its state in variables of its module."""

    def com(k: int) -> float:
        return float(load_xacro(path, length=k).link("left").com[2])

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(com, range(1, 41))) == [k / 2 for k in range(1, 41)]
