"""The robots that share one model: built together, computed in one launch, replaced together. No ROS."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from .dynamics import Batch, Dynamics, load_model
from .report import Timing
from .robot import Robot
from .settings import Settings


class Fleet:
    """All robots of one node. `counts` (one Counter for each robot) outlive a change of the model."""

    def __init__(self, settings: Settings, text: str, counts: Sequence[Counter[str]]) -> None:
        self.settings = settings
        model = load_model(settings, text)
        for link in (*settings.tip_links, *settings.jacobian_links):
            if link not in model.link_names:
                raise ValueError(
                    f"{model.name} has no link {link!r}; its links are {', '.join(model.link_names[:40])}"
                )
        self.dynamics = Dynamics(model, settings, len(counts))
        self.robots = [Robot(self.dynamics, i, settings, c) for i, c in enumerate(counts)]
        self.batch = Batch(self.dynamics, settings)
        self.pending: set[int] = set()
        """Robots whose new state waits for a cycle."""
        self.timing = Timing()
        self.batch_timing = Timing()

    def compute(self) -> None:
        """One launch for all robots; takes the time."""
        started = time.perf_counter()
        self.dynamics.compute()
        self.timing.add(time.perf_counter() - started)

    def change(self, settings: Settings) -> None:
        """Take parameters that leave the model as it is; ValueError, and nothing changed, when they do not fit."""
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
        """Whether another fleet's model is this one with other inertias, so that enabled robots may go on."""
        mine, others = self.dynamics.model, other.dynamics.model
        return (mine.nq, mine.nv, mine.link_names, mine.joint_names) == (
            others.nq,
            others.nv,
            others.link_names,
            others.joint_names,
        ) and [r.output.joints for r in self.robots] == [r.output.joints for r in other.robots]

    def blend_to(self, other: Fleet, steady: float) -> None:
        """Take over another fleet's model without a step in the commands."""
        self.dynamics.take(other.dynamics.model)
        self.batch = Batch(self.dynamics, self.settings)
        for robot in self.robots:
            if robot.enabled:
                robot.output.blend(steady)
