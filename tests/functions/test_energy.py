"""Public functions of energy: one number per robot, gravity, and what counts."""

from __future__ import annotations

import numpy as np
import pytest
from contracts import check_call, check_shapes
from robots import by_name
from states import error, states

import warpdyn as wd

MODEL = wd.load_robot("double_pendulum")
S = states(MODEL, 3)
GIVEN = {
    "kinetic_energy": (S.q, S.v),
    "potential_energy": (S.q,),
    "mechanical_energy": (S.q, S.v),
    "contact_power": (S.q, S.v, S.a, S.tau),
}
ROUND_OFF = 1e-13
"""Relative to the largest term."""


@pytest.mark.parametrize("name", GIVEN)
def test_energy_is_one_number_per_robot(name: str) -> None:
    """(B,) for a batch, and a number without axes for one robot."""
    check_shapes(getattr(wd, name), MODEL, *GIVEN[name], shapes=())


@pytest.mark.parametrize("name", GIVEN)
def test_functions_of_energy_accept_one_robot_a_batch_and_out(name: str) -> None:
    """Both precisions are tested."""
    check_call(getattr(wd, name), MODEL, *GIVEN[name])


@pytest.mark.parametrize("name", ["potential_energy", "mechanical_energy", "contact_power"])
def test_gravity_is_the_earths_by_default(name: str) -> None:
    """(0, 0, -9.81), or one vector for all, or one for each."""
    function = getattr(wd, name)
    wanted = wd.oracle(function, MODEL, *GIVEN[name])
    for gravity in ((0.0, 0.0, -9.81), [0, 0, -9.81], np.tile([0.0, 0.0, -9.81], (3, 1))):
        assert np.array_equal(wd.oracle(function, MODEL, *GIVEN[name], gravity=gravity), wanted)
    each = wd.oracle(function, MODEL, *GIVEN[name], gravity=S.gravity)
    one = [
        wd.oracle(function, MODEL, *(x[e] for x in GIVEN[name]), gravity=S.gravity[e].tolist())
        for e in range(3)
    ]
    assert error(each, np.array(one)) <= ROUND_OFF


def test_mechanical_energy_is_the_sum_of_kinetic_and_potential() -> None:
    """Both energies use the same gravity."""
    kinetic = wd.oracle(wd.kinetic_energy, MODEL, S.q, S.v)
    potential = wd.oracle(wd.potential_energy, MODEL, S.q, gravity=S.gravity)
    total = wd.oracle(wd.mechanical_energy, MODEL, S.q, S.v, gravity=S.gravity)
    assert error(total, kinetic + potential, kinetic, potential) <= ROUND_OFF


def test_rotors_have_kinetic_energy_and_limit_springs_no_potential() -> None:
    """Armature adds half of itself times its rate squared."""
    name, k = MODEL.joint_names[0], 0
    geared = MODEL.with_armature({name: 0.3})
    added = wd.oracle(wd.kinetic_energy, geared, S.q, S.v) - wd.oracle(
        wd.kinetic_energy, MODEL, S.q, S.v
    )
    assert error(added, 0.15 * S.v[:, k] ** 2, S.v**2) <= ROUND_OFF
    limited = MODEL.with_limits(name, lower=-0.1, upper=0.1)
    springy = limited.with_limit_springs(stiffness=100.0)
    assert np.array_equal(
        wd.oracle(wd.potential_energy, springy, S.q), wd.oracle(wd.potential_energy, MODEL, S.q)
    )


def test_energies_of_a_sliding_mass_are_analytic() -> None:
    """m g z and m v² / 2, in joules."""
    model = wd.load_urdf(
        """<robot name="lift"><link name="a"/><link name="b"><inertial><mass value="2"/><inertia ixx="1" iyy="1"
        izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="up" type="prismatic"><parent link="a"/>
        <child link="b"/><axis xyz="0 0 1"/><limit lower="0" upper="2" effort="1" velocity="1"/></joint></robot>"""
    )
    q, v = np.array([1.5]), np.array([3.0])
    assert wd.oracle(wd.potential_energy, model, q) == pytest.approx(2 * 9.81 * 1.5)
    assert wd.oracle(wd.kinetic_energy, model, q, v) == pytest.approx(2 * 3.0**2 / 2)


def test_energy_has_no_argument_for_forces() -> None:
    """Forces on links do not enter the energy."""
    with pytest.raises(TypeError, match="f_ext"):
        wd.potential_energy(by_name("single").model, np.zeros(1), f_ext={})


def test_contact_power_is_the_missing_torque_times_velocity() -> None:
    """Zero to rounding if tau explains the motion."""
    tau = wd.oracle(wd.rnea, MODEL, S.q, S.v, S.a)
    found = wd.oracle(wd.contact_power, MODEL, S.q, S.v, S.a, tau - S.tau)
    assert error(found, np.sum(S.v * S.tau, axis=1), S.v * tau) <= ROUND_OFF
    assert np.array_equal(wd.oracle(wd.contact_power, MODEL, S.q, None, S.a, S.tau), np.zeros(3))
