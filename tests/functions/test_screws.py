"""Products of exponentials equal forward kinematics, and their inertias give the robot's dynamics."""

from __future__ import annotations

import numpy as np
import pytest
from robots import ROBOTS, Robot, by_name
from states import error, states

import warpdyn as wd
from warpdyn.execution.request.evaluate import tree_of
from warpdyn.functions.screws import Screws, screws

ROUND_OFF = 1e-13
"""Relative to the largest entry, or to 1: products of some ten matrices."""


def bracket(S: np.ndarray) -> np.ndarray:
    """[S], 4 by 4, of a screw with its angular part first (Modern Robotics 3.85)."""
    (x, y, z), v = S[:3], S[3:]
    return np.array([[0, -z, y, v[0]], [z, 0, -x, v[1]], [-y, x, 0, v[2]], [0, 0, 0, 0]])


def exponential(S: np.ndarray, angle: float) -> np.ndarray:
    """exp([S] angle) in closed form (Modern Robotics 3.88), for unit, scaled and sliding screws."""
    B, w = bracket(S), np.linalg.norm(S[:3])
    x = w * angle
    if w == 0.0:
        return np.eye(4) + B * angle
    B = B / w
    return np.eye(4) + x * B + (1 - np.cos(x)) * B @ B + (x - np.sin(x)) * B @ B @ B


def adjoint(T: np.ndarray) -> np.ndarray:
    """Angular part first (Modern Robotics 3.83)."""
    R, p = T[:3, :3], T[:3, 3]
    P = np.array([[0, -p[2], p[1]], [p[2], 0, -p[0]], [-p[1], p[0], 0]])
    return np.block([[R, np.zeros((3, 3))], [P @ R, R]])


def chain(robot: Robot) -> Screws:
    """The chain from the root, or the last joint with a quaternion, to the farthest link."""
    model, tree = robot.model, tree_of(robot.model)
    frame = max(model.link_names, key=lambda name: len(tree.path(tree.frames[name].body)))
    beyond = [joint.child for joint in model.joints if joint.kind.quaternion is not None]
    path = [name for name in beyond if tree.frames[name].body in tree.path(tree.frames[frame].body)]
    return screws(model, frame, base=path[-1] if path else None)


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_the_product_of_exponentials_equals_forward_kinematics(robot: Robot) -> None:
    """T_base_frame = Π exp([S_i] q_i) M = M Π exp([B_i] q_i)."""
    model, s, c = robot.model, states(robot.model, 2), chain(robot)
    T = wd.oracle(wd.fk, model, s.q)
    ends = [model.link_index(name) for name in (c.base, c.frame)]
    for q, at in zip(s.q, T, strict=True):
        wanted = np.linalg.inv(at[ends[0]]) @ at[ends[1]]
        space, body = np.eye(4), c.home
        for S, B, k in zip(c.space.T, c.body.T, c.columns, strict=True):
            space, body = space @ exponential(S, q[k]), body @ exponential(B, q[k])
        assert error(space @ c.home, wanted) <= ROUND_OFF and error(body, wanted) <= ROUND_OFF
    assert error(adjoint(c.home) @ c.body, c.space, np.ones(1)) <= ROUND_OFF


