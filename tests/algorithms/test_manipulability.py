"""Manipulability: its definition, singular arms, kernels against the oracle."""

from __future__ import annotations

import numpy as np
import pytest
from kernels import kernel_error
from robots import Robot, by_name
from states import error, states

import warpdyn as wd
from warpdyn.functions import kinematics

ROUND_OFF = {"float64": 1e-12, "float32": 3e-5}
"""Relative to the product of lengths: some ten projections one after the other."""


def test_manipulability_is_the_product_of_singular_values(robot: Robot) -> None:
    """sqrt(det(J J^T)), or of J^T J for few joints, for all rows, the linear and the angular ones."""
    model, q = robot.model, states(robot.model, 3).q
    for frame in (model.link_names[0], model.link_names[-1]):
        J = wd.oracle(kinematics.jacobian, model, q, frame=frame, reference="local")
        for part, rows in (
            ("both", slice(0, 6)),
            ("linear", slice(0, 3)),
            ("angular", slice(3, 6)),
        ):
            found = wd.oracle(kinematics.manipulability, model, q, frame=frame, part=part)
            moving = np.any(J != 0, axis=(0, 1))
            wanted = np.zeros(len(q))
            if moving.any():
                wanted = np.prod(np.linalg.svd(J[:, rows][:, :, moving], compute_uv=False), axis=-1)
            assert error(found, wanted, np.ones(1)) <= ROUND_OFF["float64"]


@pytest.mark.parametrize(
    "name, dtype",
    [
        ("panda", "float32"),
        ("panda", "float64"),
        ("quadruped_floating", "float64"),
        ("slides", "float64"),
    ],
)
def test_kernels_equal_the_oracle(name: str, dtype: str, device: str) -> None:
    model, q = by_name(name).model, states(by_name(name).model).q
    frame = model.link_names[-1]
    assert (
        kernel_error(device, kinematics.manipulability, model, q, dtype=dtype, frame=frame)
        <= ROUND_OFF[dtype]
    )


def test_the_manipulability_of_a_stretched_arm_is_zero() -> None:
    """The value is zero to rounding, not only to the square root of rounding. It is not NaN."""
    model = by_name("ur5e").model
    q = np.array([[0.3, -1.0, 0.0, 0.4, 0.5, 0.1], [0.3, -1.0, 1e-6, 0.4, 0.5, 0.1]])
    found = kinematics.manipulability(model, q, frame=model.link_names[-1])
    assert found.shape == (2,) and 0.0 <= found[0] <= 1e-16
    J = wd.oracle(kinematics.jacobian, model, q, frame=model.link_names[-1])
    assert error(found[1:], abs(np.linalg.det(J[1:]))) <= 1e-8


def test_the_manipulability_of_a_fixed_link_is_zero() -> None:
    model = by_name("rooted").model
    assert not np.any(kinematics.manipulability(model, states(model, 3).q, frame="cabinet"))


def test_manipulability_does_not_depend_on_the_first_joint() -> None:
    model = by_name("ur5e").model
    q = states(model, 3).q
    turned = q.copy()
    turned[:, 0] += 1.0  # about the first axis
    here, there = (
        wd.oracle(kinematics.manipulability, model, x, frame=model.link_names[-1])
        for x in (q, turned)
    )
    assert error(there, here, np.ones(1)) <= ROUND_OFF["float64"]
