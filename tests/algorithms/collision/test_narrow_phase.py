"""Laws of the contacts of every pair of shapes, and gaps compared with coal and Qhull."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import shapes_at as at
from algebra_draws import placement

import warpdyn as wd
from warpdyn.algebra.rotations import Rotation, Vector
from warpdyn.algebra.spatial import Placement
from warpdyn.algorithms.collision.contact import POINTS, Contact, ShapeAt, points_of
from warpdyn.algorithms.collision.narrow_phase import NARROW_PHASES, contacts
from warpdyn.user_kernels.values import objects, of

PAIRS = list(NARROW_PHASES)

ROUND_OFF = 1e-12
"""Of lengths of 0.1 m in float64; box edges that are nearly parallel lose some digits."""

DEGENERATE = 1e-6
"""Gap of a pair in a special position, from coal: contacts at the ends of an overlap are preferred by up to
5e-7 m, corners of a polygon by 1e-6 m [m]."""

each_pair = pytest.mark.parametrize("pair", PAIRS, ids="-".join)


def separated_boxes(pair: tuple[str, str], gap: float) -> bool:
    """Boxes that are apart have the separation along one of 15 axes, which is at most their distance."""
    return pair == ("box", "box") and gap > 0


def scenes(pair: tuple[str, str], count: int, seed: int) -> list[tuple[ShapeAt, ShapeAt]]:
    draw = np.random.default_rng([seed, *map(ord, "".join(pair))])
    return [(at.random_shape(pair[0], draw), at.random_shape(pair[1], draw)) for _ in range(count)]


@each_pair
def test_the_smallest_gap_is_the_distance(pair: tuple[str, str]) -> None:
    """Compared with coal, for meshes with Qhull, apart and overlapping.

    Deeply overlapping meshes may have a longer separation.
    """
    few = "mesh" in pair and "plane" not in pair
    for a, b in scenes(pair, 25 if few else 300, 0):
        gap, wanted = at.gaps(contacts(a, b)).min(), at.distance(a, b)
        if separated_boxes(pair, wanted):
            assert 0 < gap <= wanted + at_most(pair)
        elif few and wanted < -0.01:
            assert gap <= wanted + at_most(pair)
        else:
            assert gap == pytest.approx(wanted, abs=at_most(pair))


def at_most(pair: tuple[str, str]) -> float:
    """Largest error of the smallest gap [m]."""
    return DEGENERATE if {"capsule", "mesh", "box"} & {*pair} else ROUND_OFF


@each_pair
def test_each_pair_has_its_documented_number_of_contacts(pair: tuple[str, str]) -> None:
    """The number is the same in both orders of the shapes. All contacts are finite and have unit
    normals.
    """
    for a, b in scenes(pair, 3, 1):
        for found in (contacts(a, b), contacts(b, a)):
            assert len(found) == points_of(*pair) == points_of(*reversed(pair))
            for c in found:
                values = [c.gap, *c.position, *c.normal, c.feature]
                assert np.isfinite(np.array(values, dtype=float)).all()
                assert np.linalg.norm(at.array(c.normal)) == pytest.approx(1.0, abs=1e-12)


SHALLOW = 0.02
"""Depth of shapes that are judged by the positions of their contacts [m]."""


def errors(narrow_phase: at.NarrowPhase, pair: tuple[str, str], count: int) -> np.ndarray:
    """The largest error of each law over random scenes: swap, motion, slope, touching, surface,
    position. Boxes that are apart are excluded from the last three, because their gap is only a
    bound. Deeply overlapping shapes are excluded from the last two, because the other shape is
    thinner than the gap.
    """
    draw = np.random.default_rng(2)
    found = []
    for a, b in scenes(pair, count, 3):
        gap = at.distance(a, b)
        apart, deep = separated_boxes(pair, gap), gap < -SHALLOW
        found.append(
            (
                at.swap_error(narrow_phase, a, b),
                at.motion_error(narrow_phase, a, b, placement(draw)),
                at.slope_error(narrow_phase, a, b),
                0.0 if apart else at.touching_error(narrow_phase, a, b),
                0.0 if apart or deep else at.surface_error(narrow_phase, a, b),
                0.0 if apart or deep else at.position_error(narrow_phase, a, b),
            )
        )
    return np.array(found).max(axis=0)


LIMITS = np.array((1e-6, 1e-6, 1e-5, DEGENERATE, 3e-6, 3e-6))
"""Errors of the laws: swap, motion, slope (a difference of gaps over 1e-6 m), touching, surface, position."""

OF_BOXES = np.array((1e-6, 1e-6, 2e-4, 1e-4, 1e-4, 1e-4))
"""The same for boxes. Where their faces touch in place of edges, up to 1.1 degrees from these, the depth is that of
the edges: its slope along the faces' normal is the cosine."""


@each_pair
def test_contacts_obey_the_laws(pair: tuple[str, str]) -> None:
    """Swapped shapes, a moved scene, the gap along its normal, and positions."""
    few = "mesh" in pair and "plane" not in pair
    found = errors(contacts, pair, 6 if few else 60)
    if pair == ("mesh", "mesh"):
        found[0] = 0.0  # overlapping meshes may have two separations
    assert (found < (OF_BOXES if pair == ("box", "box") else LIMITS)).all(), found


def with_change(**change) -> at.NarrowPhase:  # type: ignore[no-untyped-def]
    """Contacts with a wrong formula."""

    def wrong(a: ShapeAt, b: ShapeAt) -> list[Contact]:
        return [replace(c, **{k: f(c) for k, f in change.items()}) for c in contacts(a, b)]

    return wrong


