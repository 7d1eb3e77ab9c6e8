"""Gymnasium's robots with a free base: Ant-v5 and Humanoid-v5."""

from __future__ import annotations

from typing import Any

import numpy as np

import warpdyn as wd
from warpdyn import rl

from .body_observations import (
    body_inertias,
    body_velocities,
    contact_wrenches,
    free_positions,
    free_velocities,
)
from .gymnasium_task import SOFT_PAIR, GymnasiumTask, number, sum_of_squares, with_margin


class FreeRunner(GymnasiumTask):
    """A robot with a free base that runs along x."""

    def __init__(self) -> None:
        super().__init__()
        self.points = wd.ContactPoints(self.model)
        self.bodies = [link for link in self.model.links if link.mass > 0]
        self.body_names = [link.name for link in self.bodies]

    def _start(self, robot: Any, q: Any, v: Any) -> dict[str, Any]:
        """Beginning of an episode with these positions and MuJoCo velocities, linear in world axes."""
        turn = q[3:7] / np.sqrt(sum_of_squares(q[3:7]))
        q = np.concatenate([q[:3], turn, q[7:]])
        rotation = robot.fk(q, frame=self.model.root)[:3, :3]
        v = np.concatenate([rotation.T @ v[:3], v[3:]])
        return {"q": q, "v": v, "at": self._place(robot, q), "way": 0.0}

    def mujoco_state(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        turn = wd.oracle(wd.fk, self.model, q, frame=self.model.root)[:3, :3]
        positions = np.concatenate([q[:3], q[6:7], q[3:6], q[7:]])
        return positions, np.concatenate([turn @ v[:3], v[3:]])

    def update(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        now = self._place(robot, s.q)
        return {"at": now, "way": now - s.at}

    def _place(self, robot: Any, q: Any) -> Any:
        """Position along x; its change is rewarded [m]."""
        return q[0]


class GymnasiumAnt(FreeRunner):
    """Ant-v5: four legs with two joints each."""

    environment, file = "Ant-v5", "ant.xml"
    dt, substeps, actions, largest_action = 0.01, 5, 8, 1.0
    weights = {"forward": 1.0, "alive": 1.0, "effort": -0.5, "contact": -5e-4}  # noqa: RUF012
    recipe = rl.Recipe(envs=512, steps=32, layers=(128, 128), entropy=0.0, minutes=8.0)

    def begin(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        moved = wd.random.uniform(s.random, self.model.nq, -0.1, 0.1)
        v = wd.random.normal(s.random.at(40), self.model.nv, deviation=0.1)
        return self._start(robot, self.first + moved, v)

    def observe(self, robot: Any, s: rl.Episode) -> Any:
        return {
            "positions": free_positions(s),
            "velocities": free_velocities(s),
            "contacts": self._contacts(robot, s).reshape(-1),
        }

    def reward(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {
            "forward": s.way / self.step_seconds,
            "alive": 1.0 - number(self.is_terminal(robot, s)),
            "effort": sum_of_squares(s.action),
            "contact": sum_of_squares(self._contacts(robot, s)),
        }

    def is_terminal(self, robot: Any, s: rl.Episode) -> Any:
        return ~((s.q[2] >= 0.2) & (s.q[2] <= 1.0))

    def _contacts(self, robot: Any, s: rl.Episode) -> Any:
        """Forces and moments of contacts, each within 1."""
        return np.clip(contact_wrenches(robot, s, self.body_names), -1.0, 1.0)


LEG = ("thigh", "shin", "foot")
TRUNK = ("torso", "lwaist", "pelvis")
SIDES = ("left", "right")

MARGIN = 0.002
"""Distance at which links of the humanoid begin to touch: the sum of both margins [m]."""


class GymnasiumHumanoid(FreeRunner):
    """Humanoid-v5: 17 joints. A policy also observes bodies and contact forces."""

    environment, file = "Humanoid-v5", "humanoid.xml"
    dt, substeps, actions, largest_action = 0.003, 5, 17, 0.4
    sweeps = 6
    weights = {"forward": 1.25, "alive": 5.0, "effort": -0.1, "contact": -1.0}  # noqa: RUF012
    recipe = rl.Recipe(envs=512, steps=32, layers=(128, 128), entropy=0.0, minutes=8.0)

    def __init__(self) -> None:
        super().__init__()
        lower_arms = [f"{side}_lower_arm" for side in SIDES]
        reached = [*TRUNK, *(f"{side}_thigh" for side in SIDES)]
        touching = [(f"left_{a}", f"right_{b}") for a in LEG for b in LEG]
        touching += [(arm, other) for arm in lower_arms for other in reached]
        touching.append((lower_arms[0], lower_arms[1]))
        self.pairs = with_margin(wd.ContactPairs(self.model).only(*touching), MARGIN)
        self.pair_contact = SOFT_PAIR

    def begin(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        q = self.first + wd.random.uniform(s.random, self.model.nq, -0.01, 0.01)
        return self._start(robot, q, wd.random.uniform(s.random.at(40), self.model.nv, -0.01, 0.01))

    def observe(self, robot: Any, s: rl.Episode) -> Any:
        efforts = robot.actuator_torques(s.q, s.v, s.action)[6:]
        return {
            "positions": free_positions(s),
            "velocities": free_velocities(s),
            "inertias": body_inertias(robot, s, self.bodies).reshape(-1),
            "body_velocities": body_velocities(robot, s, self.bodies).reshape(-1),
            "efforts": efforts,
            "contacts": contact_wrenches(robot, s, self.body_names).reshape(-1),
        }

    def reward(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        forces = contact_wrenches(robot, s, self.body_names)
        return {
            "forward": s.way / self.step_seconds,
            "alive": 1.0 - number(self.is_terminal(robot, s)),
            "effort": sum_of_squares(s.action),
            "contact": np.minimum(5e-7 * sum_of_squares(forces), 10.0),
        }

    def is_terminal(self, robot: Any, s: rl.Episode) -> Any:
        return ~((s.q[2] > 1.0) & (s.q[2] < 2.0))

    def _place(self, robot: Any, q: Any) -> Any:
        return robot.com(q)[0]
