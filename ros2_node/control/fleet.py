"""The robots that share one model: built, computed in one launch and replaced together. No ROS."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from warpdyn.model import Model

from .launch_times import Timing
from .robot import Robot
from .robot_description import load_model
from .settings.node_settings import Settings
from .torques.flat_batch import FlatBatch
from .torques.fleet_dynamics import FleetDynamics


class Publications(Protocol):
    """Outputs of a fleet other than its torques, which the build of a fleet checks and compiles."""

    def check(self, model: Model) -> None:
        """Raise ValueError if the model lacks a link or joint that the outputs need."""

    def warm(self, dynamics: FleetDynamics) -> None:
        """Compute all outputs once, so that no kernel is compiled in a callback."""


class Fleet:
    """All robots of one node. `counts` (one Counter for each robot) outlive a change of the
    model."""

    def __init__(
        self,
        settings: Settings,
        text: str,
        counts: Sequence[Counter[str]],
        publications: Publications | None = None,
        model: Model | None = None,
    ) -> None:
        """`model`: the model that the settings describe, if it is loaded already."""
        self.settings = settings
        model = model or load_model(settings, text)
        if publications is not None:
            publications.check(model)
        self.dynamics = FleetDynamics(model, settings, len(counts))
        self.dynamics.compute()  # compiles, so that no callback does
        if publications is not None:
            publications.warm(self.dynamics)
        self.robots = [Robot(self.dynamics, i, settings, c) for i, c in enumerate(counts)]
        for robot in self.robots:
            robot.warm()
        self.batch = FlatBatch(self.dynamics, settings, self.robots[0].output)
        self.batch.warm()
        self.pending: set[int] = set()
        """Robots whose new state waits for a cycle."""
        self.timing = Timing()
        self.batch_timing = Timing()

    def compute(self) -> None:
        """Compute all robots in one launch, and record its time."""
        started = time.perf_counter()
        self.dynamics.compute()
        self.timing.add(time.perf_counter() - started)

    def change(self, settings: Settings) -> None:
        """Use new parameters that do not change the model; ValueError, without any change, if they do not fit."""
        if settings.mode != self.settings.mode and not self.idle:
            raise ValueError("mode cannot change while enabled: call ~/enable with false first")
        try:
            for robot in self.robots:
                robot.change(settings)
            self._check_limits(settings)
            if self.dynamics.law is not None:
                self.dynamics.law.check(settings)
            self.dynamics.friction.change(settings)
            reloaded = self.dynamics.payload.change(settings)
        except ValueError:
            for robot in self.robots:
                robot.change(self.settings)
            self.dynamics.friction.change(self.settings)
            raise
        self.settings = settings
        self.dynamics.change_gravity(settings.gravity)
        if reloaded:
            self._rebase()
        if self.dynamics.law is not None:
            self.dynamics.law.change(settings)
        self.batch.change(settings)

    def _check_limits(self, settings: Settings) -> None:
        """Raise ValueError if enabled robots would lose effort limits that ~/enable requires."""
        for robot in self.robots:
            if robot.is_enabled and robot.output.unlimited and not settings.unlimited_effort:
                raise ValueError(
                    f"while enabled, {', '.join(robot.output.unlimited)} cannot do without effort limits: "
                    "keep effort_limits or unlimited_effort as they are"
                )

    def stop(self, steady: float) -> None:
        """Begin the stop sequence of every enabled robot."""
        for robot in self.robots:
            robot.disable(steady)

    @property
    def idle(self) -> bool:
        """True if no robot sends commands."""
        return all(robot.idle for robot in self.robots)

    def can_blend_to(self, other: Fleet) -> bool:
        """True if another fleet has the same model, so that enabled robots can continue with its payload."""
        return other.dynamics.model is self.dynamics.model

    def blend_to(self, other: Fleet) -> None:
        """Take the payload of another fleet. The commands do not jump."""
        self.dynamics.carry(other.dynamics.payload)
        self.batch = FlatBatch(self.dynamics, self.settings, self.robots[0].output)
        self._rebase()
        for robot in self.robots:
            robot.output.blend()

    def _rebase(self) -> None:
        """Give the observers of external torques another payload; they keep their estimates."""
        for robot in self.robots:
            if robot.effort_watch is not None:
                robot.effort_watch.torques.rebase(self.dynamics.payload)


def check_robot(model: Model, settings: Settings) -> None:
    """Raise ValueError if these settings do not fit the model. Nothing is compiled."""
    Robot(FleetDynamics(model, settings, 1), 0, settings, Counter())
