"""What texts of tasks share."""

from __future__ import annotations

import numpy as np
import pytest

import warpdyn as wd

pytest.importorskip("warpdyn.rl")
from warpdyn.rl.terms import (
    every,
    gravity_in_base,
    heading_quaternion,
    near,
    rotation,
    world_to_base,
)

MODEL = wd.load_robot("quadruped")


def test_the_rotation_is_that_of_the_base() -> None:
    for q in wd.random_configuration(MODEL, 3, seed=0):
        R = wd.oracle(wd.fk, MODEL, q, frame=MODEL.root)[:3, :3]
        assert rotation(q) == pytest.approx(R)
        assert gravity_in_base(q) == pytest.approx(R.T @ [0.0, 0.0, -1.0])
        assert world_to_base(q, np.array([1.0, 2.0, 3.0])) == pytest.approx(R.T @ [1, 2, 3])


def test_a_turned_base_is_level() -> None:
    R = rotation(np.array([0, 0, 0, *heading_quaternion(0.7)]))
    assert np.arctan2(R[1, 0], R[0, 0]) == pytest.approx(0.7) and R[2, 2] == 1.0


def test_near_is_one_without_an_error() -> None:
    assert near(np.zeros(2), 0.5) == 1.0
    assert near(np.array([0.3, 0.4]), 0.5) == pytest.approx(np.exp(-1.0))


def test_every_counts_steps_but_not_none() -> None:
    ages = np.arange(0.0, 1001.0)
    found = np.array([bool(every(a, 250)) for a in ages.astype(np.float32)])
    assert list(np.flatnonzero(found)) == [250, 500, 750, 1000]
