"""Derivatives of inverse dynamics: differences of the oracle, forward mode, kernels, Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from pinocchio_peer import Peer, in_pinocchio, pin
from robots import Robot, by_name, random_trees
from states import error, states, step

import warpdyn as wd

ROUND_OFF = {"float64": 1e-11, "float32": 1e-4}
"""Relative to the largest entry of the three matrices; the issue asks for 1e-10 and 1e-4."""

DIFFERENCES = 1e-8
"""Relative; central differences by 1e-5 lose 1e-10 to curvature and 1e-11 of the forces to rounding."""

H = 1e-5

KERNELS = (
    "panda",
    "rooted_floating",
    "balls",
    "mimic_branches",
    pytest.param("quadruped_floating", marks=pytest.mark.slow),
)


def differences(
    model: wd.Model, q: np.ndarray, v: np.ndarray, a: np.ndarray, **options
) -> list[np.ndarray]:
    """d tau of the first row by q, along v's coordinates, by v and by a."""
    n = model.nv
    rows = [np.tile(x[:1], (n, 1)) for x in (q, v, a)]
    options = {
        k: {link: np.tile(x[:1], (n, 1)) for link, x in f.items()} for k, f in options.items()
    }
    found = []
    for k in range(3):
        values = []
        for sign in (1, -1):
            there, d = list(rows), sign * H * np.eye(n)
            there[k] = step(model, rows[k], d) if k == 0 else rows[k] + d
            values.append(wd.oracle(wd.rnea, model, *there, **options))
        found.append(np.moveaxis((values[0] - values[1]) / (2 * H), 0, -1))
    return found


def test_derivatives_of_rnea_equal_finite_differences(robot: Robot) -> None:
    """Derivatives are compared along every coordinate of v with forces on links, and by v and a."""
    model, s = robot.model, states(robot.model, 1)
    forces = {model.link_names[-1]: s.forces[:, -1]}
    tau = wd.oracle(wd.rnea, model, s.q, s.v, s.a, f_ext=forces)
    found = wd.oracle(wd.rnea_derivatives, model, s.q, s.v, s.a, f_ext=forces)
    for x, y in zip(found, differences(model, s.q, s.v, s.a, f_ext=forces), strict=True):
        assert error(x[0], y, tau) <= DIFFERENCES
    assert error(found[2], wd.oracle(wd.crba, model, s.q)) <= ROUND_OFF["float64"]


@settings(max_examples=25)
@given(random_trees())
def test_derivatives_of_random_trees_equal_finite_differences(robot: Robot) -> None:
    """The same law on any tree."""
    if robot.model.nv:
        test_derivatives_of_rnea_equal_finite_differences(robot)


def test_the_recursion_equals_forward_mode(robot: Robot) -> None:
    """Forward mode differentiates the recorded rnea."""
    model, s = robot.model, states(robot.model, 2)
    if model.nv > 20:
        pytest.skip("forward mode of a large robot takes long")
    options = {"f_ext": {model.link_names[-1]: s.forces[:, -1]}, "gravity": s.gravity}
    wanted = wd.oracle(
        wd.derivatives, wd.rnea, model, s.q, s.v, s.a, wrt=("q", "v", "a"), **options
    )
    found = wd.oracle(wd.rnea_derivatives, model, s.q, s.v, s.a, **options)
    for x, y in zip(found, wanted, strict=True):
        assert error(x, y, *wanted) <= ROUND_OFF["float64"]


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_equal_the_oracle(name: str, run, dtype) -> None:
    """Both precisions are tested, with gravity and forces per environment."""
    model = by_name(name).model
    s = states(model).rounded(dtype)
    options = {"gravity": s.gravity, "f_ext": {model.link_names[-1]: s.forces[:, -1]}}
    wanted = wd.oracle(wd.rnea_derivatives, model, s.q, s.v, s.a, **options)
    found = run(wd.rnea_derivatives, model, s.q, s.v, s.a, dtype=dtype, **options)
    for x, y in zip(found, wanted, strict=True):
        assert error(x, y, *wanted) <= ROUND_OFF[str(dtype)]


