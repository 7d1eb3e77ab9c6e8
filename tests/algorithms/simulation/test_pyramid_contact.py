"""Contacts with four edges: their impulses, and the resulting force at the point."""

from __future__ import annotations

import numpy as np
import pytest

from warpdyn.algebra.linear import factorise
from warpdyn.algorithms.simulation.compliant_contact import Surface, compliant_contacts
from warpdyn.algorithms.simulation.constraint_sweeps import constraint_impulses, rows_of
from warpdyn.algorithms.simulation.contact_rows import PointContact
from warpdyn.algorithms.simulation.pyramid_contact import (
    PyramidContact,
    begin_of_edges,
    impulses_of_edges,
    soft_contacts,
)
from warpdyn.algorithms.simulation.soft_stops import SoftPoint

MASS, MU, H = 2.0, 0.5, 0.001
LAW = SoftPoint(2500.0, 100.0, (0.9, 0.9, 0.001, 0.5, 2.0), 0.3, 0.6, is_pyramidal=True)


def contact_of(height: float, v: list[float]) -> tuple[PyramidContact, list[float], list[float]]:
    """The contact of a point mass, its impulses along edges after many sweeps, and its velocity."""
    rows = rows_of(np.eye(3).tolist(), factorise((MASS * np.eye(3)).tolist()))
    surface = Surface([MU], 1e4, 0.02, 1.0)
    point = PointContact(height, 0, None, None, 1.0, 0)
    plain = compliant_contacts([point], surface, rows, v, v, H)
    (contact,) = soft_contacts(plain, [LAW], rows, v, H)
    assert isinstance(contact, PyramidContact)
    impulses, after = constraint_impulses(rows, [contact], v, [0.0] * 4, 400)
    return contact, list(impulses), list(after)


def test_an_edge_with_force_obeys_mujocos_law() -> None:
    """(v+ - v) / h + R f = -b v - K d r along it. Other edges do not pull."""
    v = [0.02, -0.01, -0.05]
    contact, edges, after = contact_of(-0.01, v)
    assert min(edges) > 0.0
    for edge, axis in zip(edges, ((MU, 0, 1), (-MU, 0, 1), (0, MU, 1), (0, -MU, 1)), strict=True):
        u, u_after = np.dot(axis, v), np.dot(axis, after)
        R = 0.1 / 0.9 * 4 * LAW.normal
        wanted = -LAW.rate * u + LAW.stiffness * 0.9 * 0.01
        assert (u_after - u) / H + R * edge / H == pytest.approx(wanted, rel=1e-6)
    x, y, n = contact.at_point(edges)
    assert MASS * (np.array(after) - v) == pytest.approx([x, y, n])


def test_a_fast_slip_leaves_one_edge_without_force() -> None:
    contact, edges, _ = contact_of(-0.01, [3.0, 0.0, 0.0])
    x, _, n = contact.at_point(edges)
    assert edges[0] == 0.0 and min(edges) >= 0.0
    assert -MU * n <= x < 0.0


def test_a_point_above_the_ground_has_no_force() -> None:
    assert contact_of(0.001, [0.0, 0.0, -9.0])[1] == [0.0] * 4


def test_impulses_are_converted_to_edges_and_back() -> None:
    """Impulses inside the pyramid are converted exactly, impulses outside to its sides. Without
    pyramids nothing changes.
    """
    contact, _, _ = contact_of(-0.01, [0.0, 0.0, 0.0])
    inside = [0.1, -0.05, 1.0]
    edges = begin_of_edges([contact], inside)
    assert min(edges) > 0.0 and impulses_of_edges([contact], edges) == pytest.approx(inside)
    assert min(begin_of_edges([contact], [2.0, 0.0, 1.0])) == 0.0
    assert contact.rows_used and contact.size == 4
    rows = rows_of(np.eye(3).tolist(), factorise(np.eye(3).tolist()))
    plain = compliant_contacts(
        [contact.contact], Surface([MU], 1e4, 0.02, 1.0), rows, [0.0] * 3, [0.0] * 3, H
    )
    assert soft_contacts(plain, [None], rows, [0.0] * 3, H) == plain
    assert begin_of_edges(plain, inside) == impulses_of_edges(plain, inside) == inside
