"""The hand of the task that turns a cube is compared with the maker's description."""

from __future__ import annotations

import warnings
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

import warpdyn as wd
from benchmarks.simulation_robustness import ALLEGRO
from warpdyn.rl.tasks.allegro_hand import CURLED, EFFORT, FINGERS, JOINTS, allegro_hand

HAND = allegro_hand(0.5, 0.2)


@pytest.fixture(scope="module")
def description() -> wd.Model:
    try:
        file = metadata.distribution("example-robot-data").locate_file(ALLEGRO)
    except metadata.PackageNotFoundError:
        pytest.skip("example-robot-data is not installed (pip install example-robot-data)")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wd.ModelWarning)
        return wd.load_urdf(Path(str(file)).read_text())


def test_fingertip_positions_equal_those_of_the_description(description: wd.Model) -> None:
    """The positions in the palm's frame agree for random joint angles within their limits."""
    assert np.allclose(HAND.position_lower, description.position_lower)
    assert np.allclose(HAND.position_upper, description.position_upper)
    q = np.random.default_rng(0).uniform(HAND.position_lower, HAND.position_upper, (20, JOINTS))
    palm = wd.fk(HAND, q, frame="palm")
    for k, finger in enumerate(FINGERS):
        ours = np.linalg.solve(palm, wd.fk(HAND, q, frame=f"{finger}_tip"))
        theirs = wd.fk(description, q, frame=f"link_{4 * k + 3}.0_tip")
        assert np.allclose(ours[:, :3, 3], theirs[:, :3, 3], atol=1e-6)


def test_masses_equal_those_of_the_description(description: wd.Model) -> None:
    theirs = {link.name: link.mass for link in description.links}
    ours = {link.name: link.mass for link in HAND.links}
    assert sum(ours.values()) == pytest.approx(sum(theirs.values()))
    for k, finger in enumerate(FINGERS):
        for j, part in enumerate(("spread", "base", "middle", "end")):
            assert ours[f"{finger}_{part}"] == theirs[f"link_{4 * k + j}.0"]


def test_the_palm_looks_up_and_the_fingers_point_down() -> None:
    T = wd.fk(HAND, np.array(CURLED), frame="palm")
    assert T[2, 0] == pytest.approx(np.cos(0.2)) and T[2, 2] == pytest.approx(-np.sin(0.2))
    assert T[2, 3] == pytest.approx(0.5) and np.linalg.det(T[:3, :3]) == pytest.approx(1.0)


def test_gravity_torques_are_below_a_sixth_of_the_effort_limit() -> None:
    """Drives can hold the fingers in any posture."""
    q = np.random.default_rng(1).uniform(HAND.position_lower, HAND.position_upper, (200, JOINTS))
    assert np.abs(wd.gravity_torques(HAND, q)).max() < EFFORT / 6
    assert (HAND.effort_limit == EFFORT).all()
