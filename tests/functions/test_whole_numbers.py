"""Whole numbers that users pass: the same rule for each argument, also for NumPy's integers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from robots import by_name

import warpdyn as wd
from warpdyn.functions.simulation.contact_pairs import LARGEST_MESH
from warpdyn.functions.whole_numbers import whole_number

MODEL = by_name("double_pendulum").model
TARGET = np.eye(4)
LOOSE = wd.random.scale(0.9, 1.1)


class Argument(NamedTuple):
    """An argument of a public function with its smallest and largest number."""

    name: str
    call: Callable[[Any], Any]
    least: int | None = 1
    most: int | None = None


def _search(**options: Any) -> Any:
    return wd.inverse_kinematics(MODEL, {MODEL.links[-1].name: TARGET}, **options).q


ARGUMENTS = {
    "random_configuration, count": Argument(
        "count", lambda n: wd.random_configuration(MODEL, n), least=0
    ),
    "random_configuration, seed": Argument(
        "seed", lambda n: wd.random_configuration(MODEL, 2, seed=n), least=None
    ),
    "randomise, envs": Argument(
        "envs", lambda n: wd.randomise(MODEL, n, mass=LOOSE).arrays["mass"]
    ),
    "randomise, seed": Argument(
        "seed", lambda n: wd.randomise(MODEL, 2, seed=n, mass=LOOSE).arrays["mass"], least=None
    ),
    "Group, envs": Argument("envs[0]", lambda n: wd.Group([MODEL], [n]).envs),
    "inverse_kinematics, restarts": Argument("restarts", lambda n: _search(restarts=n), least=0),
    "inverse_kinematics, iterations": Argument("iterations", lambda n: _search(iterations=n)),
    "inverse_kinematics, seed": Argument("seed", lambda n: _search(seed=n), least=0),
    "close_loops, most_steps": Argument(
        "most_steps", lambda n: wd.loops.close(MODEL, MODEL.neutral, most_steps=n)
    ),
    "ContactPairs, mesh_vertices": Argument(
        "mesh_vertices", lambda n: len(wd.ContactPairs(MODEL, mesh_vertices=n)), 4, LARGEST_MESH
    ),
    "ContactPairs, slots": Argument("slots", lambda n: wd.ContactPairs(MODEL, slots=n).slots),
    "ContactPoints, mesh_points": Argument(
        "mesh_points", lambda n: len(wd.ContactPoints(MODEL, mesh_points=n)), least=0
    ),
    "Simulation, envs": Argument("envs", lambda n: wd.Simulation(MODEL, n, points=[]).q),
}


@pytest.mark.parametrize("case", ARGUMENTS)
def test_whole_numbers_are_accepted_within_their_bounds(case: str) -> None:
    """Both bounds pass, also as NumPy's integers.

    Other numbers are refused by the argument's name.
    """
    name, call, least, most = ARGUMENTS[case]
    kind: type[Exception] = TypeError if least is None else ValueError
    outside = [] if least is None else [least - 1]
    outside += [] if most is None else [most + 1]
    for wrong in (*outside, 1.5, 4.0, True, "4"):
        with pytest.raises(
            kind,
            match=rf"^{re.escape(name)} must be a whole number.*, got {re.escape(repr(wrong))}$",
        ):
            call(wrong)
    for right in {least or 1, *([] if most is None else [most])}:
        np.testing.assert_array_equal(call(np.int64(right)), call(right))


def test_the_message_names_the_bounds() -> None:
    """Both, the lower one, or none. The result is Python's int."""
    assert type(whole_number("n", np.uint8(3))) is int
    assert whole_number("n", -3, least=None) == -3
    with pytest.raises(ValueError, match=r"^n must be a whole number from 2 to 5, got 6$"):
        whole_number("n", 6, 2, 5)
    with pytest.raises(ValueError, match=r"^n must be a whole number of at least 1, got 0$"):
        whole_number("n", 0)
    with pytest.raises(TypeError, match=r"^n must be a whole number, got 0\.5$"):
        whole_number("n", 0.5, least=None)
