"""Sweeps over constraints of both kinds: velocities equal the effect of impulses."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from states import states

import warpdyn as wd
from warpdyn.algebra.linear import factorise
from warpdyn.algorithms.crba import crba
from warpdyn.algorithms.simulation import constraint_sweeps
from warpdyn.algorithms.simulation.compliant_contact import Surface, compliant_contacts
from warpdyn.algorithms.simulation.constraint_sweeps import Constraint, constraint_impulses, rows_of
from warpdyn.algorithms.simulation.contact_rows import ContactPoint, contact_rows
from warpdyn.algorithms.simulation.joint_rows import joint_rows
from warpdyn.execution.request.call import Call, input_shapes
from warpdyn.execution.request.evaluate import record_call, tree_of

MODEL, H = wd.load_robot("quadruped"), 0.005
FEET = [ContactPoint(f"{leg}_foot", (0.0, 0.0, 0.0), 0.022) for leg in ("FL", "RR")]
KNEES = (8, 11, 14, 17)


@pytest.fixture(scope="module", params=range(3))
def scene(request: pytest.FixtureRequest) -> tuple:
    """Two feet in the ground and friction in the knees, at random: rows, constraints, velocity."""
    rng, q = np.random.default_rng(request.param), states(MODEL, 1, request.param).q[0]
    q[2] -= max(c.height for c in contact_rows(tree_of(MODEL), q.tolist(), FEET)[0]) + 0.001
    contacts, J = contact_rows(tree_of(MODEL), q.tolist(), FEET)
    J += [[float(j == k) for j in range(MODEL.nv)] for k in KNEES]
    M, free = wd.oracle(wd.crba, MODEL, q), rng.normal(size=MODEL.nv)
    rows = rows_of(J, factorise(M.tolist()))
    constraints: list[Constraint] = [
        *joint_rows(rows, KNEES, dict.fromkeys(KNEES, 2.0), (), q.tolist(), free.tolist(), H),
        *compliant_contacts(
            contacts, Surface([0.6] * 2, 2e4, 0.02, 1.0), rows, free.tolist(), free.tolist(), H
        ),
    ]
    return M, np.array(J, dtype=float), rows, constraints, free


def test_responses_of_rows_equal_those_of_the_mass_matrix(scene: tuple) -> None:
    """G = J M⁻¹ Jᵀ."""
    M, J, rows, _, v = scene
    assert np.allclose(rows.G, J @ np.linalg.inv(M) @ J.T, atol=1e-10)
    assert np.allclose(rows.of(v.tolist()), J @ v)


def test_velocities_after_sweeps_equal_those_of_all_impulses(scene: tuple) -> None:
    """M (v+ - v_free) = Jᵀ l of feet and knees, in both forms of the rows' velocities.

    Impulses are in the order of the constraints.
    """
    M, J, rows, constraints, free = scene
    warm = np.random.default_rng(0).normal(size=10).tolist()
    several = [
        constraint_impulses(rows, constraints, free.tolist(), warm, 3, along_paths=each)
        for each in (False, True)
    ]
    assert np.allclose(several[0][0], several[1][0], atol=1e-12)
    impulses, after = several[1]
    knees, feet = np.array(impulses[:4]), np.array(impulses[4:])
    assert np.allclose(M @ (np.array(after) - free), J.T @ [*feet, *knees], atol=1e-9)
    assert (np.abs(knees) <= 2.0 * H + 1e-12).all() and (feet[2::3] >= 0).all()


def test_a_converged_solution_does_not_change(scene: tuple) -> None:
    """Another sweep changes nothing. Feet and knees hold each other."""
    _, _, rows, constraints, free = scene
    found, after = constraint_impulses(rows, constraints, free.tolist(), [0.0] * 10, 4000, True)
    again, still = constraint_impulses(rows, constraints, free.tolist(), found, 1, False)
    assert np.any(found) and np.allclose(again, found, atol=1e-9)
    assert np.allclose(still, after, atol=1e-9)


def test_the_shorter_form_is_chosen_by_its_products() -> None:
    """Eight points on two soles are computed row by row, all shapes of a quadruped along paths."""

    def operations(robot: str, links: str, form: bool | None) -> int:
        model = wd.load_robot(robot)
        points = wd.ContactPoints(model).only(links)

        def text(tree: Any, q: Any, v: Any) -> Any:
            contacts, J = contact_rows(tree, q, points)
            rows = rows_of(J, factorise(crba(tree, q)))
            surface = Surface([0.8] * len(points), 1e4, 0.02, 1.0)
            constraints = compliant_contacts(contacts, surface, rows, v, v, 0.005)
            warm = [0.0] * 3 * len(points)
            return constraint_impulses(rows, constraints, v, warm, 4, along_paths=form)[1]

        call: Call[Any] = Call(
            "forms", model, (text,), {"q": model.neutral, "v": np.zeros(model.nv)}
        )
        return record_call(call, input_shapes(call), True).operations

    for robot, links, along in (
        ("quadruped", "*", True),
        ("humanoid", "*_ankle_roll_link", False),
    ):
        counts = {form: operations(robot, links, form) for form in (True, False, None)}
        assert counts[None] == counts[along] < counts[not along]


@pytest.mark.parametrize(
    ("sweeps", "width", "shorter"), [(4, 2, True), (4, 3, False), (1, 3, True)]
)
def test_the_choice_of_the_form_counts_products(sweeps: int, width: int, shorter: bool) -> None:
    """Four rows on paths of `width` entries with one update each in a sweep.

    On paths: 2 · 4 width products a sweep, weighted. Row by row: 4 · 4 a sweep, and once the 10
    width of G and 16.
    """
    rows = SimpleNamespace(Y=[[1.0] * width + [0.0] * 6] * 4)
    constraints = [SimpleNamespace(rows_used=[k]) for k in range(4)]
    on_paths = constraint_sweeps.WAITING * sweeps * 8 * width
    assert (on_paths < sweeps * 16 + 10 * width + 16) == shorter
    assert constraint_sweeps._shorter_along_paths(rows, constraints, sweeps) == shorter  # type: ignore[arg-type]
