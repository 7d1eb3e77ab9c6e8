"""Jacobians: laws on every robot, the oracle, Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from kernels import kernel_error
from pinocchio_peer import in_pinocchio
from robots import ROBOTS, Robot, by_name, random_trees
from states import error, reduction, states, step, without_mimic

import warpdyn as wd
from warpdyn.execution.request.evaluate import tree_of
from warpdyn.functions import kinematics

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


def twists(
    model: wd.Model, q: np.ndarray, v: np.ndarray, link: int, relative_to: str | None = None
) -> dict[str, np.ndarray]:
    """d/dt fk as a twist in each reference, by central differences of the oracle along v."""
    T, later, earlier = (
        wd.oracle(kinematics.fk, model, step(model, q, t * v), relative_to=relative_to)[:, link]
        for t in (0.0, H, -H)
    )
    rate = (later - earlier) / (2 * H)
    R, p = T[:, :3, :3], T[:, :3, 3]
    spin = rate[:, :3, :3] @ R.transpose(0, 2, 1)
    angular = (
        np.stack(
            [
                spin[:, 2, 1] - spin[:, 1, 2],
                spin[:, 0, 2] - spin[:, 2, 0],
                spin[:, 1, 0] - spin[:, 0, 1],
            ],
            1,
        )
        / 2
    )
    linear = rate[:, :3, 3]
    back = R.transpose(0, 2, 1)
    return {
        "local": np.hstack(
            [np.einsum("eij,ej->ei", back, linear), np.einsum("eij,ej->ei", back, angular)]
        ),
        "world": np.hstack([linear + np.cross(p, angular), angular]),
        "local_world_aligned": np.hstack([linear, angular]),
    }


def test_jacobian_equals_the_oracle(robot: Robot, run, dtype) -> None:
    """The kernel gives the numbers of the same algorithm in float64, for the link farthest from the
    root.
    """
    s = states(robot.model).rounded(dtype)
    frame = farthest(robot.model)
    wanted = wd.oracle(wd.jacobian, robot.model, s.q, frame=frame)
    assert (
        error(run(wd.jacobian, robot.model, s.q, frame=frame, dtype=dtype), wanted)
        <= ROUND_OFF[str(dtype)]
    )


def test_jacobian_times_velocity_is_the_rate_of_the_pose(robot: Robot) -> None:
    """J v = d/dt fk in every reference for every link, by the oracle."""
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
def test_references_express_one_motion_in_three_frames(name: str, run) -> None:
    """local_world_aligned = R local, and world is local_world_aligned moved to the world's origin."""
    model = by_name(name).model
    q, frame = states(model).q, farthest(by_name(name).model)
    local, world, mixed = (run(wd.jacobian, model, q, frame=frame, reference=r) for r in REFERENCES)
    T = run(wd.fk, model, q, frame=frame)
    R, p = T[:, None, :3, :3], T[:, None, :3, 3]
    turned = np.concatenate(
        [(R @ J.transpose(0, 2, 1)[..., None])[..., 0] for J in (local[:, :3], local[:, 3:])],
        axis=2,
    )
    assert error(mixed, turned.transpose(0, 2, 1)) <= ROUND_OFF["float64"]
    columns = mixed.transpose(0, 2, 1)
    moved = np.concatenate(
        [columns[..., :3] + np.cross(p, columns[..., 3:]), columns[..., 3:]], axis=2
    )
    assert error(world, moved.transpose(0, 2, 1)) <= ROUND_OFF["float64"]
    for alias, J in (("body", local), ("inertial", world), ("mixed", mixed)):
        assert np.array_equal(run(wd.jacobian, model, q, frame=frame, reference=alias), J)


def test_the_jacobian_of_a_fixed_link_is_zero(run) -> None:
    """Exactly, for a root-fixed link."""
    model = by_name("rooted").model
    q = states(model).q
    for reference in REFERENCES:
        assert not np.any(run(wd.jacobian, model, q, frame="cabinet", reference=reference))


