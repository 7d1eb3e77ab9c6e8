"""`warpdyn info`: the tree, limits, mimic joints and warnings as they are printed."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import warpdyn as wd
from warpdyn.cli.info import print_coordinates
from warpdyn.cli.main import main

PENDULUM = Path(__file__).parents[2] / "warpdyn" / "robots" / "double_pendulum.urdf"


def test_info_prints_the_tree_and_the_limits(capsys):
    """The output has links, limits and mimic joints of a bundled robot."""
    assert main(["info", "panda"]) == 0
    said = capsys.readouterr().out
    assert (
        "panda_link7" in said
        and "-2.897" in said
        and "panda_finger_joint2 = 1 * panda_finger_joint1" in said
    )


def test_info_accepts_a_path_and_a_floating_base(capsys):
    """ROBOT may be a file. A free base has seven coordinates with its name."""
    assert main(["info", str(PENDULUM), "--base", "floating"]) == 0
    assert "floating_base.qw" in capsys.readouterr().out


def test_info_needs_neither_rich_nor_matplotlib():
    """A description is printed without the packages for tables and pictures."""
    code = (
        "import sys; from warpdyn.cli.main import main; main(['info', 'cartpole']);"
        "sys.exit(any(m in sys.modules for m in ('rich', 'matplotlib')))"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode
        == 0
    )


def test_each_coordinate_has_its_line(capsys):
    """Each row of q has a line, in order. The last part of a quaternion has no column of v."""
    model = wd.load_robot("quadruped")
    print_coordinates(model)
    lines = capsys.readouterr().out.splitlines()[2:]
    assert [line.split()[0] for line in lines] == [str(k) for k in range(model.nq)]
    assert [line[9:].split()[0] for line in lines] == list(model.q_names)
    assert [line[4:7].strip() for line in lines[5:8]] == ["5", "", "6"]


def test_each_axis_of_a_joint_has_its_own_limits(capsys):
    """A universal joint has limits for both of its axes."""
    builder = wd.ModelBuilder("gimbal").add_link("base").add_link("cup", mass=1.0)
    second = wd.description.Limits(-5.0, 6.0, 7.0, 8.0)
    first = {"lower": -1.0, "upper": 2.0, "velocity": 3.0, "effort": 4.0}
    axes = {"axis": (1, 0, 0), "axis2": (0, 1, 0)}
    builder.add_joint("swivel", "universal", "base", "cup", **axes, **first, limits2=second)
    print_coordinates(builder.build())
    lines = capsys.readouterr().out.splitlines()[2:]
    assert [line.split()[3:] for line in lines] == [["-1", "2", "3", "4"], ["-5", "6", "7", "8"]]


def test_warnings_are_printed_last(tmp_path, capsys):
    """The reader's warnings are below the tables, on stdout."""
    odd = tmp_path / "odd.urdf"
    odd.write_text(
        "<robot name='w'><link name='a'><inertial><mass value='1'/>"
        "<inertia ixx='1' iyy='0.1' izz='0.1' ixy='0' ixz='0' iyz='0'/></inertial></link></robot>"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert main(["info", str(odd)]) == 0
    said = capsys.readouterr()
    *above, last = said.out.split("warning: ")
    assert " ".join(last.split()).startswith('link "a": its principal moments') and not said.err
    assert len(above) == 1


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("robot", wd.robot_names())
def test_nothing_is_wider_than_80_columns(robot, base, monkeypatch, capsys):
    """This holds in a pipe and in a terminal of 80 columns. The output has every link, joint and
    limit."""
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["info", robot, "--base", base]) == 0
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 80
    model = wd.load_robot(robot, floating_base=base == "floating")
    for name in (*model.link_names, *model.q_names):
        assert name in said


def test_configurations_are_named(tmp_path, capsys):
    """They are those of an MJCF file: the drawn one, and its keyframes."""
    arm = tmp_path / "arm.xml"
    arm.write_text(
        '<mujoco><worldbody><body><joint/><geom size="0.1"/></body></worldbody>'
        '<keyframe><key name="home"/><key name="up" qpos="1"/></keyframe></mujoco>'
    )
    assert main(["info", str(arm)]) == 0
    assert "configurations: qpos0, home, up\n" in capsys.readouterr().out