@pytest.mark.parametrize("quantity", ["viscous", "stiffness", "damping", "spring"])
def test_derivatives_include_joint_effects(quantity: str) -> None:
    """Friction and limit springs, also beyond the limits."""
    model = by_name("mimic_branches").model.with_limits("wrist", lower=-0.1, upper=0.1)
    s = states(model, 2)
    params = model.params(
        **{quantity: {"wrist": np.array([3.0, 4.0]), "left_finger": np.array([0.5, 1.0])}}
    )
    wanted = wd.oracle(
        wd.derivatives, wd.rnea, model, s.q, s.v, s.a, wrt=("q", "v", "a"), params=params
    )
    found = wd.oracle(wd.rnea_derivatives, model, s.q, s.v, s.a, params=params)
    for x, y in zip(found, wanted, strict=True):
        assert error(x, y) <= ROUND_OFF["float64"]


def test_derivatives_include_gravity_compensation() -> None:
    """All columns are compared for different shares, one of them above 1."""
    model = by_name("mimic_branches").model.with_gravity_compensation(0.4)
    model = model.with_gravity_compensation({model.link_names[-1]: 1.5})
    s = states(model, 2)
    wanted = wd.oracle(
        wd.derivatives, wd.rnea, model, s.q, s.v, s.a, wrt=("q", "v", "a"), gravity=s.gravity
    )
    found = wd.oracle(wd.rnea_derivatives, model, s.q, s.v, s.a, gravity=s.gravity)
    for x, y in zip(found, wanted, strict=True):
        assert error(x, y, *wanted) <= ROUND_OFF["float64"]


# Pinocchio.


def peer_of(robot: Robot) -> Peer:
    """The robot in Pinocchio, if Pinocchio's derivatives are correct for it."""
    if any(len(joint.kind.parts) > 1 for joint in robot.model.joints):
        pytest.skip(
            "Pinocchio's derivatives take the motion subspace of a joint of two axes as constant; the law of "
            "differences holds for ours"
        )
    return in_pinocchio(robot)


def test_derivatives_of_rnea_equal_pinocchios(robot: Robot) -> None:
    """computeRNEADerivatives of the robot without mimic joints, reduced by G."""
    peer, s = peer_of(robot), states(robot.model, 2)
    found = wd.oracle(wd.rnea_derivatives, robot.model, s.q, s.v, s.a)
    data = peer.pin.createData()
    for e in range(2):
        by_q, by_v, M = pin.computeRNEADerivatives(
            peer.pin, data, peer.q(s.q[e]), peer.v(s.v[e]), peer.v(s.a[e])
        )
        wanted = [peer.square(x) for x in (by_q, by_v, np.triu(M) + np.triu(M, 1).T)]
        for x, y in zip(found, wanted, strict=True):
            assert error(x[e], y, *wanted) <= ROUND_OFF["float64"]


@pytest.mark.parametrize("name", ["panda", "quadruped_floating", "balls", "mimic_chain"])
def test_derivatives_with_forces_equal_pinocchios(name: str) -> None:
    """A force on the last link, which moves with it."""
    robot = by_name(name)
    peer, s, link = peer_of(robot), states(robot.model, 1), robot.model.link_names[-1]
    frame = peer.pin.frames[peer._frame(link)]
    forces = pin.StdVec_Force([pin.Force.Zero() for _ in range(peer.pin.njoints)])
    forces[frame.parentJoint] = frame.placement * pin.Force(s.forces[0, -1])
    found = wd.oracle(
        wd.rnea_derivatives, robot.model, s.q, s.v, s.a, f_ext={link: s.forces[:, -1]}
    )
    data = peer.pin.createData()
    by_q, *_ = pin.computeRNEADerivatives(
        peer.pin, data, peer.q(s.q[0]), peer.v(s.v[0]), peer.v(s.a[0]), forces
    )
    assert error(found[0][0], peer.square(by_q)) <= ROUND_OFF["float64"]


def test_pinocchios_derivatives_are_wrong_for_joints_of_two_axes() -> None:
    """The reason for skipping them: for that robot its derivatives are not those of its own forces,
    which equal ours.
    """
    robot = by_name("two_axes")
    model, s = robot.model, states(robot.model, 1)
    peer, n = in_pinocchio(robot), model.nv
    by_q, *_ = pin.computeRNEADerivatives(
        peer.pin, peer.pin.createData(), peer.q(s.q[0]), peer.v(s.v[0]), peer.v(s.a[0])
    )
    v, a = np.tile(s.v, (n, 1)), np.tile(s.a, (n, 1))
    ahead, behind = (
        peer.rnea(step(model, np.tile(s.q, (n, 1)), sign * H * np.eye(n)), v, a) for sign in (1, -1)
    )
    wanted = differences(model, s.q, s.v, s.a)[0]
    assert error(((ahead - behind) / (2 * H)).T, wanted) <= DIFFERENCES
    assert error(peer.square(by_q), wanted) > 1e-3
