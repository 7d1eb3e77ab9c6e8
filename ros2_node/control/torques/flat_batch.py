"""Thousands of robots in one flat array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from warpdyn.functions.dynamics import rnea
from warpdyn.functions.kinematics import fk

from ..commands.torque_output import TorqueOutput
from ..settings.node_settings import Settings
from ..states.joint_states import POSITION_BOUND
from .device_launch import DeviceLaunch, bound_on
from .fleet_dynamics import FleetDynamics

MOST_NUMBERS = 4 << 20
"""Numbers of a state beyond which it is refused, 32 MiB: a quarter of a million robots of 8 joints."""

KEPT = 1024
"""Number of robots whose memory is never released."""


class FlatBatch:
    """Robots in one flat array: (B, 2, dof) positions and velocities in, (B, dof) torques out.

    They are computed on the device of `dynamics`. dof counts the joints of `model.joint_names`. A
    robot with invalid numbers gets zero torque and is counted; it has no effect on the others.
    """

    def __init__(self, dynamics: FleetDynamics, settings: Settings, output: TorqueOutput) -> None:
        """`output`: scale and limits of a single robot, which hold for each robot of a batch."""
        self._dynamics = dynamics
        self._output = output
        self._settings = settings
        self.bad_robots = 0
        self._size = -1

    def change(self, settings: Settings) -> None:
        self._settings = settings
        self._size = -1

    def warm(self) -> None:
        """Compute the torques of one robot, so that no kernel is compiled in a callback: a batch
        may come at any time, and does not use the scalar kernel of a single robot. On a GPU,
        compute its poses too; on the CPU the robots' own poses have compiled that kernel."""
        nv = self._dynamics.model.nv
        if self._dynamics.model.nq == nv and self._dynamics.law is None:
            self.compute(np.zeros((1, 2, nv)))
            if self._dynamics.device != "cpu" and self._settings.publish_link_poses:
                self.poses()

    def robots_in(self, length: int, sizes: Sequence[int]) -> int:
        """The number of robots in a message of `length` numbers; ValueError if its dimensions disagree, or if the
        settings ask for torques that no batch has."""
        nv = self._dynamics.model.nv
        if self._dynamics.law is not None:
            raise ValueError("batches are computed by mode, and this node has a law")
        # A batch has states alone: torques that need more than them would lack a part.
        settings = self._settings
        if settings.mode == "computed_torque":
            raise ValueError(
                "batches have no references to track: set mode to gravity or inverse_dynamics"
            )
        if np.any(settings.friction_scale):
            raise ValueError(
                "batches are without compensation of friction: set friction.scale to 0"
            )
        if self._dynamics.model.nq != nv:
            raise ValueError("batches need joints of one coordinate each")
        if length > MOST_NUMBERS:
            raise ValueError(
                f"the data has {length} numbers; at most {MOST_NUMBERS} are read, "
                f"{MOST_NUMBERS // (2 * nv)} robots: send them in parts"
            )
        if length == 0 or length % (2 * nv):
            raise ValueError(f"the data must be robots x 2 x {nv} numbers, got {length}")
        if sizes and list(sizes) != [length // (2 * nv), 2, nv]:
            raise ValueError(
                f"the dimensions must be [{length // (2 * nv)}, 2, {nv}], got {list(sizes)}"
            )
        return length // (2 * nv)

    def compute(self, state: np.ndarray) -> np.ndarray:
        """Torques (B, nv) for (B, 2, nv) states, scaled by `torque_scale` and within the effort
        limits. The next call reuses the array."""
        if len(state) != self._size:
            self._allocate(len(state))
        bad = self._load(state)
        self._run()
        self._output.scale_and_limit(self.torque)
        self.torque[bad] = 0.0
        self.bad_robots += len(bad)
        return self.torque

    def release(self) -> bool:
        """Release the memory of many robots; true if there was any. The next state allocates it again."""
        if self._size <= KEPT:
            return False
        self._allocate(1)
        return True

    def poses(self) -> np.ndarray:
        """Position and quaternion xyzw (B, nlinks, 7) of each link at the last states."""
        if isinstance(self._run, DeviceLaunch):
            poses: Any = fk(self._dynamics.model, self._run.arrays["q"], form="pose")
            return np.asarray(poses.numpy())
        return np.asarray(fk(self._dynamics.model, self.q, form="pose"))

    def _load(self, state: np.ndarray) -> np.ndarray:
        """Copy states, with zeros in place of invalid numbers; returns the indices of the robots that have some."""
        self.q[:] = state[:, 0]
        if self._settings.needs_velocity:
            self._v[:] = state[:, 1]
        sizes = np.abs(state)
        if sizes.max() <= POSITION_BOUND:  # false where one is NaN
            return np.empty(0, int)
        bad = np.flatnonzero(~(sizes <= POSITION_BOUND).all(axis=(1, 2)))
        self.q[bad], self._v[bad] = 0.0, 0.0
        return bad

    def _allocate(self, size: int) -> None:
        model, nv = self._dynamics.model, self._dynamics.model.nv
        self._size = size
        self.q, self._v, a, self.torque = (np.zeros((size, nv)) for _ in range(4))
        wrenches = np.zeros((size, model.nlinks, 6))
        gravity = np.tile(self._dynamics.gravity[0], (size, 1))
        inputs = {"q": self.q, "v": self._v, "a": a, "f_ext": wrenches, "gravity": gravity}
        params = self._dynamics.payload.params
        self._run = bound_on(
            self._dynamics.device, rnea, model, inputs, self.torque, ("q", "v"), params
        )