def test_columns_of_joints_that_do_not_move_the_link_are_zero(robot: Robot, run) -> None:
    """Only joints between the root and the link move it."""
    model = robot.model
    tree, frame = tree_of(model), farthest(model)
    moving = {k for i in tree.path(tree.frames[frame].body) for k in tree.bodies[i].v_index}
    J = run(wd.jacobian, model, states(model).q, frame=frame)
    still = [k for k in range(model.nv) if k not in moving]
    assert not np.any(J[:, :, still]) and all(np.any(J[:, :, k]) for k in moving)


@pytest.mark.parametrize("robot", [r for r in ROBOTS if r.has_mimic], ids=lambda r: r.name)
def test_mimic_joints_equal_the_reduction_of_the_free_robot(robot: Robot, run) -> None:
    """J = J_full(G q + g) G."""
    Gq, Gv, g = reduction(robot.model)
    q, frame = states(robot.model).q, robot.model.link_names[-1]
    J_full = wd.oracle(wd.jacobian, without_mimic(robot.model), q @ Gq.T + g, frame=frame)
    assert (
        error(run(wd.jacobian, robot.model, q, frame=frame), J_full @ Gv, J_full)
        <= ROUND_OFF["float64"]
    )


@settings(max_examples=40)
@given(random_trees())
def test_jacobians_of_random_trees_give_the_rate_of_the_pose(robot: Robot) -> None:
    """J v = d/dt fk for the last link, in every reference."""
    model, s = robot.model, states(robot.model, 1)
    wanted = twists(model, s.q, s.v, model.nlinks - 1)
    for reference in REFERENCES:
        J = wd.oracle(wd.jacobian, model, s.q, frame=model.link_names[-1], reference=reference)
        assert (
            error(np.einsum("eij,ej->ei", J, s.v), wanted[reference], np.abs(J), np.ones(1))
            <= DIFFERENCE
        )


def test_jacobians_equal_pinocchios(robot: Robot) -> None:
    """Frame Jacobians in every reference for every third link, by the oracle."""
    peer, q = in_pinocchio(robot), states(robot.model, 3).q
    for frame in robot.model.link_names[::3]:
        for reference in REFERENCES:
            found = wd.oracle(wd.jacobian, robot.model, q, frame=frame, reference=reference)
            assert (
                error(found, peer.jacobian(q, frame, reference), np.ones(1)) <= ROUND_OFF["float64"]
            )


# Several frames, relative ones, points and parts.


def test_jacobians_of_several_frames_equal_those_of_each(robot: Robot) -> None:
    """The frames are all links, or named links in the given order."""
    model, q = robot.model, states(robot.model, 2).q
    names = model.link_names[::-3]
    for reference in REFERENCES:
        every = wd.oracle(kinematics.jacobian, model, q, reference=reference)
        assert every.shape == (2, model.nlinks, 6, model.nv)
        some = wd.oracle(kinematics.jacobian, model, q, frames=names, reference=reference)
        assert np.array_equal(some, every[:, model.link_indices(names)])
        for i in range(0, model.nlinks, 4):
            J = wd.oracle(wd.jacobian, model, q, frame=model.link_names[i], reference=reference)
            assert np.array_equal(every[:, i], J)


def test_the_algorithm_from_the_root_gives_the_same_jacobians(robot: Robot) -> None:
    """The second algorithm for many local Jacobians, of which a kernel takes the shorter one."""
    model, q = robot.model, states(robot.model, 1).q
    call = kinematics.jacobian.describe(model, q, reference="local")
    first, second = (
        np.array(t(tree_of(model), q[0].tolist(), **dict(call.options)), dtype=float)
        for t in call.algorithms
    )
    assert error(second, first, np.ones(1)) <= ROUND_OFF["float64"]


