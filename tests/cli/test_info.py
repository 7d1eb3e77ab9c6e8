"""`warpdyn info`: the tree, the limits, mimic joints and remarks as they are printed."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import warpdyn as wd
from warpdyn.cli.info import print_coordinates
from warpdyn.cli.main import main

PENDULUM = Path(__file__).parents[2] / "warpdyn" / "robots" / "double_pendulum.urdf"


def test_info_prints_the_tree_and_the_limits(capsys):
    """Links, limits and mimic joints of a bundled robot are all there."""
    assert main(["info", "panda"]) == 0
    said = capsys.readouterr().out
    assert (
        "panda_link7" in said
        and "-2.897" in said
        and "panda_finger_joint2 = 1 * panda_finger_joint1" in said
    )


def test_info_takes_a_path_and_a_floating_base(capsys):
    """ROBOT may be a file; a free base has seven coordinates of its name."""
    assert main(["info", str(PENDULUM), "--base", "floating"]) == 0
    assert "floating_base.qw" in capsys.readouterr().out


def test_info_needs_neither_rich_nor_matplotlib():
    """A description is read without loading what only tables and pictures need."""
    code = (
        "import sys; from warpdyn.cli.main import main; main(['info', 'cartpole']);"
        "sys.exit(any(m in sys.modules for m in ('rich', 'matplotlib')))"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode
        == 0
    )


def test_each_coordinate_has_its_line(capsys):
    """A line for each row of q, in order; the last part of a quaternion has no column of v."""
    model = wd.load_robot("quadruped")
    print_coordinates(model)
    lines = capsys.readouterr().out.splitlines()[2:]
    assert [line.split()[0] for line in lines] == [str(k) for k in range(model.nq)]
    assert [line[11:].split()[0] for line in lines] == list(model.q_names)
    assert [line[5:9].strip() for line in lines[5:8]] == ["5", "", "6"]


def test_what_looks_wrong_is_printed_last(tmp_path, capsys):
    """The remarks of the reader stand below the tables, on stdout."""
    odd = tmp_path / "odd.urdf"
    odd.write_text(
        "<robot name='w'><link name='a'><inertial><mass value='1'/>"
        "<inertia ixx='1' iyy='0.1' izz='0.1' ixy='0' ixz='0' iyz='0'/></inertial></link></robot>"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert main(["info", str(odd)]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines()[-1].startswith("warning: ") and not said.err
