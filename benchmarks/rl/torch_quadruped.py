"""The quadruped task in Torch around `wd.Simulation`, in the style of other libraries."""

from __future__ import annotations

from typing import Any

import torch

import warpdyn as wd
from warpdyn.rl.tasks.quadruped_tasks import LEAST_HEIGHT, QuadrupedVelocity


def rotated_back(x: torch.Tensor, vector: torch.Tensor) -> torch.Tensor:
    """A world vector (3,) in the axes of bases with quaternions (B, 4), xyzw."""
    u, w = x[:, :3], x[:, 3:]
    turned = torch.linalg.cross(vector.expand_as(u), u)
    return vector + 2.0 * (w * turned + torch.linalg.cross(turned, u))


class TorchQuadruped:
    """`QuadrupedVelocity` in Torch: the same parameters, rewards, ends and resets, on tensors.

    reset() and step(action) are those of `rl.VecEnv`; Torch draws the random numbers.
    """

    def __init__(self, task: QuadrupedVelocity, envs: int, seed: int = 0):
        self.task, self.envs = task, envs
        self.draws = torch.Generator().manual_seed(seed)
        self.friction = torch.full((envs, len(task.points)), 0.7)
        self.sim = wd.Simulation(
            task.model,
            envs,
            points=task.points,
            control=task.drives,
            ground=task.ground._replace(friction=self.friction),
            like=torch.zeros(0),
            **{"dt": task.dt, "substeps": task.substeps, "sweeps": task.sweeps},
        )
        self.stance = torch.as_tensor(task.stance, dtype=torch.float32)
        self.lower = torch.as_tensor(task.soft_lower, dtype=torch.float32)
        self.upper = torch.as_tensor(task.soft_upper, dtype=torch.float32)
        self.box = torch.as_tensor(task.box, dtype=torch.float32)
        self.centre = torch.as_tensor(task.centre, dtype=torch.float32)
        self.rate = torch.as_tensor(task.numbers["command_rate"], dtype=torch.float32)
        self.up = torch.tensor([0.0, 0.0, 1.0])
        self.scales = torch.tensor(list(task.scales.values()))
        self.last_action = torch.zeros(envs, task.actions)
        self.command, self.wanted = torch.zeros(envs, 3), torch.zeros(envs, 3)
        self.age = torch.zeros(envs)
        self.phase = torch.zeros(envs)
        self.feet, self.reach, self.diagonal = (
            torch.as_tensor(x, dtype=torch.float32) for x in (task.feet, task.reach, task.diagonal)
        )
        self.sums = torch.zeros(envs, len(task.scales))
        self.length = round(task.seconds / task.step_seconds)

    def reset(self) -> torch.Tensor:
        """Reset all environments and return the observations."""
        self._begin(torch.arange(self.envs))
        return self._observe()

    def step(
        self, action: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, dict[str, Any]]:
        """Observations, rewards, falls, time-outs, and returns of episodes that ended."""
        task, sim = self.task, self.sim
        action = action.clip(-task.largest_action, task.largest_action)
        last_v = sim.v.clone()
        sim.step(self.stance + 0.25 * action + self._trot())
        self.age += 1.0
        q, v, joints = sim.q, sim.v, sim.q[:, 7:]
        touching = (sim.forces[:, :, 2] > 1.0).float()
        self.phase = (self.phase + task.step_seconds / task.period) % 1.0
        if bool((anew := self.age % 500 == 0).any()):
            self.wanted[anew] = self._commands(int(anew.sum()))
        most = self.rate * task.step_seconds
        self.command += torch.minimum(torch.maximum(self.wanted - self.command, -most), most)
        down = -rotated_back(q[:, 3:7], self.up)
        beyond = (joints - self.upper).clip(min=0.0) + (self.lower - joints).clip(min=0.0)
        in_air = (self._swing() > 0.2).float()
        lowest = q[:, 2] - down @ self.centre - (down.abs() * self.box).sum(1)
        fell = (-down[:, 2] < 0.5) | (lowest < LEAST_HEIGHT * task.height)
        rewards = torch.stack(
            [
                torch.exp(-((self.command[:, :2] - v[:, :2]) ** 2).sum(1) / 0.25),
                torch.exp(-((self.command[:, 2] - v[:, 5]) ** 2) / 0.25),
                v[:, 2] ** 2,
                (v[:, 3:5] ** 2).sum(1),
                ((sim.torques / task.moment) ** 2).sum(1),
                ((v[:, 6:] - last_v[:, 6:]) ** 2).sum(1) / task.step_seconds**2,
                ((action - self.last_action) ** 2).sum(1),
                (down[:, :2] ** 2).sum(1),
                beyond.sum(1),
                (1.0 - q[:, 2] / task.height) ** 2,
                1.0 - (touching + in_air - 1.0).abs().mean(1),
                fell.float(),
            ],
            1,
        )
        parts = rewards * self.scales * task.step_seconds
        self.sums += parts
        late = (self.age > self.length - 0.5) & ~fell
        self.last_action = action
        final = self._observe(down)
        info: dict[str, Any] = {"final_obs": final, "_final_obs": fell | late}
        seen = final
        ended = (fell | late).nonzero()[:, 0]
        if len(ended):
            info["episode"] = self.sums[ended], self.age[ended]
            self._begin(ended)
            seen = self._observe()
        return seen, parts.sum(1), fell, late, info

    def _observe(self, down: torch.Tensor | None = None) -> torch.Tensor:
        q, v = self.sim.q, self.sim.v
        if down is None:
            down = -rotated_back(q[:, 3:7], self.up)
        joints = q[:, 7:] - self.stance
        seen = [v[:, :6], down, self.command, joints, 0.05 * v[:, 6:], self.last_action]
        return torch.cat([*seen, self._clock()], 1)

    def _clock(self) -> torch.Tensor:
        """Sine and cosine of the phase; zeros for robots that stand."""
        angle = 2 * torch.pi * self.phase
        moving = ((self.command**2).sum(1, keepdim=True) > 1e-6).float()
        return moving * torch.stack([torch.sin(angle), torch.cos(angle)], 1)

    def _swing(self) -> torch.Tensor:
        """Lift of the feet by the clock."""
        return (self.diagonal * self._clock()[:, :1]).clip(min=0.0)

    def _trot(self) -> torch.Tensor:
        """Contribution of the clock to the joint targets."""
        task, (ahead, aside, turn) = self.task, self.command[:, :, None].unbind(1)
        stride = -0.25 * task.period * self.diagonal * self._clock()[:, 1:]
        moved = [
            stride * (ahead - turn * self.feet[:, 1]),
            stride * (aside + turn * self.feet[:, 0]),
            task.rise * task.height * self._swing(),
        ]
        return torch.einsum("kja,bka->bj", self.reach, torch.stack(moved, 2))

    def _begin(self, rows: torch.Tensor) -> None:
        """Reset these environments."""
        n, task = len(rows), self.task
        place, yaw = self._draw(-0.5, 0.5, n, 2), self._draw(-torch.pi, torch.pi, n)
        q = torch.zeros(n, task.model.nq)
        q[:, :2] = place
        q[:, 5], q[:, 6] = torch.sin(0.5 * yaw), torch.cos(0.5 * yaw)
        q[:, 7:] = self.stance * self._draw(0.8, 1.2, n, task.actions)
        q[:, 2] = -wd.point_heights(task.model, q, points=task.points).amin(1)
        v = torch.zeros(n, task.model.nv)
        v[:, :6] = self._draw(-0.3, 0.3, n, 6)
        self.sim.reset(rows, q=q, v=v)
        self.friction[rows] = self._draw(0.4, 1.0, n)[:, None]
        self.wanted[rows], self.command[rows] = self._commands(n), 0.0
        self.phase[rows] = self._draw(0.0, 1.0, n)
        for x in (self.last_action, self.age, self.sums):
            x[rows] = 0.0

    def _commands(self, n: int) -> torch.Tensor:
        wanted = self._draw(-1.0, 1.0, n, 3)
        wanted[:, :2] *= ((wanted[:, :2] ** 2).sum(1) >= 0.01)[:, None]
        return wanted * (self._draw(0.0, 1.0, n) >= 0.05)[:, None]

    def _draw(self, low: float, high: float, *shape: int) -> torch.Tensor:
        return torch.rand(shape, generator=self.draws) * (high - low) + low
