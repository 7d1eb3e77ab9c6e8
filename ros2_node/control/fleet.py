"""The robots that share one model: built together, computed in one launch, replaced together. No
ROS."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from warpdyn import Model

from .flat_batch import FlatBatch
from .fleet_dynamics import FleetDynamics
from .report import Timing
from .robot import Robot
from .robot_description import load_model
from .settings import Settings


class Shown(Protocol):
    """What is shown of a fleet besides its torques, as far as a build must know it."""

    def check(self, model: Model) -> None:
        """ValueError when the model lacks what is to be shown."""

    def warm(self, dynamics: FleetDynamics) -> None:
        """Compute all of it once, so that no kernel is compiled in a callback."""


class Fleet:
    """All robots of one node. `counts` (one Counter for each robot) outlive a change of the
    model."""

    def __init__(
        self,
        settings: Settings,
        text: str,
        counts: Sequence[Counter[str]],
        shown: Shown | None = None,
    ) -> None:
        self.settings = settings
        model = load_model(settings, text)
        if shown is not None:
            shown.check(model)
        self.dynamics = FleetDynamics(model, settings, len(counts))
        if shown is not None:
            shown.warm(self.dynamics)
        self.robots = [Robot(self.dynamics, i, settings, c) for i, c in enumerate(counts)]
        self.batch = FlatBatch(self.dynamics, settings)
        self.pending: set[int] = set()
        """Robots whose new state waits for a cycle."""
        self.timing = Timing()
        self.batch_timing = Timing()

    def compute(self) -> None:
        """One launch for all robots, timed."""
        started = time.perf_counter()
        self.dynamics.compute()
        self.timing.add(time.perf_counter() - started)

    def change(self, settings: Settings) -> None:
        """Use parameters that leave the model as it is; ValueError, and nothing changed, when
        they do not fit."""
        if settings.mode != self.settings.mode and any(
            r.enabled or r.output.stopping for r in self.robots
        ):
            raise ValueError("mode cannot change while enabled: call ~/enable with false first")
        try:
            for robot in self.robots:
                robot.change(settings)
        except ValueError:
            for robot in self.robots:
                robot.change(self.settings)
            raise
        self.settings = settings
        self.dynamics.change_gravity(settings.gravity)
        self.batch.change(settings)

    def stop(self, steady: float) -> None:
        """Begin the stop sequence of every enabled robot."""
        for robot in self.robots:
            robot.disable(steady)

    @property
    def idle(self) -> bool:
        """No robot sends commands."""
        return not any(robot.enabled or robot.output.stopping for robot in self.robots)

    def can_blend_to(self, other: Fleet) -> bool:
        """Whether another fleet's model is this one with other inertias, so that enabled robots
        may go on."""
        mine, others = self.dynamics.model, other.dynamics.model
        return (mine.nq, mine.nv, mine.link_names, mine.joint_names) == (
            others.nq,
            others.nv,
            others.link_names,
            others.joint_names,
        ) and [r.output.joints for r in self.robots] == [r.output.joints for r in other.robots]

    def blend_to(self, other: Fleet, steady: float) -> None:
        """Go over to another fleet's model without a step in the commands."""
        self.dynamics.change_model(other.dynamics.model)
        self.batch = FlatBatch(self.dynamics, self.settings)
        for robot in self.robots:
            if robot.enabled:
                robot.output.blend(steady)
