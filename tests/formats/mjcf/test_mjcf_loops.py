"""Closed loops of MJCF: their bodies and frames, compared with MuJoCo's constraint errors."""

from __future__ import annotations

import warnings

import mujoco
import numpy as np
import pytest

import warpdyn as wd
from warpdyn.model.names import ModelError, ModelWarning

BODIES = """<mujoco><worldbody>
<body name="a" pos=".1 .2 .3" euler="10 20 30"><joint name="p" axis="0 1 0" ref="0.3"/>
 <inertial pos="0 0 .1" mass="1" diaginertia=".1 .1 .1"/><site name="s" pos=".1 0 .2" euler="0 40 0"/>
 <body name="a2" pos="0 0 .4"><joint name="r" axis="1 0 0"/>
  <inertial pos="0 0 .1" mass="1" diaginertia=".1 .1 .1"/></body></body>
<body name="b" pos="-.2 .1 .5" euler="50 0 10"><joint name="q" axis="1 0 0"/>
 <inertial pos="0 .1 0" mass="2" diaginertia=".2 .1 .1"/><frame pos="0 .1 0"><site name="t" pos="0 .3 .1"/>
 </frame></body></worldbody><equality>{}</equality></mujoco>"""


def load(inside: str) -> wd.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return wd.load_mjcf(BODIES.format(inside))


def residual(inside: str, q: np.ndarray) -> np.ndarray:
    """MuJoCo's positions of a constraint's rows at q."""
    model = mujoco.MjModel.from_xml_string(BODIES.format(inside))
    data = mujoco.MjData(model)
    for name, x in zip("prq", q, strict=True):
        data.qpos[model.joint(name).qposadr[0]] = x
    mujoco.mj_forward(model, data)
    return data.efc_pos[: data.ne].copy()


def error_lengths(values: np.ndarray) -> list[float]:
    """Length of the position error, and of the rotation vector."""
    return [float(np.linalg.norm(values[k : k + 3])) for k in range(0, len(values), 3)]


CONNECTS = (
    '<connect body1="a2" body2="b" anchor=".1 .2 .3"/>',
    '<connect body1="b" anchor="0 .2 .1"/>',
    '<connect site1="s" site2="t"/>',
    '<weld body1="a2" body2="b" torquescale="0"/>',
)
WELDS = (
    '<weld body1="a2" body2="b"/>',
    '<weld body1="a2" body2="b" anchor=".1 .2 .3"/>',
    '<weld body1="a2" body2="b" anchor=".1 0 .2" relpose=".1 .2 .3 .5 .5 -.5 .5"/>',
    '<weld body1="b"/>',
    '<weld site1="s" site2="t"/>',
)


@pytest.mark.parametrize("inside", [*CONNECTS, *WELDS])
def test_loop_errors_equal_mujocos(inside: str) -> None:
    """The length of the gap, and of the rotation (MuJoCo's is the quaternion's vector part)."""
    model = load(inside)
    assert model.loops[0].kind == ("weld" if inside in WELDS else "connect")
    for q in ([0.3, 0.0, 0.0], [0.5, -0.2, 0.4], [-0.1, 0.3, 0.2]):
        truth = residual(inside, np.array(q))
        mine = wd.oracle(wd.loops.errors, model, np.array(q))
        gap, *turn = error_lengths(mine)
        assert gap == pytest.approx(error_lengths(truth)[0], abs=1e-9)
        if turn:
            assert np.sin(turn[0] / 2) == pytest.approx(error_lengths(truth)[1], abs=1e-9)


def test_polynomials_of_coupled_joints_equal_mujocos() -> None:
    """One side has powers of q2 - ref2, the other q1 - ref1."""
    inside = '<joint joint1="q" joint2="p" polycoef=".1 .5 -.3 .2 .7"/>'
    model = load(inside)
    (loop,) = model.loops
    assert loop.kind == "joint" and model.joint_names == ("p", "r", "q")
    for q in ([0.3, 0.0, 0.0], [0.5, -0.2, 0.4]):
        truth = residual(inside, np.array(q))
        mine = wd.oracle(wd.loops.errors, model, np.array(q))
        assert abs(mine[0]) == pytest.approx(abs(truth[0]), abs=1e-12)


def test_the_second_constraint_on_a_joint_is_a_loop() -> None:
    """The first is a mimic joint."""
    model = load('<joint joint1="p" joint2="q"/><joint name="n" joint1="p" joint2="r"/>')
    assert model.joint("p").mimic is not None and model.joint_names == ("r", "q")
    assert model.loops[0].name == "n"
    at = np.array([0.2, 0.2])
    assert abs(wd.oracle(wd.loops.errors, model, at)[0]) < 1e-12
    # With the joint locked, a coupling to it is a constant.
    held = load('<joint joint1="p"/><joint joint1="r" joint2="p" polycoef="0 0 1"/>')
    assert held.loops[0].second is None


def test_incomplete_constraints_are_refused() -> None:
    """The message names what is missing."""
    for inside, said in (
        ('<connect body1="a" body2="b"/>', "it has no anchor"),
        ('<connect body2="b" anchor="0 0 0"/>', "it has no body1"),
        ('<connect body1="a" body2="z" anchor="0 0 0"/>', 'body2 "z" does not exist'),
        ('<connect body1="a" body2="a" anchor="0 0 0"/>', 'body1 and body2 are both "a"'),
        ('<weld site1="s"/>', "it has no site2"),
        ('<weld site1="s" site2="u"/>', 'site2 "u" does not exist'),
    ):
        with pytest.raises(ModelError, match=said):
            load(inside)


def test_one_remark_says_that_loops_are_kept_and_rigid() -> None:
    """It lists the names of all loops of the file."""
    inside = '<connect name="c" body1="a" body2="b" anchor="0 0 0" solref=".01 1"/>'
    with pytest.warns(ModelWarning, match="closed loops are kept .connect c of a and b.") as said:
        wd.load_mjcf(BODIES.format(inside))
    assert "ignored solref and solimp of <connect>, which is rigid here" in str(said[0].message)
    assert load(inside.replace("/>", ' active="false"/>')).loops == ()


def test_a_free_base_can_be_connected_to_the_world() -> None:
    """The world is not a link then."""
    text = """<mujoco><worldbody><body name="a" pos="0 0 1"><freejoint/>
    <inertial pos="0 0 0" mass="1" diaginertia=".1 .1 .1"/></body></worldbody>
    <equality><connect body1="a" anchor="0 0 .5"/></equality></mujoco>"""
    with pytest.warns(ModelWarning, match="connect of a and the world"):
        model = wd.load_mjcf(text)
    assert model.floating_base and model.loops[0].second_pose.position == (0, 0, 1.5)
