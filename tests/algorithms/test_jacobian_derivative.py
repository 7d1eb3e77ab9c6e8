"""dJ/dt and the kinematic Hessian: laws on every robot, kernels and oracle, Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from kernels import kernel_error
from pinocchio_frames import frames_in_pinocchio
from robots import ROBOTS, Robot, by_name, random_trees
from states import error, reduction, states, step, without_mimic

import warpdyn as wd
from warpdyn.functions import kinematics

ROUND_OFF = {"float64": 1e-13, "float32": 1e-5}
"""Relative to the largest entry: motions are moved along some ten joints."""

DIFFERENCE = 3e-9
"""Relative; central differences with step 1e-5 lose 1e-10 to curvature and 1e-11 to rounding."""

H = 1e-5
"""Step of central differences [s]."""

REFERENCES = ("local", "world", "local_world_aligned")

KERNELS = (
    ("panda", "float32", "local"),
    ("panda", "float64", "local_world_aligned"),
    ("quadruped_floating", "float64", "world"),
    ("mimic_chain", "float64", "local"),
    ("planar", "float32", "local_world_aligned"),
)


@pytest.mark.parametrize("name, dtype, reference", KERNELS)
def test_kernels_equal_the_oracle(name: str, dtype: str, reference: str, device: str) -> None:
    model, near = by_name(name).model, ROUND_OFF[dtype]
    s = states(model, 5)
    options = {"dtype": dtype, "frame": model.link_names[-1], "reference": reference}
    assert kernel_error(device, kinematics.jacobian_derivative, model, s.q, s.v, **options) <= near
    assert kernel_error(device, kinematics.kinematic_hessian, model, s.q, **options) <= near


@settings(max_examples=40)
@given(random_trees())
def test_the_jacobian_derivative_is_the_rate_of_the_jacobian(robot: Robot) -> None:
    """The rate is a difference of the oracle's J along v, on any tree."""
    model, s = robot.model, states(robot.model, 1)
    frame = model.link_names[-1]
    for reference in REFERENCES:
        later, earlier = (
            wd.oracle(
                kinematics.jacobian,
                model,
                step(model, s.q, t * s.v),
                frame=frame,
                reference=reference,
            )
            for t in (H, -H)
        )
        found = wd.oracle(
            kinematics.jacobian_derivative, model, s.q, s.v, frame=frame, reference=reference
        )
        assert error(found, (later - earlier) / (2 * H), np.ones(1)) <= DIFFERENCE


