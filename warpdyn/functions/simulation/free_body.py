"""A body that moves freely in a simulation: a robot's floating base, or an object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ...algorithms.simulation.contact_rows import ContactPoint
from ...algorithms.simulation.contact_shapes import ContactPair
from ...arrays import Array, views
from ...arrays.columns import columns
from ...execution.launch.state_checks import UNIT
from ...model import Model
from ...model.scene.free_bodies import free_joint_of, links_on
from .bound_attributes import BoundAttributes
from .chosen_rows import ChosenRows, refuse_not_finite
from .reset_on_device import reset_on_device


class SimulationArrays(Protocol):
    """The arrays of a `Simulation`."""

    model: Model
    q: Any
    v: Any
    start: Any
    impulses: Any
    points: Sequence[ContactPoint]
    pair_impulses: Any
    pairs: Sequence[ContactPair]


class FreeBody(BoundAttributes):
    """A free body of a `Simulation`.

    `pose` (envs, 7) and `velocity` (envs, 6) are its columns of the simulation's q and v, in the
    same memory: you can read them and write into them between steps. Pose: position of the link's
    origin in the world [m], and quaternion in the model's order. Velocity: linear and angular, in
    the link's axes [m/s, rad/s].
    """

    pose: Any
    velocity: Any

    def __init__(self, sim: SimulationArrays, name: str, chosen: ChosenRows) -> None:
        model = sim.model
        sim.model.link(name)
        joint = free_joint_of(model, name)
        at = model.coordinates[joint.name]
        self.name, self.joint = name, joint.name
        self.pose, self.velocity = columns(sim.q, at.q), columns(sim.v, at.v)
        self._chosen, self._library = chosen, chosen.library
        self._start = columns(sim.start, at.q)
        self._sim = sim
        self._bind_attributes()

    def reset(self, where: Any = None, *, pose: Any = None, velocity: Any = None) -> None:
        """Place the body in all environments, or in those of a mask (envs,) or of indices. The
        robot stays as it is.

        pose: (7,), one row for each environment that is reset, or (envs, 7); None: its columns of
        `start`. velocity: (6,), with the same shapes; None: at rest. The impulses of its contacts
        become zero. On a CUDA device this is one launch. Elsewhere a pose or velocity that is not
        finite, and a quaternion that is not of unit length, raise ValueError.
        """
        rows, count = self._chosen.rows(where)
        arrays: dict[str, Any] = {"pose": self.pose, "velocity": self.velocity}
        arrays |= {f"impulses {k}": each for k, each in enumerate(self._impulses())}
        begin = self._start if pose is None else pose
        if self._library.on_cuda(self.pose):
            chosen = None if where is None else rows
            values = {"pose": begin, "velocity": velocity}
            reset_on_device(self._library, chosen, count, arrays, values)
            return
        picked, check = (rows, count), self._chosen.check_values
        new: dict[str, Any] = {"pose": self._chosen.of_start(self._start, picked)}
        if pose is not None:
            new["pose"] = check("pose", pose, 7, picked)
            _refuse_wrong_pose(new["pose"])
        if velocity is not None:
            new["velocity"] = check("velocity", velocity, 6, picked)
            refuse_not_finite("velocity", new["velocity"])
        for name, array in arrays.items():
            self._library.assign(array, rows, new.get(name, 0.0))

    def _impulses(self) -> list[Any]:
        """The impulses (envs, 3 or 6) of its contact points, and of the contacts of its pairs."""
        sim, carried = self._sim, links_on(self._sim.model, self.name)
        found = [sim.impulses[:, k] for k, point in enumerate(sim.points) if point.link in carried]
        first = 0
        for pair in sim.pairs:
            if {shape.link for shape in pair} & set(carried):
                found += [sim.pair_impulses[:, first + c] for c in range(pair.contacts)]
            first += pair.contacts
        return found

    def __repr__(self) -> str:
        return f"<free body {self.name} of {self.pose.shape[0]} environments>"


def _refuse_wrong_pose(pose: Array) -> None:
    """Raise ValueError for poses (7,) or (n, 7) that are not finite or whose quaternion is not of
    unit length."""
    refuse_not_finite("pose", pose)
    lengths = np.linalg.norm(views.on_host(pose)[..., 3:], axis=-1).ravel()
    wrong = lengths[np.abs(lengths - 1.0) > UNIT]
    if wrong.size:
        raise ValueError(
            f"the quaternion of a pose must have length 1, got {wrong[0]:.6g} (wd.normalize)"
        )
