"""Contacts with elliptic cones: the smallest energy within the cone, and MuJoCo's velocities."""

from __future__ import annotations

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.algebra.linear import factorise
from warpdyn.algorithms.simulation.compliant_contact import Surface, compliant_contacts
from warpdyn.algorithms.simulation.constraint_sweeps import constraint_impulses, rows_of
from warpdyn.algorithms.simulation.contact_rows import PointContact
from warpdyn.algorithms.simulation.elliptic_contact import EllipticContact
from warpdyn.algorithms.simulation.pyramid_contact import soft_contacts
from warpdyn.algorithms.simulation.soft_stops import SoftPoint

MU, H = 0.7, 0.001
LAW = SoftPoint(2500.0, 100.0, (0.9, 0.9, 0.001, 0.5, 2.0), 0.3, 0.06)


@pytest.mark.parametrize("seed", range(20))
def test_the_impulse_minimises_the_energy_within_the_cone(seed: int) -> None:
    """The minimum has g = v+ + R f - v^: f is in the cone, g is in the dual cone, and f . g = 0.

    Some contacts stick, some slide, some separate.
    """
    draw = np.random.default_rng(seed)
    L = draw.normal(size=(3, 3)) + 2.0 * np.eye(3)
    mass, J = L @ L.T, np.eye(3)
    rows = rows_of(J.tolist(), factorise(mass.tolist()))
    v = (draw.normal(size=3) * [1.0, 1.0, 0.3]).tolist()
    point = PointContact(-0.002, 0, None, None, 1.0, 0)
    plain = compliant_contacts([point], Surface([MU], 1e4, 0.02, 1.0), rows, v, v, H)
    (contact,) = soft_contacts(plain, [LAW], rows, v, H)
    assert isinstance(contact, EllipticContact)
    f, after = map(np.array, constraint_impulses(rows, [contact], v, [0.0] * 3, 4000))
    assert after == pytest.approx(v + np.linalg.solve(mass, f), abs=1e-12)
    R = np.array([contact.R_t, contact.R_t, contact.R_n])
    g = after + R * f - [contact.slip_x, contact.slip_y, contact.target]
    size = 1.0 + np.abs(f).max()
    assert np.hypot(*f[:2]) <= MU * f[2] + 1e-9 * size
    assert g[2] >= MU * np.hypot(*g[:2]) - 1e-9
    assert abs(f @ g) < 1e-9 * size


@pytest.mark.parametrize("axis", ["-0.3 0.165 0.94", "1 0 0.3", "0 -0.6 0.8"])
@pytest.mark.parametrize("speed", [-0.4, 0.4])
@pytest.mark.parametrize("ratio", [1, 10])
def test_a_body_that_slides_into_the_ground_moves_as_in_mujoco(
    axis: str, speed: float, ratio: int
) -> None:
    """Its slider couples normal and tangent, so that friction raises the normal force.

    Forces also agree.
    """
    mujoco = pytest.importorskip("mujoco")
    text = f"""<mujoco><option cone="elliptic" impratio="{ratio}" timestep="0.002" iterations="200" tolerance="1e-14"/>
    <worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 0.02"><joint type="slide" axis="{axis}"/>
    <geom size="0.05" pos="0.01 0 0.01"/></body></worldbody></mujoco>"""
    theirs = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(theirs)
    sim = wd.Simulation(
        wd.load(text),
        1,
        ground=wd.Ground(softness="description"),
        stops="none",
        integrator="mujoco_euler",
        dt=0.002,
        substeps=1,
        sweeps=400,
        dtype="float64",
    )
    data.qvel[:] = sim.v[:] = speed
    mujoco.mj_step(theirs, data)
    sim.step()
    assert sim.v[0] == pytest.approx(data.qvel, abs=1e-9)
    force = np.zeros(6)
    mujoco.mj_contactForce(theirs, data, 0, force)
    assert force[0] > 0.0
    assert sim.forces[0, 0, 2] == pytest.approx(force[0], rel=1e-6)
    assert np.hypot(*sim.forces[0, 0, :2]) == pytest.approx(np.hypot(*force[1:3]), rel=1e-6)
