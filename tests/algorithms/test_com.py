"""Centre of mass: laws on every robot, kernels compared with the oracle, Pinocchio."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from kernels import kernel_error
from pinocchio_frames import frames_in_pinocchio
from robots import Robot, by_name, random_trees
from states import error, states, step

import warpdyn as wd
from warpdyn.execution.request.evaluate import tree_of
from warpdyn.functions import com, kinematics
from warpdyn.model.tree import WORLD

ROUND_OFF = {"float64": 1e-13, "float32": 1e-5}
"""Relative to the largest entry: sums over some thirty links."""

DIFFERENCE = 3e-9
"""Relative; central differences with step 1e-5 lose 1e-10 to curvature and 1e-11 to rounding."""

H = 1e-5
"""Step of central differences [s]."""


def descendants(model: wd.Model, link: str) -> list[str]:
    return [link, *(name for child in model.children(link) for name in descendants(model, child))]


def weighted_mean(model: wd.Model, values: np.ndarray, links: Sequence[str]) -> np.ndarray:
    """Mean of values (B, nlinks, ..) weighted by mass."""
    rows = model.link_indices(links)
    mass = np.array([model.links[i].mass for i in rows])
    return np.einsum("l,el...->e...", mass, values[:, rows]) / mass.sum()


def with_mass(model: wd.Model) -> list[str | None]:
    """The whole robot, and some links with mass on them or beyond."""
    heavy = [
        name
        for name in model.link_names
        if sum(model.link(x).mass for x in descendants(model, name)) > 0
    ]
    return [None, *dict.fromkeys([heavy[0], heavy[len(heavy) // 2], heavy[-1]])] if heavy else []


@pytest.mark.parametrize(
    "name, dtype",
    [
        ("panda", "float32"),
        ("quadruped_floating", "float64"),
        ("mimic_chain", "float64"),
        ("rooted", "float32"),
    ],
)
def test_kernels_equal_the_oracle(name: str, dtype: str, device: str) -> None:
    model, near = by_name(name).model, ROUND_OFF[dtype]
    s = states(model)
    assert kernel_error(device, com.com, model, s.q, dtype=dtype) <= near
    assert kernel_error(device, com.com_velocity, model, s.q, s.v, dtype=dtype) <= near
    assert kernel_error(device, com.com_acceleration, model, s.q, s.v, s.a, dtype=dtype) <= near
    assert kernel_error(device, com.com_bias_acceleration, model, s.q, s.v, dtype=dtype) <= near
    assert kernel_error(device, com.com_jacobian, model, s.q, dtype=dtype) <= near
    assert kernel_error(device, com.link_coms, model, s.q, dtype=dtype) <= near
    last = model.link_names[-1]
    subtree = last if model.link(last).mass else model.link_names[1]
    assert kernel_error(device, com.com, model, s.q, dtype=dtype, subtree=subtree) <= near


def test_the_centre_of_mass_is_the_weighted_mean_over_links(robot: Robot) -> None:
    """sum m_i c_i / m over all links or a subtree, root-fixed ones included, with c_i from the
    links' poses.
    """
    model, q = robot.model, states(robot.model, 3).q
    T = wd.oracle(wd.fk, model, q)
    own = np.array([[*link.com, 1.0] for link in model.links])
    coms = wd.oracle(com.link_coms, model, q)
    assert (
        error(coms, np.einsum("elij,lj->eli", T, own)[..., :3], np.ones(1)) <= ROUND_OFF["float64"]
    )
    for subtree in with_mass(model):
        links = model.link_names if subtree is None else descendants(model, subtree)
        found = wd.oracle(com.com, model, q, subtree=subtree)
        assert error(found, weighted_mean(model, coms, links), coms) <= ROUND_OFF["float64"]


def test_the_jacobian_is_the_weighted_mean_of_jacobians(robot: Robot) -> None:
    """J = sum m_i J_i / m, with J_i at the links' centres of mass."""
    model, q = robot.model, states(robot.model, 2).q
    J = [
        wd.oracle(kinematics.jacobian, model, q, frame=link.name, point=link.com, part="linear")
        for link in model.links
    ]
    for subtree in with_mass(model):
        links = model.link_names if subtree is None else descendants(model, subtree)
        found = wd.oracle(com.com_jacobian, model, q, subtree=subtree)
        assert (
            error(found, weighted_mean(model, np.stack(J, 1), links), np.ones(1))
            <= ROUND_OFF["float64"]
        )