@pytest.mark.parametrize(
    "name, dtype, reference",
    [
        ("panda", "float32", "local"),
        ("quadruped_floating", "float64", "local"),
        ("mimic_chain", "float64", "world"),
        ("branches_wxyz", "float32", "local_world_aligned"),
    ],
)
def test_kernels_of_several_frames_equal_the_oracle(
    name: str, dtype: str, reference: str, device: str
) -> None:
    """The Jacobians are those of all links, one relative to another link, and one in one pass with
    the pose.
    """
    model, near = by_name(name).model, ROUND_OFF[dtype]
    q, frame = states(model).q, farthest(model)
    options = {"dtype": dtype, "reference": reference}
    assert kernel_error(device, kinematics.jacobian, model, q, **options) <= near
    assert (
        kernel_error(
            device,
            kinematics.jacobian,
            model,
            q,
            frame=frame,
            relative_to=model.link_names[1],
            **options,
        )
        <= near
    )
    assert (
        kernel_error(device, kinematics.pose_and_jacobian, model, q, frame=frame, **options) <= near
    )


@pytest.mark.parametrize(
    "name", ["panda", "branches_wxyz", "mimic_branches", "rooted", "two_axes", "free_inside"]
)
def test_the_relative_jacobian_is_the_rate_of_the_relative_pose(name: str) -> None:
    """J v = d/dt fk(relative_to=other). The other frame replaces the world."""
    model = by_name(name).model
    s, last = states(model, 2), model.nlinks - 1
    for other in (
        model.link_names[0],
        model.link_names[2],
        model.link_names[-1],
        model.link_names[-2],
    ):
        wanted = twists(model, s.q, s.v, last, relative_to=other)
        for reference in REFERENCES:
            options = {
                "frame": model.link_names[last],
                "reference": reference,
                "relative_to": other,
            }
            J = wd.oracle(kinematics.jacobian, model, s.q, **options)
            assert (
                error(np.einsum("eij,ej->ei", J, s.v), wanted[reference], np.abs(J), np.ones(1))
                <= DIFFERENCE
            )


def test_a_frame_does_not_move_relative_to_its_own_body() -> None:
    """Exactly: no column of a joint that carries both remains."""
    model = by_name("rooted").model
    q = states(model, 2).q
    for reference in REFERENCES:
        assert not np.any(
            kinematics.jacobian(model, q, frame="tip", relative_to="arm", reference=reference)
        )


@pytest.mark.parametrize("name", ["panda", "mimic_branches", "rooted_floating"])
def test_the_jacobian_at_a_point_is_that_of_a_frame_there(name: str) -> None:
    """point= gives the Jacobian of a link on a fixed joint at that point, as numbers or as an
    array.
    """
    model, point = by_name(name).model, (0.3, -0.2, 0.5)
    q, frame = states(model, 3).q, model.link_names[-1]
    wider = model.with_frame("tool_point", frame, point)
    for reference in REFERENCES:
        options = {"frame": frame, "reference": reference}
        wanted = wd.oracle(kinematics.jacobian, wider, q, frame="tool_point", reference=reference)
        for where in (point, np.tile(point, (3, 1))):
            found = wd.oracle(kinematics.jacobian, model, q, point=where, **options)
            assert error(found, wanted) <= ROUND_OFF["float64"]
    kernel = kinematics.jacobian(model, q, point=np.tile(point, (3, 1)), **options)
    assert error(kernel, wanted) <= ROUND_OFF["float64"]


def test_parts_are_rows_of_the_jacobian(run) -> None:
    """Position and orientation Jacobians."""
    model = by_name("panda").model
    q, frame = states(model, 2).q, farthest(model)
    J = run(wd.jacobian, model, q, frame=frame)
    for part, rows in (("linear", slice(0, 3)), ("angular", slice(3, 6))):
        assert (
            error(kinematics.jacobian(model, q, frame=frame, part=part), J[:, rows])
            <= ROUND_OFF["float64"]
        )


def test_pose_and_jacobian_returns_both_functions_results(robot: Robot) -> None:
    """Every reference is tested, for the link farthest from the root."""
    model, q = robot.model, states(robot.model, 2).q
    frame = farthest(model)
    for reference in REFERENCES:
        T, J = wd.oracle(kinematics.pose_and_jacobian, model, q, frame=frame, reference=reference)
        assert error(T, wd.oracle(wd.fk, model, q, frame=frame)) <= ROUND_OFF["float64"]
        assert np.array_equal(J, wd.oracle(wd.jacobian, model, q, frame=frame, reference=reference))
