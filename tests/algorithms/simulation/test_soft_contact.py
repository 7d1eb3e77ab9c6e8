"""Soft contacts on plain numbers: normal force, friction cone, sticking, sliding, no contact."""

from __future__ import annotations

import math

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.algebra.spatial import Vector
from warpdyn.algorithms.simulation.soft_contact import UPWARDS, SoftSurface, hunt_crossley, power

K, D, MU = 1e4, 200.0, 0.5
SURFACE = SoftSurface([MU], K, D, 0.5, 0.5)
CUBE = """<robot name="cube"><link name="b"><inertial><mass value="1"/><inertia ixx=".002" ixy="0"
ixz="0" iyy=".002" iyz="0" izz=".002"/></inertial></link></robot>"""
BOX = wd.load_urdf(CUBE, floating_base=True)
CORNERS = [wd.ContactPoint("b", (x, y, -0.05), 0.0) for x in (-0.05, 0.05) for y in (-0.05, 0.05)]


def press(height: float, velocity: tuple, deformation: tuple, normal: Vector = UPWARDS) -> tuple:
    """Force and rate as arrays."""
    force, rate = hunt_crossley(
        height, Vector(*velocity), Vector(*deformation), normal, MU, SURFACE
    )
    return np.array([*force]), np.array([*rate])


def test_the_normal_force_follows_hunt_and_crossley() -> None:
    """K δ^1.5 + D √δ δ', never negative, and zero above the ground."""
    depth = 0.004
    for sinking in (0.0, 0.1, -0.05):
        force, _ = press(-depth, (0, 0, -sinking), (0, 0, 0))
        wanted = K * depth**1.5 + D * math.sqrt(depth) * sinking
        assert force == pytest.approx([0.0, 0.0, wanted], rel=1e-9)
    force, _ = press(-depth, (0.3, 0, 2.0), (0.1, 0, 0))
    assert not force.any()
    for height in (0.0, 0.1):
        force, rate = press(height, (1.0, 0, -1.0), (1e-3, 2e-3, -3e-3))
        assert not force.any()
        assert rate == pytest.approx(np.array([-1e-3, -2e-3, 3e-3]) * K / D, rel=1e-12)


def test_a_point_sticks_within_the_cone_and_slides_on_it() -> None:
    """While sticking the deformation follows the slip.

    While sliding the force is on the cone against deformation and slip, and the deformation changes
    by the damper only.
    """
    depth = 0.004
    spring, damper = K * depth**0.5, D * depth**0.5
    normal = K * depth**1.5
    force, rate = press(-depth, (0.001, 0, 0), (1e-4, 0, 2e-4))
    assert force == pytest.approx([-(spring * 1e-4 + damper * 0.001), 0, normal], rel=1e-9)
    assert rate == pytest.approx([0.001, 0, -2e-4 * K / D], rel=1e-9)
    force, rate = press(-depth, (0.4, 0.3, 0), (0.01, 0, 0))
    held = -np.array([spring * 0.01 + damper * 0.4, damper * 0.3])
    assert np.hypot(*force[:2]) == pytest.approx(MU * normal, rel=1e-9)
    assert force[:2] / np.hypot(*force[:2]) == pytest.approx(held / np.hypot(*held), rel=1e-9)
    assert rate[:2] == pytest.approx(-(force[:2] + spring * np.array([0.01, 0])) / damper, rel=1e-9)


def test_forces_rotate_with_the_normal() -> None:
    """The forces on a slope are those of level ground, rotated."""
    turn = np.array([[0.8, 0.0, 0.6], [0.0, 1.0, 0.0], [-0.6, 0.0, 0.8]])
    for velocity, deformation in (
        ((0.4, 0.3, -0.1), (0.01, 0, 0.002)),
        ((0.001, 0, 0), (1e-4, 0, 0)),
    ):
        flat = press(-0.004, velocity, deformation)
        there = press(
            *(-0.004, tuple(turn @ velocity), tuple(turn @ deformation), Vector(*turn[:, 2]))
        )
        for x, y in zip(flat, there, strict=True):
            assert turn @ x == pytest.approx(y, abs=1e-12)


