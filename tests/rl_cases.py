"""A small task for the tests of learning: a double pendulum that must remain at its start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import warpdyn as wd
from warpdyn import rl
from warpdyn.rl.environment_step import EnvironmentStep


class Hold(rl.Task):
    """The policy moves the targets of the drives. The episode ends when a rod is more than `reach`
    away from its place."""

    dt, substeps, seconds = 0.01, 2, 0.2
    drives = wd.PD(30.0, 2.0)
    actions, largest_action = 2, 1.0
    scales = {"still": 1.0, "near": 2.0}  # noqa: RUF012
    numbers = {"reach": np.array([0.3])}  # noqa: RUF012
    vary = {"kp": rl.Vary(0.5, 1.5, how="scale")}  # noqa: RUF012
    recipe = rl.Recipe(envs=16, steps=6, epochs=1, batches=2, layers=(8,), minutes=0.05)

    def __init__(self) -> None:
        self.model = wd.load_robot("double_pendulum")

    def begin(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        place = wd.random.uniform(s.random, 2, -0.5, 0.5)
        return {"q": place, "v": np.zeros(2), "place": place, "passed": 0.0}

    def control(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"targets": s.place + s.action}

    def update(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"passed": s.passed + 1.0}

    groups = {"policy": ("off", "speed", "last"), "hidden": ("place", "speed", "more")}  # noqa: RUF012
    noise = {"off": rl.Noise(0.01, "normal")}  # noqa: RUF012

    def observe(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {
            "off": s.q - s.place,
            "speed": s.v,
            "last": s.last_action,
            "place": s.q,
            "more": np.stack([s.kp, s.time, s.passed]),
        }

    def reward(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"still": -np.sum(s.v**2), "near": 1.0 - np.sum((s.q - s.place) ** 2)}

    def is_terminal(self, robot: Any, s: rl.Episode) -> Any:
        return np.max(np.abs(s.q - s.place)) > s.reach[0]


def barely_trained(task: rl.Task, path: Path) -> Path:
    """A policy file after one iteration of a few environments."""
    trainer = rl.Trainer(task, recipe=rl.Recipe(envs=16, steps=4, epochs=1, batches=2, layers=(8,)))
    list(trainer.run(iterations=1))
    rl.export(trainer, path)
    return path


ENVS = 5
"""Environments of a run."""


def run(task: Any, steps: int) -> list[dict[str, np.ndarray]]:
    """Environments from their beginning, and their actions."""
    text, rows = EnvironmentStep(task, 4), np.random.default_rng(1)
    given = list(text.shared_arrays.values())
    state = text.start(task.model, np.zeros(ENVS), *given)._asdict()
    state["ticks"] = np.zeros(ENVS)
    seen = []
    for _ in range(steps):
        action = rows.uniform(-0.5, 0.5, (ENVS, task.actions))
        arrays = [state[n] for n in text.carried]
        after = text.step(task.model, *arrays, action, *given)
        wanted = wd.oracle(text.step, task.model, *arrays, action, *given)._asdict()
        seen.append({**state, "action": action})
        state = after._asdict()
        for name, x in state.items():
            assert np.allclose(x, np.reshape(wanted[name], x.shape), atol=1e-9), name
    return [*seen, state]


class DoubledSpeed(Hold):
    """The same task whose policy observes twice the speeds."""

    def observe(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {**super().observe(robot, s), "speed": 2.0 * s.v}