def test_velocity_and_acceleration_equal_those_of_the_jacobian(robot: Robot) -> None:
    """c' = J v, c'' = J a + J' v."""
    model, s = robot.model, states(robot.model, 3)
    for subtree in with_mass(model):
        J = wd.oracle(com.com_jacobian, model, s.q, subtree=subtree)
        velocity = wd.oracle(com.com_velocity, model, s.q, s.v, subtree=subtree)
        assert error(velocity, np.einsum("eij,ej->ei", J, s.v), np.ones(1)) <= ROUND_OFF["float64"]
        bias = wd.oracle(com.com_bias_acceleration, model, s.q, s.v, subtree=subtree)
        acceleration = wd.oracle(com.com_acceleration, model, s.q, s.v, s.a, subtree=subtree)
        assert (
            error(acceleration, np.einsum("eij,ej->ei", J, s.a) + bias, np.ones(1))
            <= ROUND_OFF["float64"]
        )


@settings(max_examples=30)
@given(random_trees())
def test_velocity_and_acceleration_equal_finite_differences(robot: Robot) -> None:
    """Differences of position and velocity along the motion are taken on any tree."""
    model, s = robot.model, states(robot.model, 1)
    for subtree in with_mass(model):
        points, speeds = [], []
        for t in (H, -H):
            q, v = step(model, s.q, t * s.v + t * t / 2 * s.a), s.v + t * s.a
            points.append(wd.oracle(com.com, model, q, subtree=subtree))
            speeds.append(wd.oracle(com.com_velocity, model, q, v, subtree=subtree))
        velocity = wd.oracle(com.com_velocity, model, s.q, s.v, subtree=subtree)
        acceleration = wd.oracle(com.com_acceleration, model, s.q, s.v, s.a, subtree=subtree)
        assert error(velocity, (points[0] - points[1]) / (2 * H), np.ones(1)) <= DIFFERENCE
        assert error(acceleration, (speeds[0] - speeds[1]) / (2 * H), np.ones(1)) <= 10 * DIFFERENCE


def test_gravity_acts_at_the_centre_of_mass(robot: Robot) -> None:
    """g(q) = -m J^T gravity, compared with inverse dynamics at rest."""
    model, s = robot.model, states(robot.model, 3)
    if not with_mass(model):
        return
    still = np.zeros_like(s.v)
    tau = wd.oracle(wd.rnea, model, s.q, still, still, gravity=s.gravity)
    J = wd.oracle(com.com_jacobian, model, s.q)
    wanted = -model.total_mass * np.einsum("eij,ei->ej", J, s.gravity)
    assert error(tau, wanted, np.full(1, model.total_mass)) <= ROUND_OFF["float64"]


def test_the_centre_of_mass_equals_pinocchios(robot: Robot) -> None:
    """centerOfMass and jacobianCenterOfMass omit root-fixed links, whose moments are added."""
    peer, model, s = frames_in_pinocchio(robot), robot.model, states(robot.model, 3)
    mass, moving, J = peer.moving_com(s.q, s.v, s.a)
    if not model.total_mass:
        return
    tree = tree_of(model)
    still = [name for name in model.link_names if tree.frames[name].body == WORLD]
    coms = wd.oracle(com.link_coms, model, s.q)
    moment = sum(
        (model.link(name).mass * coms[:, model.link_index(name)] for name in still),
        np.zeros((3, 3)),
    )
    position = wd.oracle(com.com, model, s.q) * model.total_mass
    assert error(position - moment, mass * moving[0], position) <= ROUND_OFF["float64"]
    velocity = wd.oracle(com.com_velocity, model, s.q, s.v) * model.total_mass
    assert error(velocity, mass * moving[1]) <= ROUND_OFF["float64"]
    acceleration = wd.oracle(com.com_acceleration, model, s.q, s.v, s.a) * model.total_mass
    assert error(acceleration, mass * moving[2]) <= ROUND_OFF["float64"]
    found = wd.oracle(com.com_jacobian, model, s.q) * model.total_mass
    assert error(found, mass * J, np.ones(1)) <= ROUND_OFF["float64"]


def test_root_fixed_links_have_mass() -> None:
    """The pedestal and the cabinet of `rooted` have 27 of its 28.8 kg and do not move."""
    model = by_name("rooted").model
    q = np.zeros((1, model.nq))
    coms = wd.oracle(com.link_coms, model, q)
    assert (
        error(com.com(model, q), weighted_mean(model, coms, model.link_names))
        <= ROUND_OFF["float64"]
    )
    arm = com.com_jacobian(model, q, subtree="arm") * sum(
        model.link(name).mass for name in ("arm", "tool", "tip")
    )
    assert error(com.com_jacobian(model, q) * model.total_mass, arm) <= ROUND_OFF["float64"]


def test_a_subtree_is_computed_in_the_world_frame() -> None:
    """Links of one body count separately: "tool" is fixed to "arm", and only "arm" is excluded."""
    model = by_name("rooted").model
    q = states(model, 3).q
    tool = com.com(model, q, subtree="tool")
    assert (
        error(tool, wd.oracle(com.link_coms, model, q)[:, model.link_index("tool")])
        <= ROUND_OFF["float64"]
    )
