"""`warpdyn check`: agreement is exit code 0, a difference that is too large 1, nobody to ask 2."""

from __future__ import annotations

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.cli import accuracy
from warpdyn.cli.check import Difference, compare, table
from warpdyn.cli.main import main
from warpdyn.peers import find_peers


@pytest.mark.parametrize("robot", ["double_pendulum", "quadruped"])
def test_check_agrees_with_the_peers(robot, capsys):
    """Both libraries read the bundled robots as warpdyn does."""
    pytest.importorskip("pinocchio")
    pytest.importorskip("mujoco")
    assert main(["check", robot]) == 0
    said = capsys.readouterr().out
    assert "Pinocchio" in said and "MuJoCo" in said and "not compared" not in said


def test_check_fails_where_a_difference_is_too_large(monkeypatch, capsys):
    """A difference above its limit is marked, and the exit code says so."""
    pytest.importorskip("pinocchio")
    monkeypatch.setitem(accuracy.LIMITS, "float32", 0.0)
    assert main(["check", "double_pendulum"]) == 1
    assert "too large" in capsys.readouterr().out


def test_other_formats_are_given_to_peers_as_urdf(tmp_path, capsys):
    """MJCF is written as URDF for libraries that read no other; what URDF cannot say is a reason."""
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


def test_nobody_to_compare_with_is_an_error(monkeypatch, capsys):
    """Without any peer the exit code is 2, and each missing library is named with its package."""
    monkeypatch.setattr(find_peers, "find_spec", lambda name: None)
    assert main(["check", "double_pendulum"]) == 2
    said = capsys.readouterr()
    assert "MuJoCo is not installed (pip install mujoco)" in said.out
    assert said.err == "warpdyn: error: there is no other library to compare with\n"


def test_every_algorithm_meets_every_peer():
    """compare() asks each peer for all five algorithms in both precisions."""

    class Nothing:
        """Zeros of the right shapes."""

        name = "nothing"

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


def test_the_table_marks_what_is_too_large():
    """A cell holds the difference, "not defined" where there is none, and a mark where it fails."""
    rows = [
        Difference("rnea", "p", "float32", 1e-7),
        Difference("crba", "p", "float32", 1e-3),
        Difference("aba", "p", "float32", refusal="no inverse"),
    ]
    cells = list(table("title", rows).columns[1].cells)
    assert cells == ["1.0e-07", "[red]1.0e-03 too large[/red]", "not defined"]
    assert [d.passes for d in rows] == [True, False, True]