def test_friction_and_dampers_dissipate_power() -> None:
    """The force of a random state is in the cone. Power is only taken or stored in springs."""
    draw = np.random.default_rng(0)
    for _ in range(300):
        depth = draw.uniform(1e-4, 0.02)
        v, m = draw.normal(scale=0.5, size=3), draw.normal(scale=0.01, size=3)
        force, rate = press(-depth, tuple(v), tuple(m))
        assert np.hypot(*force[:2]) <= MU * force[2] * (1 + 1e-12)
        stored = K * depth**0.5 * (m[:2] @ rate[:2])  # rate of the tangential springs' energy
        assert force[:2] @ v[:2] + stored <= 1e-9


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 1.5, 2.0, 0.3, 3.9, 4.0])
def test_power_equals_exponentiation(exponent: float) -> None:
    for x in (1e-9, 0.01, 2.0):
        assert power(x, exponent) == pytest.approx(x**exponent, rel=1e-12)


@pytest.mark.parametrize("integrator", ["semi_implicit", "heun", "rk4"])
def test_a_box_comes_to_rest_at_the_depth_of_equilibrium(integrator: str) -> None:
    """K δ^1.5 = m g / 4 with every integrator. Friction holds it in place."""
    q, v = np.array([0, 0, 0.049, 0, 0, 0, 1.0]), np.array([0.05, 0, 0, 0, 0, 0])
    end = wd.results.Step(
        *wd.oracle(
            *(wd.step, BOX, q, v, np.zeros(6)),
            **{"points": CORNERS, "ground": wd.SoftGround(MU, K, D), "dt": 1e-3},
            **{"integrator": integrator, "substeps": 700},
        )
    )
    depth = (9.81 / 4 / K) ** (2 / 3)
    assert 0.05 - end.q[2] == pytest.approx(depth, rel=1e-3)
    assert end.forces[:, 2] == pytest.approx(9.81 / 4, rel=1e-3)
    assert np.abs(end.v).max() < 1e-3 and 0 < end.q[0] < 0.01


def test_a_box_slides_on_a_slope_by_coulombs_law() -> None:
    """30 degrees, friction 0.5, after the ground has deformed: g (sin - mu cos)."""
    gravity = (9.81 * 0.5, 0.0, -9.81 * math.sqrt(0.75))
    depth = (9.81 * math.sqrt(0.75) / 4 / K) ** (2 / 3)
    low = [wd.ContactPoint("b", (x, y, 0.0), 0.0) for x in (-0.05, 0.05) for y in (-0.05, 0.05)]
    options = {"points": low, "ground": wd.SoftGround(MU, K, D), "gravity": gravity, "dt": 1e-3}
    q, v, m = np.array([0, 0, -depth, 0, 0, 0, 1.0]), np.zeros(6), np.zeros((4, 3))
    speeds = []
    for _ in range(2):
        q, v, m, *_ = wd.oracle(
            *(wd.step, BOX, q, v, np.zeros(6)),
            **{**options, "deformation": m, "integrator": "heun", "substeps": 250},
        )
        speeds.append(v[0])
    assert speeds[1] - speeds[0] == pytest.approx(9.81 * (0.5 - MU * math.sqrt(0.75)) / 4, rel=1e-3)


def test_a_robot_with_dry_friction_returns_deformations() -> None:
    """Deformations have the name that the next step takes, as without friction."""
    model = wd.load_robot("double_pendulum").with_friction(coulomb=0.1)
    point = [wd.ContactPoint("tip", (0.0, 0.0, 0.0), 0.05)]
    q, v = np.full((2, 2), 0.3), np.zeros((2, 2))
    step = wd.step(model, q, v, v, points=point, ground=wd.SoftGround(), dt=1e-3)
    assert step.joint_impulses is not None and step.deformation is step.impulses
