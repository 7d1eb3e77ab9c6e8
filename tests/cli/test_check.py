"""`warpdyn check`: exit code 0 for agreement, 1 for a large difference. Without a peer the oracle
is compared."""

from __future__ import annotations

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.cli import accuracy
from warpdyn.cli import check as check_command
from warpdyn.cli.check import Difference, compare, table
from warpdyn.cli.command_line import robot_file
from warpdyn.cli.console import show
from warpdyn.cli.main import main
from warpdyn.cli.workload import ARGUMENTS
from warpdyn.peers import find_peers
from warpdyn.peers.peer import NotComparable


@pytest.mark.parametrize("robot", ["double_pendulum", "quadruped"])
def test_check_agrees_with_the_peers(robot, capsys):
    """Both libraries read the bundled robots as warpdyn does."""
    pytest.importorskip("pinocchio")
    pytest.importorskip("mujoco")
    assert main(["check", robot]) == 0
    said = capsys.readouterr().out
    assert "Pinocchio" in said and "MuJoCo" in said and "not compared" not in said


def test_check_fails_if_a_difference_is_too_large(monkeypatch, capsys):
    """The difference is marked, and the exit code is 1."""
    pytest.importorskip("pinocchio")
    monkeypatch.setitem(accuracy.LIMITS, "float32", 0.0)
    assert main(["check", "double_pendulum"]) == 1
    assert "too large" in capsys.readouterr().out


def test_peers_get_other_formats_as_urdf(tmp_path, capsys):
    """MJCF is written as URDF for libraries that read no other format. If URDF cannot express the
    robot, the reason is printed."""
    pytest.importorskip("pinocchio")
    text = """<mujoco model="arm"><worldbody><body name="upper" pos="0 0 1">
      <joint name="shoulder" type="hinge" axis="0 1 0" {}/>
      <inertial pos="0.1 0 0.2" mass="2" diaginertia="0.02 0.03 0.025"/></body></worldbody></mujoco>"""
    arm = tmp_path / "arm.xml"
    arm.write_text(text.format(""))
    assert main(["check", str(arm)]) == 0
    arm.write_text(text.format('armature="0.1"'))
    assert (
        main(["bench", str(arm), "--batch", "4", "--algorithm", "rnea", "--peers", "pinocchio"])
        == 0
    )
    said = capsys.readouterr().out
    assert "left out: Pinocchio is given URDF" in said and "armature" in said


