"""Capsules of links, and their distances from spheres and from the ground."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpdyn as wd

pytest.importorskip("warpdyn.rl")
from warpdyn.rl.tasks.keep_out import LinkCapsule, capsule_ends, capsules, clearance, height

PANDA = wd.load_robot("panda")
RNG = np.random.default_rng(0)
FIRST, LAST = RNG.uniform(-0.5, 0.5, (2, 8, 3))
RADII = RNG.uniform(0.02, 0.1, 8)
LAST[0] = FIRST[0]  # a sphere is a capsule whose ends are one


def test_the_gap_of_a_capsule_is_that_of_its_nearest_sphere() -> None:
    """A capsule is the union of spheres along its line."""
    shares = np.linspace(0.0, 1.0, 2001)[:, None, None]
    along = FIRST + shares * (LAST - FIRST)
    for centre in RNG.uniform(-0.8, 0.8, (20, 3)):
        nearest = np.linalg.norm(along - centre, axis=2).min(0) - RADII - 0.1
        assert clearance(FIRST, LAST, RADII, centre, 0.1) == pytest.approx(nearest, abs=1e-3)
    assert height(FIRST, LAST, RADII) == pytest.approx((along[..., 2] - RADII).min(0))


def test_gaps_change_at_most_by_the_motion_of_the_sphere() -> None:
    """This is the triangle inequality. Each metre of radius shortens the gap by one metre."""
    for centre in RNG.uniform(-0.8, 0.8, (20, 3)):
        move = RNG.normal(0, 0.05, 3)
        here, there = (clearance(FIRST, LAST, RADII, c, 0.1) for c in (centre, centre + move))
        assert (np.abs(there - here) <= np.linalg.norm(move) + 1e-12).all()
        assert clearance(FIRST, LAST, RADII, centre, 0.3) == pytest.approx(here - 0.2)


def test_a_cylinder_with_two_spheres_is_one_capsule() -> None:
    (upper,) = capsules(PANDA, ["panda_link2"])
    assert upper.link == "panda_link2" and upper.radius == 0.06
    assert np.allclose(upper.ends, [(0, 0, 0), (0, -0.18, 0)], atol=1e-12)
    third = capsules(PANDA, ["panda_link3"])  # and another sphere
    assert [len({*part.ends}) for part in third] == [2, 1]
    assert third[1] == LinkCapsule("panda_link3", ((0.0825, 0.0, 0.0),) * 2, 0.06)


def test_a_link_with_a_box_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="panda_link0 of panda has a box: leave the link out"):
        capsules(PANDA, ["panda_link0"])


def test_capsule_ends_move_with_their_links() -> None:
    parts = capsules(PANDA, ["panda_link4", "panda_hand"])

    @wd.kernel
    def ends(robot: Any, q: Any) -> Any:
        return np.concatenate(capsule_ends(robot, q, parts))

    q = RNG.uniform(PANDA.position_lower, PANDA.position_upper)
    found = np.split(wd.oracle(ends, PANDA, q[None])[0], 2)
    for k, part in enumerate(parts):
        pose = wd.oracle(wd.fk, PANDA, q[None], frame=part.link)[0]
        for which in (0, 1):
            there = pose[:3, :3] @ part.ends[which] + pose[:3, 3]
            assert found[which][k] == pytest.approx(there, abs=1e-12)
