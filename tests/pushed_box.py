"""A task with contact pairs for the tests of learning: a ball on a rail pushes a box on the ground."""

from __future__ import annotations

from typing import Any

import numpy as np

import warpdyn as wd
from warpdyn import rl

PUSHER, BOX = "pusher", "box"


def rail(quaternion: str = "xyzw") -> wd.Model:
    """A ball of 3 cm that slides along x, 5 cm above the ground, and a box of 10 cm in front of it."""
    builder = wd.ModelBuilder("rail")
    builder.add_link("rail")
    ball = wd.description.Geometry("sphere", (0.03,))
    builder.add_link(PUSHER, mass=1.0, inertia=np.diag([1e-3] * 3), collisions=[ball])
    builder.add_joint(
        "slide",
        "prismatic",
        "rail",
        PUSHER,
        pose=(0, 0, 0.05),
        axis=(1, 0, 0),
        lower=-1,
        upper=1,
        effort=50,
    )
    side = wd.description.Box(0.1, 0.1, 0.1)
    return builder.build(quaternion=quaternion).with_object(
        BOX, side, mass=0.5, pose=(0.1, 0.0, 0.05)
    )


class PushedBox(rl.Task):
    """The box starts at a random place and heading. The policy observes its pose, the critic the
    forces that push it."""

    dt, substeps, seconds = 0.005, 2, 0.3
    drives = wd.PD(500.0, 50.0)
    actions, largest_action = 1, 1.0
    scales = {"far": 1.0, "pushed": 1.0}  # noqa: RUF012
    vary = {  # noqa: RUF012
        "mass": rl.Vary(0.5, 2.0, how="scale", of=BOX),
        "pair_friction": rl.Vary(0.2, 0.8),
    }
    groups = {"policy": ("place", "speed"), "critic": ("place", "speed", "push")}  # noqa: RUF012

    def __init__(self) -> None:
        self.model = rail()
        self.pairs = wd.ContactPairs(self.model).only((PUSHER, BOX)).with_ground(BOX)

    def begin(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        y, yaw = wd.random.uniform(s.random, 2, -0.02, 0.02)
        pose = np.stack([0.1, y, 0.05, 0.0, 0.0, np.sin(yaw / 2), np.cos(yaw / 2)])
        return {"q": s.configuration(np.zeros(1), {BOX: pose}), "v": np.zeros(self.model.nv)}

    def control(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"targets": 0.2 * s.action}

    def observe(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        box = s.body(BOX)
        return {
            "place": box.pose,
            "speed": box.velocity,
            "push": s.force_between(PUSHER, BOX) * s.in_contact(PUSHER, BOX),
        }

    def reward(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"far": s.body(BOX).position[0], "pushed": 0.1 * s.force_between(PUSHER, BOX)[0]}

    def measure(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"x": s.body(BOX).position[0]}