def newton_euler(c: Screws, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Joint forces from home poses, screws and inertias only (Modern Robotics 8.57 to 8.60)."""
    n, homes = len(c.columns), c.com_homes
    steps = [np.linalg.inv(homes[i - 1] if i else np.eye(4)) @ homes[i] for i in range(n)]
    A = [adjoint(np.linalg.inv(homes[i])) @ c.space[:, i] for i in range(n)]
    V, dV, X = [], [], []
    twist, rate = np.zeros(6), np.array([0, 0, 0, 0, 0, 9.81])
    for i in range(n):
        T = exponential(-A[i], q[i]) @ np.linalg.inv(steps[i])
        X.append(adjoint(T))
        twist_above = X[i] @ twist
        twist = twist_above + A[i] * v[i]
        rate = X[i] @ rate + cross(twist) @ A[i] * v[i] + A[i] * a[i]
        V.append(twist)
        dV.append(rate)
    tau, F = np.zeros(n), np.zeros(6)
    for i in reversed(range(n)):
        carried = X[i + 1].T @ F if i + 1 < n else 0.0
        F = carried + c.inertias[i] @ dV[i] - cross(V[i]).T @ (c.inertias[i] @ V[i])
        tau[i] = F @ A[i]
    return tau


def cross(V: np.ndarray) -> np.ndarray:
    """ad_V (Modern Robotics 8.39)."""
    w, u = (
        bracket(np.hstack([V[:3], np.zeros(3)]))[:3, :3],
        bracket(np.hstack([V[3:], np.zeros(3)]))[:3, :3],
    )
    return np.block([[w, np.zeros((3, 3))], [u, w]])


@pytest.mark.parametrize("name", ["ur5e", "axes", "slides", "rooted", "double_pendulum"])
def test_newton_euler_on_screws_equals_rnea(name: str) -> None:
    """The robots are serial chains."""
    model, s, c = by_name(name).model, states(by_name(name).model, 2), chain(by_name(name))
    assert c.columns == tuple(range(model.nq))
    wanted = wd.oracle(wd.rnea, model, s.q, s.v, s.a)
    found = np.array([newton_euler(c, *rows) for rows in zip(s.q, s.v, s.a, strict=True)])
    assert error(found, wanted) <= 1e-12


@pytest.mark.parametrize("name", ["planar", "planar_slanted"])
def test_screws_of_planar_joints_take_the_rates_of_q(name: str) -> None:
    """The velocity of a planar joint has the axes of its child: dq/dt = G v, and tau = Gᵀ times the
    forces along q."""
    model, s, c = by_name(name).model, states(by_name(name).model, 2), chain(by_name(name))
    assert c.columns == tuple(range(model.nq))
    wanted = wd.oracle(wd.rnea, model, s.q, s.v, s.a)
    flat = [model.coordinates[j.name].q.start for j in model.moving_joints if j.kind.nv == 3]
    for q, v, a, tau in zip(s.q, s.v, s.a, wanted, strict=True):
        G = np.array(wd.configuration_rate(model, np.tile(q, (len(v), 1)), np.eye(len(v)))).T
        rates, changes = G @ v, G @ a
        for k in flat:  # G turns with the angle of the joint
            changes[k : k + 2] += v[k + 2] * np.array([-rates[k + 1], rates[k]])
        assert error(G.T @ newton_euler(c, q, rates, changes), tau) <= 1e-12


def test_a_joint_of_three_coordinates_carries_its_body_once() -> None:
    """The screws before its last one carry none."""
    model, c = by_name("planar").model, chain(by_name("planar"))
    last = [model.coordinates[joint.name].q.stop - 1 for joint in model.moving_joints]
    masses = np.array(c.inertias)[:, 5, 5]
    assert [k for k, mass in zip(c.columns, masses, strict=True) if mass] == last
    carried = [model.link(joint.child).mass for joint in model.moving_joints]
    assert masses[masses > 0.0].tolist() == pytest.approx(carried)


def test_screws_of_the_ur5e_equal_those_by_hand() -> None:
    """Axes of a UR arm: up, three times the same horizontal, up or down, that horizontal (Modern
    Robotics 4.1.2).
    """
    model = by_name("ur5e").model
    c = screws(model, "tool0")
    w = c.space[:3].T
    assert (
        np.allclose(np.abs(w[[0, 4]]), [0, 0, 1])
        and np.allclose(w[1:4], w[1])
        and np.allclose(w[5], w[1])
    )
    assert np.allclose(c.space[3:, 0], 0) and c.names == model.joint_names
    assert np.allclose(np.sum(c.space[:3] * c.space[3:], axis=0), 0)  # v = -ω × p: no pitch


def test_screws_of_a_leg_are_in_the_floating_bases_frame() -> None:
    """Wherever the base is."""
    robot = by_name("quadruped_floating")
    c = chain(robot)
    assert c.base == robot.model.root and min(c.columns) >= 7


def test_chains_with_quaternions_and_wrong_bases_are_refused() -> None:
    """Joints with quaternions between base and frame, and a base that is not on the path."""
    model = by_name("free_inside").model
    with pytest.raises(ValueError, match='joint "thrown" has 7 coordinates for 6 velocities'):
        screws(model, "flap")
    assert screws(model, "flap", base="ball").names == ("hinge",)
    with pytest.raises(ValueError, match='"b1" does not carry link "a2"'):
        screws(by_name("branches").model, "a2", base="b1")
    with pytest.raises(KeyError, match="no link named 'nose'"):
        screws(model, "nose")


def test_axes_and_points_give_the_screws_of_a_chain() -> None:
    """S = [ω, -ω × p] of each axis at q = 0, for any point on the axis."""
    model = wd.load_robot("ur5e")
    whole = screws(model, "tool0")
    poses = wd.oracle(wd.fk, model, model.neutral)
    joints = [model.joint(name) for name in whole.names]
    frames = [poses[model.link_index(joint.child)] for joint in joints]
    axes = np.array([T[:3, :3] @ joint.axis for T, joint in zip(frames, joints, strict=True)])
    points = np.array([T[:3, 3] for T in frames]) + 0.7 * axes
    assert error(wd.screw_axes(axes, points), whole.space) <= ROUND_OFF
    with pytest.raises(ValueError, match=r"both be \(n, 3\), got \(6, 3\) and \(3,\)"):
        wd.screw_axes(axes, points[0])


@pytest.mark.parametrize(
    ("axes", "points"), [((3,), (3,)), ((2, 2), (2, 2)), ((2, 3), (3, 3)), ((1, 2, 3), (1, 2, 3))]
)
def test_axes_and_points_must_be_rows_of_three(
    axes: tuple[int, ...], points: tuple[int, ...]
) -> None:
    with pytest.raises(ValueError, match=r"^axes and points must both be \(n, 3\), got \("):
        wd.screw_axes(np.zeros(axes), np.zeros(points))
    assert wd.screw_axes(np.zeros((0, 3)), np.zeros((0, 3))).shape == (6, 0)


def test_axes_may_have_any_length() -> None:
    """A screw turns about a direction; one turn is 2π rad whatever its length."""
    points = np.array([[1.0, 0.0, 0.0], [0.0, 0.3, 0.1]])
    axes = np.array([[0.0, 0.0, 1.0], [0.6, 0.0, 0.8]])
    longer = wd.screw_axes(axes * [[2.0], [0.1]], points)
    assert error(longer, wd.screw_axes(axes, points)) <= ROUND_OFF
    for wrong in (0.0, np.nan):
        with pytest.raises(ValueError, match="axes must be finite and not zero"):
            wd.screw_axes(axes * [[1.0], [wrong]], points)
