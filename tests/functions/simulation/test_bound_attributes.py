"""Arrays of a simulation can be written in place, but not replaced."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import warpdyn as wd


def test_replacing_an_array_of_a_simulation_is_refused() -> None:
    """The launch is bound to its memory.

    A new array would not be read, and would hide the state.
    """
    sim = wd.Simulation(wd.load_robot("cartpole"), 2, control=wd.PD(10.0, 1.0), dtype="float64")
    for name in ("q", "v", "targets", "tau", "start", "time"):
        before: Any = getattr(sim, name)
        with pytest.raises(AttributeError, match=rf"{name} of a Simulation .* {name}\[:\] = "):
            setattr(sim, name, np.ones(before.shape))
        assert getattr(sim, name) is before
    for name in ("control", "model", "points", "envs"):
        with pytest.raises(AttributeError, match="cannot be replaced; make another Simulation"):
            setattr(sim, name, None)


def test_arguments_of_a_simulation_are_not_set() -> None:
    """Those without an attribute of their own, such as the step: setting one would have no effect."""

    class Mine(wd.Simulation):
        def __init__(self, reward: float) -> None:
            super().__init__(wd.load_robot("cartpole"), 2, dtype="float64")
            self.reward = reward

    for name in ("dt", "gravity", "substeps", "ground"):
        with pytest.raises(
            AttributeError, match=f"{name} .*(is an argument of|cannot be replaced)"
        ):
            setattr(Mine(1.0), name, 0.001)


def test_a_misspelt_array_is_a_warning() -> None:
    """It would have no effect. Attributes of other names are the user's own."""
    sim = wd.Simulation(wd.load_robot("cartpole"), 2, control=wd.PD(10.0, 1.0))
    with pytest.warns(
        UserWarning, match="target is not an array .*; did you mean targets"
    ) as caught:
        sim.target = np.ones((2, 2))
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.target = np.zeros((2, 2))  # it is the user's own by now
        sim.note, sim.goal, sim.history = "mine", 1.0, []


def test_arrays_of_a_simulation_can_be_written_in_place() -> None:
    """`sim.q[:] = x` and `sim.q += x` work. Python ends the second by assigning the same array."""
    sim = wd.Simulation(wd.load_robot("cartpole"), 2, dtype="float64")
    sim.q[:] = 1.0
    sim.q += 1.0
    sim.step()
    assert (np.abs(sim.q - 2.0) < 0.1).all() and sim.time[0] > 0
    sim.note = "of the user"
    sim.note = "another one"


def test_replacing_the_pose_of_a_body_is_refused() -> None:
    cube = wd.description.Box(0.1, 0.1, 0.1)
    scene = wd.ModelBuilder("world").add_link("world").build().with_object("cube", cube, mass=1.0)
    body = wd.Simulation(scene, 2, points=[]).body("cube")
    with pytest.raises(AttributeError, match=r"pose of a FreeBody .* pose\[:\] = "):
        body.pose = np.zeros((2, 7))
    body.pose[:, 2] = 1.0
    body.velocity += 1.0
