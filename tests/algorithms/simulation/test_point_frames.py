"""Points as frames on plain numbers: positions, velocities and heights."""

from __future__ import annotations

import pytest
from states import states

import warpdyn as wd

MODEL = wd.load_robot("quadruped")
POINTS = [
    wd.ContactPoint("FL_foot", (0.0, 0.01, -0.02), 0.022),
    wd.ContactPoint("FL_foot", (0.01, 0.0, 0.0), 0.0),
    wd.ContactPoint("base", (0.1, -0.2, 0.05), 0.01),
]


def test_points_are_fixed_in_their_links() -> None:
    """Position is link to world times the centre, and the pose has the link's axes."""
    q = states(MODEL, 1).q[0]
    places = wd.oracle(wd.point_positions, MODEL, q, points=POINTS)
    poses = wd.oracle(wd.point_transforms, MODEL, q, points=POINTS)
    heights = wd.oracle(wd.point_heights, MODEL, q, points=POINTS)
    for point, place, pose, height in zip(POINTS, places, poses, heights, strict=True):
        T = wd.oracle(wd.fk, MODEL, q, frame=point.link)
        assert place == pytest.approx((T @ [*point.centre, 1.0])[:3], abs=1e-13)
        assert pose[:3, 3] == pytest.approx(place, abs=1e-14)
        assert pose[:3, :3] == pytest.approx(T[:3, :3], abs=1e-14)
        assert height == pytest.approx(place[2] - point.radius, abs=1e-13)


def test_velocities_are_rates_of_positions() -> None:
    s = states(MODEL, 1)
    q, v, h = s.q[0], s.v[0], 1e-6
    ahead, behind = (
        wd.oracle(
            wd.point_positions, MODEL, wd.oracle(wd.integrate, MODEL, q, x * v), points=POINTS
        )
        for x in (h, -h)
    )
    speeds = wd.oracle(wd.point_velocities, MODEL, q, v, points=POINTS)
    assert speeds == pytest.approx((ahead - behind) / (2 * h), abs=1e-7)


def test_links_are_in_contact_by_their_lowest_point() -> None:
    """A foot of two spheres touches with one. A link without points never does."""
    links = ["FL_foot", "base", "FR_foot"]
    q = MODEL.neutral.copy()
    places = wd.oracle(wd.point_positions, MODEL, q, points=POINTS)
    for lift, wanted in ((-1e-9, [1.0, 0.0, 0.0]), (0.001, [0.0] * 3), (-1.0, [1.0, 1.0, 0.0])):
        q[2] = lift - (places[0, 2] - 0.022)  # so high is the lowest point of the foot
        touching = wd.oracle(wd.in_contact, MODEL, q, points=POINTS, links=links)
        assert list(touching) == wanted
