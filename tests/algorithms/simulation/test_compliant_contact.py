"""Impulses of contacts: Coulomb's law, compliance, and residuals of sweeps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from states import states

import warpdyn as wd
from warpdyn.algebra.linear import Factors, factorise
from warpdyn.algorithms.simulation.compliant_contact import (
    NEAR_RIGID,
    REBOUND,
    STICTION,
    Surface,
    compliant_contacts,
)
from warpdyn.algorithms.simulation.constraint_sweeps import constraint_impulses, rows_of
from warpdyn.algorithms.simulation.contact_rows import ContactPoint, PointContact, contact_rows
from warpdyn.execution.request.evaluate import tree_of

H = 0.005
QUADRUPED = wd.load_robot("quadruped")
FEET = tuple(
    ContactPoint(f"{leg}_foot", (0.0, 0.0, 0.0), 0.022) for leg in ("FL", "FR", "RL", "RR")
)


def contact_impulses(
    mass: Factors,
    J: list[list[float]],
    contacts: list[PointContact],
    free: list[float],
    warm: list[float],
    surface: Surface,
    sweeps: int,
    before: list[float] | None = None,
) -> tuple[list, list]:
    """Impulses of contacts only, and the velocities after them."""
    rows = rows_of(J, mass)
    constraints = compliant_contacts(contacts, surface, rows, before or free, free, H)
    return constraint_impulses(rows, constraints, free, warm, sweeps, along_paths=False)


class Case:
    """A quadruped in the ground with random velocities, and its contacts."""

    def __init__(self, seed: int, friction: float = 0.6):
        rng = np.random.default_rng(seed)
        q = states(QUADRUPED, 1, seed).q[0]
        tree = tree_of(QUADRUPED)
        heights = [contact.height for contact in contact_rows(tree, q.tolist(), FEET)[0]]
        q[2] -= sorted(heights)[seed % 3] + 0.002  # one, two or three feet in the ground
        self.contacts, rows = contact_rows(tree, q.tolist(), FEET)
        self.J = np.array(rows, dtype=float)
        M = wd.oracle(wd.crba, QUADRUPED, q)
        self.M, self.rows = M, rows
        self.mass = factorise(M.tolist())
        self.free = rng.normal(size=QUADRUPED.nv)
        self.free[:3] -= wd.oracle(wd.fk, QUADRUPED, q, frame="base")[2, :3]  # downwards
        self.surface = Surface([friction] * len(FEET), 2e4, 0.02, 1.0)

    def impulses(
        self, sweeps: int, warm: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        begin = np.zeros(3 * len(FEET)) if warm is None else warm
        impulses, after = contact_impulses(
            self.mass,
            self.rows,
            self.contacts,
            self.free.tolist(),
            begin.tolist(),
            self.surface,
            sweeps,
        )
        return np.array(impulses, dtype=float), np.array(after, dtype=float)


@pytest.mark.parametrize("seed", range(6))
def test_velocities_after_sweeps_equal_those_of_the_impulses(seed: int) -> None:
    """M (v+ - v_free) = Jᵀ l, for any number of sweeps."""
    case = Case(seed)
    impulses, after = case.impulses(2)
    assert np.allclose(case.M @ (after - case.free), case.J.T @ impulses, atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_impulses_obey_coulombs_law(seed: int) -> None:
    """Forces push and are within the cone after each sweep.

    After convergence friction takes power, sliding points are on the cone against their velocity,
    and pressed points have the velocity of their compliance.
    """
    case = Case(seed)
    for sweeps in (1, 4, 3000):
        impulses, after = case.impulses(sweeps)
        each = impulses.reshape(-1, 3)
        tangent, normal = np.hypot(each[:, 0], each[:, 1]), each[:, 2]
        assert (normal >= 0).all() and (tangent <= 0.6 * normal + 1e-12).all()
    moving = (case.J @ after).reshape(-1, 3)
    G = case.J @ np.linalg.inv(case.M) @ case.J.T
    for n, contact in enumerate(case.contacts):
        assert (each[n, :2] * moving[n, :2]).sum() <= 1e-12
        w = np.trace(G[3 * n : 3 * n + 3, 3 * n : 3 * n + 3]) / 3
        rate = 1 / (H + 0.02) if contact.height < 0 else 1 / H
        R_n = max(NEAR_RIGID * w, rate / (H * 2e4))
        target = -max(contact.height * rate, -1.0)
        gap = moving[n, 2] - target + R_n * normal[n]
        assert gap > -1e-9 and abs(gap * normal[n]) < 1e-9
        slip = moving[n, :2] + STICTION * w * each[n, :2]
        if tangent[n] < 0.6 * normal[n] * (1 - 1e-6):
            assert np.abs(slip).max() < 1e-9
        elif normal[n] > 0:
            along = -slip / np.hypot(*slip)
            assert np.allclose(each[n, :2], tangent[n] * along, atol=1e-6)


def test_sweeps_start_at_the_given_impulses() -> None:
    """Converged impulses do not change."""
    case = Case(1)
    found, _ = case.impulses(3000)
    again, _ = case.impulses(1, found)
    assert found.any() and np.allclose(again, found, atol=1e-10)


def test_a_point_that_stays_above_the_ground_has_no_impulse() -> None:
    """A foot that reaches the ground within the step is stopped.

    Dissipation acts only in the ground.
    """
    one = factorise([[2.0]])
    for height, speed, pressed in ((0.011, -2.0, False), (0.009, -2.0, True), (0.02, -2.0, False)):
        contact = PointContact(height, 0, None)
        rows = [[0.0], [0.0], [1.0]]
        impulses, after = contact_impulses(
            one, rows, [contact], [speed], [0.0] * 3, Surface([0.5], 1e5, 0.02, 1.0), 4
        )
        assert (impulses[2] > 0) is pressed and math.isfinite(after[0])


def test_the_push_out_speed_is_bounded() -> None:
    """A point deep in the ground leaves it at the cap's speed, not at depth / h."""
    one, rows = factorise([[2.0]]), [[0.0], [0.0], [1.0]]
    for depth, leaves in ((1.0, 0.5), (10.0, 0.5)):
        _, after = contact_impulses(
            one,
            rows,
            [PointContact(-depth, 0, None)],
            [0.0],
            [0.0] * 3,
            Surface([0.5], 1e9, 0.0, 0.5),
            50,
        )
        assert 0.9 * leaves < after[0] <= leaves


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_fast_points_rebound_at_their_restitution(restitution: float) -> None:
    """Exactly, above the ground or in it.

    Slow points, and those that do not arrive in the step, do not rebound.
    """
    one, rows = factorise([[2.0]]), [[0.0], [0.0], [1.0]]

    def after(height: float, speed: float, *more: list[float]) -> float:
        contact, surface = PointContact(height, 0, None), Surface([0.5], 1e5, 0.02, 1.0, *more)
        free = [speed - 9.81 * H]
        found = contact_impulses(one, rows, [contact], free, [0.0] * 3, surface, 4, [speed])
        return found[1][0]

    for height, speed in ((0.001, -2.0), (-0.004, -2.0), (0.0, -REBOUND * H - 1e-9)):
        if restitution:
            assert after(height, speed, [restitution]) == pytest.approx(-restitution * speed)
        else:
            assert after(height, speed, [0.0]) == after(height, speed)
    for height, speed in ((0.02, -2.0), (0.0, -REBOUND * H + 1e-9), (-0.001, 3.0)):
        assert after(height, speed, [restitution]) == after(height, speed)


