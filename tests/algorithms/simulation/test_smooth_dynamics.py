"""Rates of a state: forward dynamics with drives and forces on points."""

from __future__ import annotations

import numpy as np
import pytest
from states import states

import warpdyn as wd

MODEL = wd.load_robot("quadruped").with_friction(viscous=0.1)
FEET = [wd.ContactPoint(f"{leg}_foot", (0.0, 0.0, 0.0), 0.022) for leg in ("FL", "FR", "RL", "RR")]
GROUND = wd.SoftGround(0.6, 2e4, 400.0)


def low(count: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """States with feet in the ground."""
    s = states(MODEL, count)
    q = s.q.copy()
    for row in q:
        heights = wd.oracle(wd.point_heights, MODEL, row, points=FEET)
        row[2] -= np.sort(heights)[2]
    return q, 0.3 * s.v, s.tau


def test_inverse_dynamics_of_the_rates_gives_the_applied_forces() -> None:
    """rnea of the acceleration = tau + drives + Jᵀ f."""
    q, v, tau = (x[0] for x in low())
    control, targets = wd.PD(20.0, 0.5, 5.0), np.linspace(-1, 1, 12)
    m = np.full((4, 3), 1e-3)
    q_rate, a, rate, forces = wd.oracle(
        *(wd.state_derivative, MODEL, q, v, tau),
        **{"points": FEET, "ground": GROUND, "deformation": m},
        **{"control": control, "targets": targets},
    )
    assert (forces[:, 2] > 0).sum() >= 2 and np.isfinite(rate).all()
    driven = np.zeros(18)
    driven[6:] = np.clip(20.0 * (targets - q[7:]) - 0.5 * v[6:], -5.0, 5.0)
    # The point that touches is the lowest of the foot, below the link's origin in the world.
    J = wd.oracle(wd.jacobian, MODEL, q, frames=[p.link for p in FEET])
    arm = np.array([0.0, 0.0, -0.022])
    pushed = sum(
        each[:3].T @ f + each[3:].T @ np.cross(arm, f) for each, f in zip(J, forces, strict=True)
    )
    asked = wd.oracle(wd.rnea, MODEL, q, v, a)  # including joint friction
    assert asked == pytest.approx(tau + driven + pushed, abs=1e-8)
    assert q_rate == pytest.approx(wd.oracle(wd.configuration_rate, MODEL, q, v), abs=1e-14)


def test_a_short_explicit_step_equals_the_rate() -> None:
    """(state after h - state) / h for a small h."""
    q, v, tau = (x[0] for x in low())
    options = {"points": FEET, "ground": GROUND, "deformation": np.full((4, 3), 1e-3)}
    rates = wd.oracle(wd.state_derivative, MODEL, q, v, tau, **options)
    h = 1e-9
    end = wd.oracle(wd.step, MODEL, q, v, tau, dt=h, integrator="heun", **options)
    for before, after, rate in zip((q, v, options["deformation"]), end, rates, strict=False):
        assert (after - before) / h == pytest.approx(rate, abs=1e-4 * np.abs(rate).max())
