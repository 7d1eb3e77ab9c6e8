"""Public regressors: shapes, order of columns, gravity by environment, defaults."""

from __future__ import annotations

import numpy as np
import pytest
from contracts import check_call, check_shapes
from robots import by_name
from states import error, states

import warpdyn as wd
from warpdyn.functions import regressors

ROUND_OFF = {"float64": 1e-11, "float32": 1e-5}
"""Relative to the largest term."""

MODEL = wd.load_robot("double_pendulum")
S = states(MODEL, 3)
GIVEN = {
    "joint_torque_regressor": (S.q, S.v, S.a),
    "kinetic_energy_regressor": (S.q, S.v),
    "potential_energy_regressor": (S.q,),
}
WITH_GRAVITY = ("joint_torque_regressor", "potential_energy_regressor")


@pytest.mark.parametrize("name", GIVEN)
def test_regressors_have_ten_columns_per_link(name: str) -> None:
    """A torque regressor has a row per coordinate. An energy regressor has one row."""
    width = 10 * MODEL.nlinks
    shape = (MODEL.nv, width) if name == "joint_torque_regressor" else (width,)
    check_shapes(getattr(wd, name), MODEL, *GIVEN[name], shapes=shape)


def test_regressors_accept_one_robot_a_batch_and_out() -> None:
    """Both precisions are tested."""
    check_call(wd.kinetic_energy_regressor, MODEL, S.q, S.v)


def test_columns_are_in_the_order_of_links() -> None:
    """Ten for each link. With only its parameters they give its share of the energy."""
    pi = wd.inertial.inertial_parameters(MODEL)
    K = wd.oracle(wd.kinetic_energy_regressor, MODEL, S.q, S.v).reshape(3, MODEL.nlinks, 10)
    each = np.einsum("elk,lk->el", K, pi)
    V = wd.oracle(wd.frame_velocity, MODEL, S.q, S.v, reference="local")
    for k, link in enumerate(MODEL.links):
        w, c = V[:, k, 3:], np.array(link.com)
        moving = V[:, k, :3] + np.cross(w, c)
        wanted = 0.5 * link.mass * np.sum(moving**2, axis=1) + 0.5 * np.einsum(
            "ei,ij,ej->e", w, np.array(link.inertia), w
        )
        assert error(each[:, k], wanted, each) <= ROUND_OFF["float64"]


def test_the_columns_of_named_links_are_those_of_all_links() -> None:
    """`links` chooses their order. An unknown link is refused."""
    tip, first = MODEL.link_names[-1], MODEL.link_names[1]
    all_columns = wd.oracle(wd.joint_torque_regressor, MODEL, *GIVEN["joint_torque_regressor"])
    named = wd.oracle(
        wd.joint_torque_regressor, MODEL, *GIVEN["joint_torque_regressor"], links=[tip, first]
    )
    columns = all_columns.reshape(3, MODEL.nv, MODEL.nlinks, 10)
    wanted = columns[:, :, [MODEL.link_index(tip), MODEL.link_index(first)]]
    assert error(named, wanted.reshape(3, MODEL.nv, 20)) <= ROUND_OFF["float64"]
    with pytest.raises(KeyError, match="no link named 'tail'"):
        wd.joint_torque_regressor.describe(MODEL, S.q, S.v, S.a, links=["tail"])


@pytest.mark.parametrize("name", WITH_GRAVITY)
def test_gravity_is_the_earths_by_default(name: str) -> None:
    """(0, 0, -9.81), for all or for each."""
    function = getattr(wd, name)
    wanted = wd.oracle(function, MODEL, *GIVEN[name])
    for gravity in ((0.0, 0.0, -9.81), np.tile([0.0, 0.0, -9.81], (3, 1))):
        assert np.array_equal(wd.oracle(function, MODEL, *GIVEN[name], gravity=gravity), wanted)


def test_gravity_can_differ_by_environment(run) -> None:
    """(B, 3) gravity in the kernels."""
    model = by_name("double_pendulum").model
    s = states(model)
    Y = run(regressors.joint_torque_regressor, model, s.q, s.v, s.a, gravity=s.gravity)
    wanted = wd.oracle(regressors.joint_torque_regressor, model, s.q, s.v, s.a, gravity=s.gravity)
    assert error(Y, wanted) <= ROUND_OFF["float64"]
    U = run(regressors.potential_energy_regressor, model, s.q, gravity=s.gravity)
    wanted = wd.oracle(regressors.potential_energy_regressor, model, s.q, gravity=s.gravity)
    assert error(U, wanted) <= ROUND_OFF["float64"]


def test_armature_does_not_change_the_regressor() -> None:
    """Although the torques of a geared robot differ."""
    geared = MODEL.with_armature({MODEL.joint_names[0]: 0.3})
    Y, bare = (wd.oracle(wd.joint_torque_regressor, m, S.q, S.v, S.a) for m in (geared, MODEL))
    assert np.array_equal(Y, bare)
    tau, plain = (wd.oracle(wd.rnea, m, S.q, S.v, S.a) for m in (geared, MODEL))
    assert error(tau[:, 0] - plain[:, 0], 0.3 * S.a[:, 0], tau) <= ROUND_OFF["float64"]


def test_regressors_have_no_argument_for_forces() -> None:
    """f_ext is refused."""
    with pytest.raises(TypeError, match="f_ext"):
        wd.joint_torque_regressor(MODEL, S.q, S.v, S.a, f_ext={})