def test_a_contact_uses_its_normal_row_and_then_its_tangential_rows() -> None:
    """On level ground each axis of a contact is one row."""
    case = Case(1)
    rows = rows_of(case.rows, case.mass)
    free = case.free.tolist()
    found = compliant_contacts(case.contacts, case.surface, rows, free, free, H)
    wanted = [[3 * k + 2, 3 * k, 3 * k + 1] for k in range(len(FEET))]
    assert [each.rows_used for each in found] == wanted


@pytest.mark.parametrize("dissipation", [0.0, 0.02])
def test_a_stiffness_beyond_the_bound_acts_like_the_bound(dissipation: float) -> None:
    """At rest, a point sinks by force / stiffness up to 4 pi² / (w h (h + dissipation))."""
    mass, inverse_mass = factorise(np.diag([2.0] * 3).tolist()), 0.5
    bound = 4.0 * math.pi**2 / (inverse_mass * H * (H + dissipation))
    point = PointContact(-1e-3, 0, None)
    rows = rows_of(np.eye(3).tolist(), mass)

    def compliance(stiffness: float) -> float:
        surface = Surface([0.8], stiffness, dissipation, 1.0)
        (contact,) = compliant_contacts([point], surface, rows, [0.0] * 3, [0.0] * 3, H)
        return float(contact.R_n) * H * (H + dissipation)

    assert compliance(0.99 * bound) == pytest.approx(1.0 / (0.99 * bound), rel=1e-12)
    assert compliance(100.0 * bound) == pytest.approx(1.0 / bound, rel=1e-12)