def test_the_hessian_is_the_derivative_of_the_jacobian(robot: Robot) -> None:
    """The derivative is a difference of the oracle's J along each coordinate of v."""
    model, s = robot.model, states(robot.model, 1)
    frame = model.link_names[-1]
    for reference in REFERENCES:
        found = wd.oracle(
            kinematics.kinematic_hessian, model, s.q, frame=frame, reference=reference
        )
        assert found.shape == (1, 6, model.nv, model.nv)
        for k in range(0, model.nv, max(1, model.nv // 8)):
            d = np.eye(model.nv)[[k]]
            later, earlier = (
                wd.oracle(
                    kinematics.jacobian,
                    model,
                    step(model, s.q, t * d),
                    frame=frame,
                    reference=reference,
                )
                for t in (H, -H)
            )
            assert error(found[..., k], (later - earlier) / (2 * H), np.ones(1)) <= DIFFERENCE


def test_the_hessian_times_velocity_is_the_jacobian_derivative(robot: Robot) -> None:
    """dJ/dt = sum of H[:, :, k] v_k."""
    model, s = robot.model, states(robot.model, 2)
    frame = model.link_names[-1]
    for reference in REFERENCES:
        H_ = wd.oracle(kinematics.kinematic_hessian, model, s.q, frame=frame, reference=reference)
        found = wd.oracle(
            kinematics.jacobian_derivative, model, s.q, s.v, frame=frame, reference=reference
        )
        assert error(found, np.einsum("eijk,ek->eij", H_, s.v), np.ones(1)) <= ROUND_OFF["float64"]


@pytest.mark.parametrize("name", ["panda", "ur5e", "slides", "mimic_chain", "branches"])
def test_the_linear_part_of_the_hessian_is_symmetric(name: str) -> None:
    """Joints have one coordinate each. Second derivatives of a position commute."""
    model = by_name(name).model
    options = {"frame": model.link_names[-1], "part": "linear"}
    H_ = wd.oracle(kinematics.kinematic_hessian, model, states(model, 3).q, **options)
    assert (
        H_.shape[1] == 3 and error(H_, np.swapaxes(H_, -1, -2), np.ones(1)) <= ROUND_OFF["float64"]
    )


@pytest.mark.parametrize("name", ["panda", "rooted_floating"])
def test_derivatives_at_a_point_and_in_parts(name: str, device: str) -> None:
    """point= gives the derivative of the Jacobian at that point, also as an array. part= gives
    rows.
    """
    model = by_name(name).model
    s, frame = states(model, 4), model.link_names[-1]
    point = np.random.default_rng(0).uniform(-1, 1, (4, 3))
    for reference in REFERENCES:
        options = {"frame": frame, "reference": reference, "point": point}
        later, earlier = (
            wd.oracle(kinematics.jacobian, model, step(model, s.q, t * s.v), **options)
            for t in (H, -H)
        )
        found = wd.oracle(kinematics.jacobian_derivative, model, s.q, s.v, **options)
        assert error(found, (later - earlier) / (2 * H), np.ones(1)) <= DIFFERENCE
        rows = wd.oracle(kinematics.jacobian_derivative, model, s.q, s.v, part="angular", **options)
        assert np.array_equal(rows, found[:, 3:])
    assert (
        error(kinematics.jacobian_derivative(model, s.q, s.v, **options), found)
        <= ROUND_OFF["float64"]
    )


@pytest.mark.parametrize("name", ["panda", "branches_wxyz"])
def test_derivatives_of_several_frames_equal_those_of_each(name: str) -> None:
    model = by_name(name).model
    s = states(model, 2)
    every = wd.oracle(kinematics.jacobian_derivative, model, s.q, s.v)
    assert every.shape == (2, model.nlinks, 6, model.nv)
    names = model.link_names[::-2]
    some = wd.oracle(kinematics.jacobian_derivative, model, s.q, s.v, frames=names)
    assert np.array_equal(some, every[:, model.link_indices(names)])
    one = wd.oracle(kinematics.jacobian_derivative, model, s.q, s.v, frame=names[0])
    assert np.array_equal(one, some[:, 0])


@pytest.mark.parametrize("robot", [r for r in ROBOTS if r.has_mimic], ids=lambda r: r.name)
def test_mimic_joints_equal_the_reduction_of_the_free_robot(robot: Robot) -> None:
    """dJ/dt = dJ_full/dt G, and H = G^T H_full G for each row."""
    Gq, Gv, g = reduction(robot.model)
    full, s, frame = without_mimic(robot.model), states(robot.model, 2), robot.model.link_names[-1]
    q_full, v_full = s.q @ Gq.T + g, s.v @ Gv.T
    for reference in REFERENCES:
        options = {"frame": frame, "reference": reference}
        dJ = wd.oracle(kinematics.jacobian_derivative, full, q_full, v_full, **options) @ Gv
        found = wd.oracle(kinematics.jacobian_derivative, robot.model, s.q, s.v, **options)
        assert error(found, dJ, np.ones(1)) <= ROUND_OFF["float64"]
        H_ = np.einsum(
            "eijk,ja,kb->eiab",
            wd.oracle(kinematics.kinematic_hessian, full, q_full, **options),
            Gv,
            Gv,
        )
        found = wd.oracle(kinematics.kinematic_hessian, robot.model, s.q, **options)
        assert error(found, H_, np.ones(1)) <= ROUND_OFF["float64"]


def test_jacobian_derivatives_equal_pinocchios(robot: Robot) -> None:
    """getFrameJacobianTimeVariation in every reference for every third link."""
    if any(joint.kind.series for joint in robot.model.joints):
        pytest.skip("Pinocchio leaves out that the subspace of a joint of two axes moves")
    peer, s = frames_in_pinocchio(robot), states(robot.model, 2)
    for frame in robot.model.link_names[::3]:
        for reference in REFERENCES:
            found = wd.oracle(
                kinematics.jacobian_derivative,
                robot.model,
                s.q,
                s.v,
                frame=frame,
                reference=reference,
            )
            wanted = peer.jacobian_derivative(s.q, s.v, frame, reference)
            assert error(found, wanted, np.ones(1)) <= ROUND_OFF["float64"]


def test_a_robot_without_joints_has_empty_derivatives() -> None:
    model = wd.load_urdf('<robot name="still"><link name="base"/></robot>')
    q = np.zeros((2, 0))
    assert kinematics.kinematic_hessian(model, q, frame="base").shape == (2, 6, 0, 0)
    assert kinematics.jacobian_derivative(model, q, q, frame="base").shape == (2, 6, 0)