WRONG = {
    "normal of one sign": (
        with_change(normal=lambda c: c.normal * (1.0 if c.normal.z > 0 else -1.0)),
        0,
    ),
    "position in one frame": (with_change(position=lambda c: at.Vector(0.0, 0.0, 0.0)), 1),
    "gap doubled": (with_change(gap=lambda c: 2.0 * c.gap), 2),
    "gap with an offset": (with_change(gap=lambda c: c.gap + 1e-3), 3),
    "position on one surface": (
        with_change(position=lambda c: c.position + c.normal * (0.5 * c.gap)),
        4,
    ),
    "position beyond a surface": (
        with_change(position=lambda c: c.position + c.normal * (3 * c.gap)),
        5,
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("pair", [("sphere", "capsule"), ("box", "box")], ids="-".join)
def test_each_law_fails_for_a_wrong_formula(pair: tuple[str, str], wrong: str) -> None:
    """Each of the six laws has a wrong formula that breaks it."""
    narrow_phase, law = WRONG[wrong]
    assert errors(narrow_phase, pair, 30)[law] > OF_BOXES[law]


def test_shapes_without_a_narrow_phase_are_refused_by_name() -> None:
    assert NARROW_PHASES.keys() == POINTS.keys()
    plane = at.shape("plane", ())
    for call in (lambda: contacts(plane, plane), lambda: points_of("plane", "plane")):
        with pytest.raises(ValueError, match="no narrow phase for plane and plane"):
            call()
    with pytest.raises(ValueError, match="no narrow phase for sphere and torus"):
        points_of("sphere", "torus")


MESH = at.vertices(np.random.default_rng(5), 10)

SINGLE = 3e-6
"""Round-off of gaps of 0.1 m in float32 [m]."""


def program(pair: tuple[str, str]):  # type: ignore[no-untyped-def]
    """The gaps of a pair as a user's kernel. Poses and sizes are symbols."""
    first, second = pair

    def shape_of(kind: str, values: list) -> ShapeAt:  # type: ignore[type-arg]
        rows = [Vector(*values[k : k + 3]) for k in (0, 3, 6)]
        place = Placement(Rotation(rows), Vector(*values[9:12]))
        corners = MESH if kind == "mesh" else ()
        return ShapeAt(kind, tuple(values[12 : 12 + at.SIZES[kind]]), place, corners)

    @wd.kernel
    def contact_gaps(robot, a: (15,), b: (15,)):  # type: ignore[no-untyped-def, valid-type]
        found = contacts(shape_of(first, [*objects(a)]), shape_of(second, [*objects(b)]))
        gaps = np.empty(len(found), object)
        gaps[:] = [c.gap for c in found]
        return of(gaps)

    return contact_gaps


def numbers(a: ShapeAt) -> list[float]:
    """A shape as numbers of a kernel's array."""
    R, p = at.pose(a)
    return [*R.ravel(), *p, *a.size, *[0.0] * (3 - len(a.size))]  # type: ignore[list-item]


@each_pair
def test_recorded_programs_equal_plain_numbers(pair: tuple[str, str]) -> None:
    """Gaps in float64 agree to round-off. In float32 only the smallest gap is compared, because
    other contacts may differ.
    """
    drawn = [
        tuple(replace(s, vertices=MESH) if s.kind == "mesh" else s for s in scene)
        for scene in scenes(pair, 8, 4)
    ]
    kernel, robot = program(pair), wd.load_robot("ur5e")
    arrays = [np.array([numbers(scene[k]) for scene in drawn]) for k in (0, 1)]
    wanted = np.array([at.gaps(contacts(a, b)) for a, b in drawn])
    assert np.asarray(kernel(robot, *arrays)) == pytest.approx(wanted, abs=1e-9)
    single = np.asarray(kernel(robot, *(x.astype(np.float32) for x in arrays)))
    assert single.min(1) == pytest.approx(wanted.min(1), abs=SINGLE)


@each_pair
def test_coincident_shapes_without_size_are_finite(pair: tuple[str, str]) -> None:
    """Shapes with equal centres and sizes of 0 or 0.1 m give no NaN and normals of length one."""
    for size in (0.0, 0.1):
        corners = at.box_vertices(size, size, size)
        a, b = (at.shape(kind, (size,) * at.SIZES[kind], corners=corners) for kind in pair)
        for c in contacts(a, b):
            values = np.array([c.gap, *c.position, *c.normal], dtype=float)
            assert (np.isfinite(values).all() and c.gap <= 0) or c.gap == 1e3
            assert np.linalg.norm(values[4:]) == pytest.approx(1.0)


@each_pair
def test_the_derivative_of_a_gap_is_the_normal(pair: tuple[str, str]) -> None:
    """The smallest gap is differentiated by the position of the second shape, as a recorded
    program.
    """
    drawn = [
        tuple(replace(s, vertices=MESH) if s.kind == "mesh" else s for s in scene)
        for scene in scenes(pair, 6, 6)
    ]
    kernel, robot = program(pair), wd.load_robot("ur5e")
    arrays = [np.array([numbers(scene[k]) for scene in drawn]) for k in (0, 1)]
    found = [contacts(a, b) for a, b in drawn]
    cotangents = np.zeros((len(drawn), points_of(*pair)))
    for row, each in zip(cotangents, found, strict=True):
        row[at.gaps(each).argmin()] = 1.0
    slopes = np.asarray(wd.vjp(kernel, robot, *arrays, cotangents=cotangents, wrt="b"))
    wanted = np.array([at.array(at.deepest(each).normal) for each in found])
    # Faces may touch instead of edges, and corners of a polygon instead of points 1e-6 m deeper.
    limit = 2e-2 if pair == ("box", "box") else 1e-5
    assert slopes[:, 9:12] == pytest.approx(wanted, abs=limit)
