"""Meshes that rest on planes, boxes and each other, compared with boxes of the same form."""

from __future__ import annotations

import numpy as np
import pytest
import shapes_at as at

from warpdyn.algebra.rotations import Vector
from warpdyn.algorithms.collision.contact import FAR
from warpdyn.algorithms.collision.mesh_contacts import axes_across, cylinder_vertices
from warpdyn.algorithms.collision.narrow_phase import contacts

PLANE = at.shape("plane", ())

CORNERS = at.box_vertices(0.1, 0.1, 0.1)

CUBE = at.shape("mesh", (), corners=CORNERS)


def test_axes_across_a_face_are_continuous() -> None:
    """Small turns of each face normal of a cube change the axes little."""
    for axis in (*np.eye(3), *-np.eye(3)):
        R = axes_across(Vector(*axis.tolist()))
        assert at.array(R.to_child(Vector(*axis.tolist()))) == pytest.approx([0, 0, 1], abs=1e-12)
        for k in range(3):
            near = axis + 1e-6 * np.eye(3)[k]
            other = axes_across(Vector(*(near / np.linalg.norm(near)).tolist()))
            for one, two in zip(R.matrix.rows, other.matrix.rows, strict=True):
                assert at.array(one) == pytest.approx(at.array(two), abs=1e-5)


def mesh(height: float, angles: tuple[float, float, float], corners=CORNERS) -> at.ShapeAt:  # type: ignore[no-untyped-def]
    return at.shape("mesh", (), (0.0, 0.0, height), at.rotation_of(angles), corners)


def places(found: list) -> np.ndarray:  # type: ignore[type-arg]
    """Sorted positions of the contacts that exist."""
    x = np.array([at.array(c.position) for c in found if c.gap < FAR])
    return x[np.lexsort(np.round(x, 5).T)]


def test_contacts_of_a_mesh_with_a_plane_are_vertices() -> None:
    """The lowest one is among the four."""
    draw = np.random.default_rng(0)
    for _ in range(20):
        a = at.random_shape("mesh", draw, count=20)
        found = contacts(PLANE, a)
        corners = at.corners_of(a)
        assert at.gaps(found).min() == pytest.approx(corners[:, 2].min(), abs=1e-6)
        for c in found:
            vertex = at.array(c.position + c.normal * (0.5 * c.gap))
            assert c.gap == FAR or np.abs(corners - vertex).sum(1).min() < 1e-9


def test_a_prism_on_a_plane_has_four_contacts_of_its_lower_side() -> None:
    """A quarter turn from each other. When it tilts, the lowest vertex replaces one of them."""
    prism = cylinder_vertices(0.1, 0.2)
    assert len(prism) == 32
    for x, y in ((0.0, 0.0), (0.01, 0.0), (-0.003, 0.02)):
        found = contacts(PLANE, mesh(0.2, (x, y, 0.0), prism))
        angles = np.sort([np.arctan2(c.position.y, c.position.x) for c in found])
        assert np.diff(angles) == pytest.approx(np.pi / 2, abs=0.8 if x or y else 0.03)
        assert min(c.position.z for c in found) == pytest.approx(0.0, abs=0.003)  # type: ignore[type-var]


def test_a_prism_approximates_its_cylinder_to_one_percent() -> None:
    """It is as far inside as outside."""
    x = np.array(cylinder_vertices(2.0, 0.5))
    outer = np.hypot(x[:, 0], x[:, 1])
    inner = outer * np.cos(np.pi / 16)
    assert outer - 2.0 == pytest.approx(2.0 - inner) and np.ptp(outer) < 1e-12
    assert (outer - 2.0).max() < 0.01 * 2.0 and set(x[:, 2]) == {-0.5, 0.5}


@pytest.mark.parametrize("turn", [0.0, 0.5])
@pytest.mark.parametrize("kind", ["mesh", "box"])
def test_mesh_cubes_have_the_contacts_of_boxes(kind: str, turn: float) -> None:
    """Four contacts at the corners of the common polygon."""
    upper = at.shape("box", (0.1, 0.1, 0.1), (0.03, 0.02, 0.199), at.rotation_of((0.0, 0.0, turn)))
    cube = at.shape("box", (0.1, 0.1, 0.1))
    wanted = contacts(cube, upper)
    other = upper if kind == "box" else at.ShapeAt("mesh", (), upper.placement, CORNERS)
    found = contacts(CUBE, other)
    assert at.gaps(found) == pytest.approx(-0.001)
    for c in found:
        assert [*c.normal] == pytest.approx([0.0, 0.0, 1.0])
    if turn == 0:
        assert places(found) == pytest.approx(places(wanted), abs=1e-5)
    assert np.linalg.norm(np.ptp(places(found), axis=0)) > 0.2


def test_a_capsule_on_a_mesh_has_contacts_at_both_ends_of_the_overlap() -> None:
    capsule = at.shape(
        "capsule", (0.05, 0.2), (0.0, 0.0, 0.149), at.rotation_of((0.0, np.pi / 2, 0.0))
    )
    found = contacts(CUBE, capsule)
    assert at.gaps(found) == pytest.approx(-0.001)
    assert places(found)[:, 0] == pytest.approx([-0.1, 0.1], abs=1e-5)


def test_a_sphere_on_a_mesh_has_one_contact() -> None:
    (c,) = contacts(CUBE, at.shape("sphere", (0.05,), (0.02, 0.03, 0.149)))
    assert c.gap == pytest.approx(-0.001) and [*c.normal] == pytest.approx([0.0, 0.0, 1.0])
    assert [*c.position] == pytest.approx([0.02, 0.03, 0.0995])
    (c,) = contacts(CUBE, at.shape("sphere", (0.05,)))
    assert c.gap == pytest.approx(-0.15)


@pytest.mark.parametrize("corners", [CORNERS, cylinder_vertices(0.1, 0.1)])
@pytest.mark.parametrize("below", [PLANE, at.shape("box", (0.3, 0.3, 0.1), (0.0, 0.0, -0.1))])
def test_contacts_keep_positions_and_features_in_small_motions(below, corners) -> None:  # type: ignore[no-untyped-def]
    """A cube and a prism lie on a plane and on a box."""
    draw = np.random.default_rng(0)
    before = contacts(below, mesh(0.099, (0.0, 0.0, 0.1), corners))
    for _ in range(10):
        x, y, z = (1e-4 * draw.normal(size=3)).tolist()
        found = contacts(below, mesh(0.099, (x, y, 0.1 + z), corners))
        for one, two in zip(before, found, strict=True):
            assert one.feature == two.feature
            assert np.abs(at.array(one.position) - at.array(two.position)).max() < 1e-3


def test_two_cylinders_on_one_axis_touch_at_four_points_around_it() -> None:
    """The edges of their faces coincide up to rounding, upright and upside down."""
    prism, upright, over = cylinder_vertices(0.1, 0.1), (0.0, 0.0, 0.0), (np.pi, 0.0, 0.0)
    for below in (upright, over):
        for above in (upright, over):
            for offset in (0.0, 1e-9, 0.01):
                a = mesh(0.0, below, prism)
                b = at.shift_shape(mesh(0.1995, above, prism), Vector(offset, 0.0, 0.0))
                found = contacts(a, b)
                assert at.gaps(found) == pytest.approx([-0.0005] * 4)
                x, y, _ = places(found).T
                assert len({*zip(np.sign(x), np.sign(y), strict=True)}) == 4
