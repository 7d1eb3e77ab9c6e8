"""Armature of free joints: along the world's axes, with the force of rotating axes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from mjcf_texts import MUJOCO, load
from mujoco_peer import Peer
from robots import by_name
from states import error, states

import warpdyn as wd

ROUND_OFF = 1e-12

HEAVY = {
    "base": replace(by_name("quadruped_floating").model, base_armature=0.7),
    "inside": by_name("free_inside").model.with_armature(0.3),
}
each_robot = pytest.mark.parametrize("model", HEAVY.values(), ids=HEAVY.keys())


@each_robot
def test_forward_dynamics_inverts_inverse_dynamics(model: wd.Model) -> None:
    """The methods are articulated bodies and the factorised mass matrix."""
    s = states(model, 2)
    for method in ("aba", "crba"):
        a = wd.oracle(wd.aba, model, s.q, s.v, s.tau, method=method)
        assert error(wd.oracle(wd.rnea, model, s.q, s.v, a), s.tau) < 1e-9


@each_robot
def test_velocity_products_equal_those_of_the_coriolis_matrix(model: wd.Model) -> None:
    """C v = h - g, and M's rate is C + C^T: without forces energy is constant."""
    s = states(model, 2)
    C = wd.oracle(wd.coriolis_matrix, model, s.q, s.v)
    h = wd.oracle(wd.bias_forces, model, s.q, s.v) - wd.oracle(wd.gravity_torques, model, s.q)
    assert error(np.einsum("eij,ej->ei", C, s.v), h) < ROUND_OFF


@each_robot
def test_derivatives_equal_those_by_forward_mode(model: wd.Model) -> None:
    """The recursion, compared with forward mode on rnea."""
    s = states(model, 1)
    wanted = wd.oracle(wd.derivatives, wd.rnea, model, s.q, s.v, s.a, wrt=("q", "v", "a"))
    for x, y in zip(wd.oracle(wd.rnea_derivatives, model, s.q, s.v, s.a), wanted, strict=True):
        assert error(x, y, *wanted) < ROUND_OFF


@each_robot
def test_the_momentum_rate_has_the_force_of_rotating_axes(model: wd.Model) -> None:
    """The observer reports no external force, because p' = tau + C^T v - g."""
    from warpdyn.algorithms.momentum_observer import joint_momentum
    from warpdyn.execution.request.evaluate import tree_of

    s, h = states(model, 1), 1e-6
    q, v, a = s.q[0], s.v[0], s.a[0]
    (_, turning), later, earlier = (
        joint_momentum(tree_of(model), (wd.oracle(wd.integrate, model, q, t * v)).tolist(), (v + t * a).tolist())
        for t in (0.0, h, -h)
    )  # fmt: skip
    rate = (np.array(later[0]) - np.array(earlier[0])) / (2 * h)
    tau = wd.oracle(wd.rnea, model, q, v, a)
    found = tau + np.array(turning) - wd.oracle(wd.gravity_torques, model, q)
    assert error(found, rate) < 1e-7


FALLING = """
<mujoco><default><joint armature="0.4"/></default><worldbody>
<body name="a" pos="0 0 1" euler="10 20 30"><joint name="root" type="free"/>
  <inertial pos="0.1 0.2 0.3" mass="2" diaginertia="0.1 0.2 0.25"/>
  <body name="b" pos="0.3 0 0"><joint name="k" axis="0 1 0"/>
    <inertial pos="0 0.2 0" mass="1" diaginertia="0.1 0.2 0.25"/></body></body>{}
</worldbody></mujoco>"""
OTHER = """<body name="c"><joint name="thrown" type="free" armature="0.9"/>
  <inertial pos="0 0 1" mass="0.5" diaginertia="0.1 0.1 0.1"/></body>"""


@pytest.mark.parametrize("more", ["", OTHER], ids=["base", "several"])
def test_armature_of_free_joints_equals_mujocos(more: str) -> None:
    """The mass matrix and the bias are compared, for a base and for several free bodies."""
    text = FALLING.format(more)
    model = load(text)
    assert model.floating_base == (not more) and not model.warnings
    peer, s = Peer(text, model), states(model, 3)
    for q, v in zip(s.q, s.v, strict=True):
        assert error(wd.oracle(wd.crba, model, q), peer.mass_matrix(q, v)) < MUJOCO
        assert error(wd.oracle(wd.rnea, model, q, v, 0 * v), peer.bias(q, v)) < MUJOCO
