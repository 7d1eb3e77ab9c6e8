"""A robot on ground with estimated stiffness and damping sinks in by the requested depth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from documented_numbers import check_numbers

import warpdyn as wd

CUBE = """<robot name="cube"><link name="b"><inertial><mass value="3"/><inertia ixx=".02" ixy="0"
ixz="0" iyy=".02" iyz="0" izz=".02"/></inertial></link></robot>"""
BOX = wd.load_urdf(CUBE, floating_base=True)
CORNERS = [wd.ContactPoint("b", (x, y, -0.08), 0.02) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]


@pytest.mark.parametrize("contact_model", ["hunt_crossley", "compliant"])
@pytest.mark.parametrize("depth", [None, 0.003])
def test_a_robot_at_rest_sinks_in_by_the_requested_depth(contact_model: Any, depth: Any) -> None:
    """The default depth is 1 % of the centre of mass's height above the lowest point (0.1 m)."""
    ground = wd.estimate_good_contact_parameters(
        BOX, points=CORNERS, contact_model=contact_model, active_points=4, max_penetration=depth
    )
    assert isinstance(ground, wd.SoftGround if contact_model == "hunt_crossley" else wd.Ground)
    q = np.array([0, 0, 0.1, 0, 0, 0, 1.0])
    end = wd.oracle(
        *(wd.step, BOX, q, np.zeros(6), np.zeros(6)),
        **{"points": CORNERS, "ground": ground, "dt": 2e-3, "substeps": 250},
    )
    assert 0.1 - end[0][2] == pytest.approx(depth or 0.001, rel=1e-2)


def test_estimates_equal_their_formulas() -> None:
    """K = (m g / n) / d^(1 + p), D = 2 xi sqrt(K m), each up to its bound, and k = m g / (n d)."""
    options: dict[str, Any] = {"active_points": 2, "max_penetration": 0.01}
    soft = wd.estimate_good_contact_parameters(
        BOX, friction=0.7, damping_ratio=0.5, p=1.0, q=1.0, **options
    )
    K = 3 * 9.81 / 2 / 0.01**2
    assert soft == pytest.approx((0.7, K, np.sqrt(K * 3), 1.0, 1.0))
    stiff = wd.estimate_good_contact_parameters(BOX, max_penetration=1e-6, damping_ratio=9.0)
    assert soft.friction == 0.7 and stiff[1:3] == (1e6, 1e4)
    plain = wd.estimate_good_contact_parameters(BOX, contact_model="compliant", dt=0.002, **options)
    assert plain[:3] == pytest.approx((0.5, 3 * 9.81 / 2 / 0.01, 0.002))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "above the lowest of points="),
        ({"max_penetration": 0.0}, "max_penetration must be a number above 0"),
        ({"max_penetration": np.inf}, "max_penetration must be a number above 0"),
        ({"max_penetration": 0.1, "damping_ratio": -1.0}, "damping_ratio must be a number above 0"),
        ({"max_penetration": 0.1, "damping_ratio": np.inf}, "damping_ratio must be a number above"),
        ({"max_penetration": 0.1, "active_points": 0}, "active_points must be a whole number"),
        ({"max_penetration": 0.1, "contact_model": "rigid"}, "contact_model must be one of"),
        ({"max_penetration": 0.1, "p": -1.0}, "SoftGround's p must be a number from 0"),
        ({"points": [wd.ContactPoint("b", (0, 0, 1.0), 0.0)]}, "is not above its points"),
        ({"points": [wd.ContactPoint("b", (0, 0, 0.0), 0.0)]}, "is not above its points"),
    ],
)
def test_requests_without_a_solution_are_refused(options: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        wd.estimate_good_contact_parameters(BOX, **options)


def test_documented_numbers() -> None:
    check_numbers(
        "functions.simulation.contact_estimates",
        SHARE_OF_HEIGHT=0.01,
        STIFFEST=1000000.0,
        MOST_DAMPED=10000.0,
    )
