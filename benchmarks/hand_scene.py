"""Scenes with a hand that holds a cube, for `benchmarks.scenes`."""

from __future__ import annotations

import warnings
from importlib import metadata
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

import warpdyn as wd
from warpdyn.peers.mujoco_scene import Drives, mujoco_scene
from warpdyn.rl.tasks.reorient_tasks import CUBE, HandReorient

from .simulation_robustness import ALLEGRO


class Hand:
    """An Allegro hand with its palm upwards that closes its fingers on a cube of 6.5 cm and holds it.

    Contact candidates are all pairs of the hand's boxes and spheres, and their pairs with the cube. The
    hand's x axis, the normal of its palm, points upwards. `dt` is the time step [s]; `friction` and `mass`
    [kg] belong to the cube.
    """

    name = "hand"
    settles = 2.0
    gravity = (-9.81, 0.0, 0.0)

    def __init__(self, dt: float, friction: float, mass: float) -> None:
        self.dt, self.friction = dt, friction
        text = Path(str(metadata.distribution("example-robot-data").locate_file(ALLEGRO)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", wd.ModelWarning)
            hand = wd.load_urdf(text.read_text()).with_armature(1e-3)
        place = (0.045, 0.0, 0.01)
        cube = wd.description.Box(0.065, 0.065, 0.065)
        self.model = hand.with_object("cube", cube, mass=mass, pose=place)
        self.pairs = wd.ContactPairs(self.model)
        self.drives = Drives(np.full(16, 3.0), np.full(16, 0.1), np.full(16, np.inf))
        self.control = wd.PD(self.drives.kp, self.drives.kd)
        self.open = np.array([*[0.0, 0.0, 0.1, 0.1] * 3, 1.2, 0.0, 0.0, 0.0])
        self.closed = np.array([*[0.0, 1.1, 1.2, 1.0] * 3, 1.3, 0.4, 0.7, 0.7])
        self.start = [*self.open, *place, 0.0, 0.0, 0.0, 1.0]

    def targets(self, t: float) -> np.ndarray:
        """Targets of the drives at time `t`."""
        return self.open + (self.closed - self.open) * np.clip(t / 0.5, 0.0, 1.0)

    def in_mujoco(self) -> tuple[Any, Any]:
        """MuJoCo's model and state."""
        spec = mujoco_scene(
            self.model,
            self.dt,
            friction=self.friction,
            drives=self.drives,
            gravity=self.gravity,
            fused=True,
            pairs=self.pairs,
        )
        spec.option.impratio = 10
        robot = spec.compile()
        data = mujoco.MjData(robot)
        x, y, z, w = self.start[19:]
        data.qpos[:] = [*self.start[:19], w, x, y, z]
        return robot, data


class Fingers(Hand):
    """The hand of the task `hand_reorient`, with capsules as phalanges, closes its fingers on a cube of 6.5 cm.

    Contact candidates are the pairs of palm and phalanges with the cube, and the pairs of fingertips.
    """

    name = "fingers"
    gravity = (0.0, 0.0, -9.81)

    def __init__(self, dt: float, friction: float, mass: float) -> None:
        task = HandReorient()
        self.dt, self.friction = dt, friction
        self.model = task.model.with_link_mass(CUBE, mass)
        self.pairs = task.pairs
        self.drives = Drives(np.full(16, 3.0), np.full(16, 0.1), np.full(16, np.inf))
        self.control = wd.PD(self.drives.kp, self.drives.kd)
        self.open = task.home
        self.closed = task.home + np.array([*[0.0, 0.3, 0.3, 0.3] * 3, 0.2, 0.0, 0.3, 0.3])
        self.start = [*task.home, *task.centre, *task.flat]
