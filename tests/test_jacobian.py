"""Jacobians: laws on every robot, the oracle, Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from pinocchio_peer import in_pinocchio
from robots import ROBOTS, Robot, by_name, random_trees
from states import error, reduction, states, step, without_mimic

import warpdyn as wd
from warpdyn.call import tree_of

ROUND_OFF = {"float64": 1e-13, "float32": 5e-6}
"""Relative to the largest entry: motions are moved along some ten joints."""

DIFFERENCE = 1e-9
"""Relative; central differences with step 1e-5 lose 1e-10 to curvature and 1e-11 to rounding."""

H = 1e-5
"""Step of central differences [s]."""

REFERENCES = ("local", "world", "local_world_aligned")


def farthest(model: wd.Model) -> str:
    """The link with the most joints between it and the root."""
    tree = tree_of(model)
    return max(model.link_names, key=lambda name: len(tree.path(tree.frames[name].body)))


def twists(model: wd.Model, q: np.ndarray, v: np.ndarray, link: int) -> dict[str, np.ndarray]:
    """d/dt fk as a twist in each reference, by central differences of the oracle along the motion v."""
    T = wd.oracle(wd.fk, model, q)[:, link]
    later, earlier = (wd.oracle(wd.fk, model, step(model, q, t * v))[:, link] for t in (H, -H))
    rate = (later - earlier) / (2 * H)
    R, p = T[:, :3, :3], T[:, :3, 3]
    spin = rate[:, :3, :3] @ R.transpose(0, 2, 1)
    angular = (
        np.stack([spin[:, 2, 1] - spin[:, 1, 2], spin[:, 0, 2] - spin[:, 2, 0], spin[:, 1, 0] - spin[:, 0, 1]], 1) / 2
    )
    linear = rate[:, :3, 3]
    back = R.transpose(0, 2, 1)
    return {
        "local": np.hstack([np.einsum("eij,ej->ei", back, linear), np.einsum("eij,ej->ei", back, angular)]),
        "world": np.hstack([linear + np.cross(p, angular), angular]),
        "local_world_aligned": np.hstack([linear, angular]),
    }


def test_jacobian_matches_the_oracle(robot: Robot, run, dtype) -> None:
    """The kernel gives what the same text gives on float64 numbers, for the link farthest from the root."""
    s = states(robot.model).rounded(dtype)
    frame = farthest(robot.model)
    wanted = wd.oracle(wd.jacobian, robot.model, s.q, frame=frame)
    assert error(run(wd.jacobian, robot.model, s.q, frame=frame, dtype=dtype), wanted) <= ROUND_OFF[str(dtype)]


def test_jacobian_times_velocity_is_the_rate_of_the_pose(robot: Robot) -> None:
    """J v = d/dt fk in every reference, for every link (the oracle's, which kernels match)."""
    model, s = robot.model, states(robot.model, 2)
    links = range(model.nlinks) if model.nlinks < 12 else range(0, model.nlinks, 5)
    for i in links:
        wanted = twists(model, s.q, s.v, i)
        for reference in REFERENCES:
            J = wd.oracle(wd.jacobian, model, s.q, frame=model.link_names[i], reference=reference)
            found = np.einsum("eij,ej->ei", J, s.v)
            assert error(found, wanted[reference], np.abs(J), np.ones(1)) <= DIFFERENCE


@pytest.mark.parametrize(
    "name", ["panda", "planar_slanted", "free_inside_wxyz", "mimic_branches", "quadruped_floating"]
)
def test_references_are_one_motion_in_three_frames(name: str, run) -> None:
    """local_world_aligned = R local; world = local_world_aligned moved to the world's origin."""
    model = by_name(name).model
    q, frame = states(model).q, farthest(by_name(name).model)
    local, world, mixed = (run(wd.jacobian, model, q, frame=frame, reference=r) for r in REFERENCES)
    T = run(wd.fk, model, q, frame=frame)
    R, p = T[:, None, :3, :3], T[:, None, :3, 3]
    turned = np.concatenate(
        [(R @ J.transpose(0, 2, 1)[..., None])[..., 0] for J in (local[:, :3], local[:, 3:])], axis=2
    )
    assert error(mixed, turned.transpose(0, 2, 1)) <= ROUND_OFF["float64"]
    columns = mixed.transpose(0, 2, 1)
    moved = np.concatenate([columns[..., :3] + np.cross(p, columns[..., 3:]), columns[..., 3:]], axis=2)
    assert error(world, moved.transpose(0, 2, 1)) <= ROUND_OFF["float64"]
    for alias, J in (("body", local), ("inertial", world), ("mixed", mixed)):
        assert np.array_equal(run(wd.jacobian, model, q, frame=frame, reference=alias), J)


def test_local_world_aligned_is_the_default(run) -> None:
    """Without reference=, as the design says."""
    model = by_name("ur5e").model
    q, frame = states(model).q, farthest(model)
    default = run(wd.jacobian, model, q, frame=frame)
    assert np.array_equal(default, run(wd.jacobian, model, q, frame=frame, reference="local_world_aligned"))


def test_a_link_that_never_moves_has_no_jacobian(run) -> None:
    """J of a root-fixed link is exactly zero."""
    model = by_name("rooted").model
    q = states(model).q
    for reference in REFERENCES:
        assert not np.any(run(wd.jacobian, model, q, frame="cabinet", reference=reference))


def test_columns_of_joints_elsewhere_are_zero(robot: Robot, run) -> None:
    """Only joints between the root and the link move it."""
    model = robot.model
    tree, frame = tree_of(model), farthest(model)
    moving = {k for i in tree.path(tree.frames[frame].body) for k in tree.bodies[i].v_index}
    J = run(wd.jacobian, model, states(model).q, frame=frame)
    still = [k for k in range(model.nv) if k not in moving]
    assert not np.any(J[:, :, still]) and all(np.any(J[:, :, k]) for k in moving)


@pytest.mark.parametrize("robot", [r for r in ROBOTS if r.has_mimic], ids=lambda r: r.name)
def test_mimic_is_the_reduction_of_the_free_robot(robot: Robot, run) -> None:
    """J = J_full(G q + g) G."""
    Gq, Gv, g = reduction(robot.model)
    q, frame = states(robot.model).q, robot.model.link_names[-1]
    J_full = wd.oracle(wd.jacobian, without_mimic(robot.model), q @ Gq.T + g, frame=frame)
    assert error(run(wd.jacobian, robot.model, q, frame=frame), J_full @ Gv, J_full) <= ROUND_OFF["float64"]


@settings(max_examples=40)
@given(random_trees())
def test_random_trees_move_as_their_jacobian_says(robot: Robot) -> None:
    """On any tree: J v = d/dt fk for the last link, in every reference."""
    model, s = robot.model, states(robot.model, 1)
    wanted = twists(model, s.q, s.v, model.nlinks - 1)
    for reference in REFERENCES:
        J = wd.oracle(wd.jacobian, model, s.q, frame=model.link_names[-1], reference=reference)
        assert error(np.einsum("eij,ej->ei", J, s.v), wanted[reference], np.abs(J), np.ones(1)) <= DIFFERENCE


def test_jacobian_matches_pinocchio(robot: Robot) -> None:
    """Pinocchio's frame Jacobians in every reference, every third link (the oracle's, which kernels match)."""
    peer, q = in_pinocchio(robot), states(robot.model, 3).q
    for frame in robot.model.link_names[::3]:
        for reference in REFERENCES:
            found = wd.oracle(wd.jacobian, robot.model, q, frame=frame, reference=reference)
            assert error(found, peer.jacobian(q, frame, reference), np.ones(1)) <= ROUND_OFF["float64"]