def test_without_peers_the_oracle_is_compared(monkeypatch, capsys):
    """Each missing library is named with its package, and a line says what is compared."""
    monkeypatch.setattr(find_peers, "find_spec", lambda name: None)
    assert main(["check", "double_pendulum"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "MuJoCo is not installed (pip install mujoco)" in said
    assert "its kernels are compared with the oracle" in said and "the oracle's M and h" in said
    monkeypatch.setitem(accuracy.LIMITS, "float32", 0.0)
    assert main(["check", "double_pendulum"]) == 1
    assert "too large" in capsys.readouterr().out


SCENE = """<mujoco model="scene"><include file="arm.xml"/>
  <asset><mesh name="m" file="not_there.stl"/></asset>
  <worldbody><geom type="plane" size="1 1 0.1"/><body pos="0 0 1"><freejoint/>
    <geom type="box" size="0.1 0.2 0.3" density="300"/></body></worldbody></mujoco>"""

ARM = """<mujoco><compiler angle="radian"/><worldbody><body name="upper" pos="0 0 1">
  <joint name="shoulder" armature="0.3" damping="2" stiffness="1" ref="0.2"/><joint axis="0 1 0"/>
  <joint name="held" type="slide" axis="1 0 0"/>
  <inertial pos="0.1 0 0.2" mass="2" diaginertia="0.02 0.03 0.025"/><geom type="mesh" mesh="m"/>
  <body euler="0 0.5 0"><joint name="ball" type="ball" pos="0.1 0 0"/><geom size="0.1" pos="0 0 0.3"/>
    <site name="tip" pos="0 0 0.4"/></body>
  </body></worldbody>
  <equality><joint joint1="held" polycoef="0.25"/></equality>
  <actuator><motor joint="shoulder"/></actuator></mujoco>"""


def test_an_mjcf_file_is_read_by_mujoco_itself(tmp_path, capsys):
    """It has included files, armature, ball and free joints, unnamed bodies and joints, and a
    constrained joint. A massless mesh is left out."""
    pytest.importorskip("mujoco")
    (tmp_path / "scene.xml").write_text(SCENE)
    (tmp_path / "arm.xml").write_text(ARM)
    assert main(["check", str(tmp_path / "scene.xml")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "not compared: Pinocchio" in said and "not compared: MuJoCo" not in said
    assert "MuJoCo 4" in said or "MuJoCo 3" in said
    assert "has no poses of 3 links (upper:shoulder" in said


@pytest.mark.parametrize("robot", wd.robot_names())
def test_the_table_fits_80_columns(robot, monkeypatch, capsys):
    """This holds for any robot, and no text is cut."""
    monkeypatch.setenv("COLUMNS", "80")
    names = [p.name for p in find_peers.find_peers(wd.load_robot(robot), robot_file(robot))[0]]
    rows = [
        Difference(algorithm, name, dtype, 1.234e-3)
        for name in names
        for dtype in accuracy.LIMITS
        for algorithm in ARGUMENTS
    ]
    show(table(rows))
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 80 and "…" not in said
    assert said.count("1.2e-03 too large") == len(rows)


def test_every_algorithm_is_compared_with_every_peer():
    """compare() calls each peer for all five algorithms in both precisions."""

    class Nothing:
        """Zeros of the right shapes."""

        name = "nothing"

        @property
        def links(self):
            return model.link_names

        def fk(self, q):
            return np.zeros((model.nlinks, 4, 4))

        def jacobian(self, q, frame):
            return np.zeros((6, model.nv))

        def crba(self, q):
            return np.zeros((model.nv, model.nv))

        def rnea(self, q, v, a):
            return np.zeros(model.nv)

    model = wd.load_robot("cartpole")
    differences = compare(model, [Nothing()])
    asked = {(d.algorithm, d.dtype) for d in differences}
    assert asked == {
        (a, d) for a in ("fk", "jacobian", "crba", "rnea", "aba") for d in accuracy.LIMITS
    }
    assert not any(d.passes for d in differences)


def test_the_table_marks_large_differences():
    """A cell has the difference, or "not defined", and a mark if it is too large."""
    rows = [
        Difference("rnea", "p", "float32", 1e-7),
        Difference("crba", "p", "float32", 1e-3),
        Difference("aba", "p", "float32", refusal="not defined: no inverse"),
    ]
    cells = list(table(rows).columns[3].cells)
    assert cells == ["1.0e-07", "[red]1.0e-03 too large[/red]", "not defined"]
    assert [d.passes for d in rows] == [True, False, True]


def test_comparisons_that_are_not_made_are_reported(tmp_path, capsys, monkeypatch):
    """The robot may have no joints, the algorithm may not be defined for it, or the peer may have
    no result."""
    still = tmp_path / "still.urdf"
    still.write_text('<robot name="still"><link name="a"/></robot>')
    assert main(["check", str(still)]) == 2
    assert "still has no moving joint: nothing to compare" in capsys.readouterr().err
    monkeypatch.setattr(find_peers, "find_spec", lambda name: None)
    light = tmp_path / "light.urdf"
    light.write_text(
        '<robot name="light"><link name="a"/><link name="b"/><joint name="j" type="continuous">'
        '<parent link="a"/><child link="b"/></joint></robot>'
    )
    assert main(["check", str(light)]) == 0
    said = capsys.readouterr().out
    (line,) = (line for line in said.splitlines() if line.startswith("aba: not defined"))
    assert "moves no inertia" in line and "crba: not defined" not in said


def test_a_peer_that_cannot_compare_is_reported_with_its_reason(monkeypatch):
    """The other algorithms are compared."""

    class Silent:
        name = "silent"
        links = ("cart",)

    def answer(peer, work, frame):
        if work.algorithm == "crba":
            raise NotComparable("it has no inertias")
        return 0.0

    monkeypatch.setattr(check_command, "difference_from", answer)
    found = compare(wd.load_robot("cartpole"), [Silent()], "cart")
    reasons = {d.algorithm: d.refusal for d in found}
    assert reasons["crba"] == "not compared: it has no inertias" and all(d.passes for d in found)
    assert not any(reason for name, reason in reasons.items() if name != "crba")
