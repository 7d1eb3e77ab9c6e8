"""Kinematics of contact points: Jacobians against those of links and differences, in all libraries
and base velocities.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from array_kinds import LIBRARIES, host, make_array, usable
from gradient_cases import MODELS, SOLES
from states import states

import warpdyn as wd

MODEL = MODELS["hopper"]
POINTS = SOLES[:2]
REFERENCES = ("local", "local_world_aligned", "world")


@pytest.mark.parametrize("reference", REFERENCES)
def test_point_jacobians_equal_link_jacobians_at_the_points(reference: Any) -> None:
    """`jacobian(point=)`, its derivative, and parts of both."""
    s = states(MODEL, 1)
    q, v = s.q[0], s.v[0]
    options: dict[str, Any] = {"points": POINTS, "reference": reference}
    J = wd.oracle(wd.point_jacobians, MODEL, q, **options)
    dJ = wd.oracle(wd.point_jacobian_derivatives, MODEL, q, v, **options)
    assert J.shape == dJ.shape == (2, 6, MODEL.nv)
    for point, each, rate in zip(POINTS, J, dJ, strict=True):
        at = {"frame": point.link, "point": list(point.centre), "reference": reference}
        assert np.array_equal(each, wd.oracle(wd.jacobian, MODEL, q, **at))
        assert np.array_equal(rate, wd.oracle(wd.jacobian_derivative, MODEL, q, v, **at))
    linear = wd.oracle(wd.point_jacobians, MODEL, q, part="linear", **options)
    assert np.array_equal(linear, J[:, :3])
    for rows, part in ((slice(3), "linear"), (slice(3, 6), "angular")):
        found = wd.oracle(wd.point_jacobian_derivatives, MODEL, q, v, part=part, **options)
        assert np.array_equal(found, dJ[:, rows])
        for function, given in ((wd.point_jacobians, ()), (wd.point_jacobian_derivatives, (v,))):
            described: Any = function
            call = described.describe(MODEL, q, *given, part=part, **options)
            assert call.shapes["out"] == (2, 3, MODEL.nv)
    h = 1e-6
    ahead, behind = (
        wd.oracle(wd.point_jacobians, MODEL, wd.oracle(wd.integrate, MODEL, q, x * v), **options)
        for x in (h, -h)
    )
    assert dJ == pytest.approx((ahead - behind) / (2 * h), abs=1e-7)


def test_point_jacobians_give_velocities_in_each_base_representation() -> None:
    """J v is the velocity of the points in each of them."""
    s = states(MODEL, 1)
    q = s.q[0]
    for word in ("local", "mixed", "world"):
        model = MODEL.with_base_velocity(word)
        v = wd.oracle(wd.convert.velocity, MODEL, q, s.v[0], target=word)
        J = wd.oracle(wd.point_jacobians, model, q, points=POINTS, part="linear")
        speeds = wd.oracle(wd.point_velocities, model, q, v, points=POINTS)
        assert J @ v == pytest.approx(speeds, abs=1e-12)
        assert speeds == pytest.approx(
            wd.oracle(wd.point_velocities, MODEL, q, s.v[0], points=POINTS), abs=1e-12
        )


def test_kernels_agree_with_the_oracle_in_every_library() -> None:
    s = states(MODEL, 3)
    calls: dict[str, tuple] = {
        "point_velocities": (s.q, s.v),
        "in_contact": (s.q,),
    }
    for name, arrays in calls.items():
        function = getattr(wd, name)
        wanted = wd.oracle(function, MODEL, *arrays, points=POINTS)
        for library in LIBRARIES if name == "point_velocities" else ("numpy",):
            try:
                usable(library)
            except pytest.skip.Exception:
                continue
            got = function(MODEL, *(make_array(library, x) for x in arrays), points=POINTS)
            assert host(got).shape == wanted.shape
            assert np.allclose(host(got), wanted, atol=1e-12), (name, library)


def test_unknown_links_and_fixed_points_are_refused() -> None:
    q = np.zeros((1, MODEL.nq))
    with pytest.raises(KeyError, match="leg"):
        wd.point_positions(MODEL, q, points=[("lag", (0, 0, 0), 0.0)])
    with pytest.raises(KeyError, match="leg"):
        wd.in_contact(MODEL, q, points=POINTS, links=["lag"])
    arm = wd.load_robot("panda")
    with pytest.raises(ValueError, match="fixed in the world"):
        wd.point_heights(arm, arm.neutral[None], points=[(arm.root, (0, 0, 0), 0.1)])


def test_heights_above_an_inclined_plane_are_distances() -> None:
    """(c - p) · n - r for any point p of the plane, and a link touches where one is 0 or less."""
    slope, level = np.array([0.3, -0.2]), 0.1
    q = states(MODEL, 5).q
    normal = np.array([*-slope, 1.0]) / np.linalg.norm([*slope, 1.0])
    centres = wd.point_positions(MODEL, q, points=SOLES)
    distances = (centres - [0.0, 0.0, level]) @ normal - [point.radius for point in SOLES]
    terrain = wd.Plane((0.3, -0.2), level)
    heights = wd.point_heights(MODEL, q, points=SOLES, terrain=terrain)
    assert heights == pytest.approx(distances, abs=1e-12)
    links = list(dict.fromkeys(point.link for point in SOLES))
    lowest = [[row[[p.link == link for p in SOLES]].min() for link in links] for row in distances]
    for shift in (-10.0, 0.0, 10.0):
        moved = wd.Plane((0.3, -0.2), level + shift)
        touching = wd.in_contact(MODEL, q, points=SOLES, links=links, terrain=moved)
        assert np.array_equal(touching == 1.0, np.array(lowest) - shift * normal[2] <= 0)


@pytest.mark.parametrize("library", LIBRARIES)
def test_heights_above_a_map_follow_its_scan_and_its_slope(library: str) -> None:
    """Height of the centre above the map, from `height_scan`, times n_z, less the radius."""
    usable(library)
    ball = wd.ModelBuilder("ball").add_link("ball", mass=1.0, inertia=np.eye(3) * 1e-3)
    model, points = ball.build(floating_base=True), [wd.ContactPoint("ball", (0, 0, 0), 0.03)]
    heights = np.random.default_rng(0).normal(size=(9, 9)) * 0.1
    terrain = wd.HeightMap(heights, 0.25, offset=(0.1, -0.2))
    q = np.tile(model.neutral, (4, 1))
    q[:, :3] = np.random.default_rng(1).uniform(-0.5, 0.5, (4, 3))
    ways = 1e-6 * np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]])
    scan = wd.height_scan(model, q, ways, terrain=terrain)
    rise = np.stack([scan[:, 2] - scan[:, 1], scan[:, 4] - scan[:, 3]], axis=1) / 2e-6
    wanted = scan[:, 0] / np.sqrt(1 + (rise**2).sum(1)) - 0.03
    found = wd.point_heights(model, make_array(library, q), points=points, terrain=terrain)
    assert host(found)[:, 0] == pytest.approx(wanted, abs=1e-7)
    again = wd.oracle(wd.point_heights, model, q, points=points, terrain=terrain)
    assert host(found) == pytest.approx(again, abs=1e-12)
    assert np.abs(wanted - (q[:, 2] - 0.03)).max() > 0.01  # the map matters


@pytest.mark.parametrize(
    "function, shape", [(wd.point_transforms, (4, 4)), (wd.point_jacobians, (6, MODEL.nv))]
)
def test_out_must_have_the_shape_of_the_result(function: Any, shape: tuple[int, ...]) -> None:
    """`out=` accepts (B, points, ...). One more row is refused."""
    q = states(MODEL, 3).q
    out = np.full((3, len(POINTS), *shape), np.nan)
    assert function(MODEL, q, points=POINTS, out=out) is out
    np.testing.assert_allclose(out[1], wd.oracle(function, MODEL, q[1], points=POINTS), atol=1e-12)
    with pytest.raises(ValueError, match="out must be"):
        more = np.empty((3, len(POINTS), shape[0] + 1, *shape[1:]))
        function(MODEL, q, points=POINTS, out=more)
