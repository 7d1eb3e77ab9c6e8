"""`warpdyn play` on a page of the browser: robots move in real time."""

from __future__ import annotations

import time
from collections import deque
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import viewer
from ...functions.simulation.terrain import HeightMap
from ..tables import say

if TYPE_CHECKING:
    from ...rl import Policy

SIDE = 4.0
"""Side of each robot's area on a level floor [m]; a robot that leaves it re-enters on the other
side."""

AROUND = 6.0
"""Distance to which a height map is drawn around the start of an episode [m]."""

PICTURES = 60.0
"""Largest number of pictures per second."""

PAST, CURVES = 10.0, 4.0
"""Length of the plotted past [s], and plots per second."""

BEHIND = 0.5
"""Delay behind the clock from which lost time is not made up [s]."""


class OnPage:
    """Environments on a page, whose robots a policy moves.

    If the task has a height map, each robot stands in it at its episode's place; otherwise they
    stand in rows.
    """

    def __init__(self, env: Any, policy: Policy, *, host: str, port: int):
        self.env, self.policy, self.task = env, policy, env.task
        self.group = env.text.observation.policy
        policy.check(self.task, env.text.observations[self.group][0])
        env.reset()
        env.step(np.zeros(env.action.shape, np.float32))  # compile before the page exists
        env.reset()
        self.terrain = self.task.terrain if isinstance(self.task.terrain, HeightMap) else None
        self.walks = self.task.model.floating_base
        spacing = None if not self.walks else SIDE if self.terrain is None else 0.0
        self.page = viewer.show(
            self.task.model, self._q(), host=host, port=port, controls=False, spacing=spacing
        )
        self._patches: set[tuple[float, ...]] = set()
        if self.terrain is not None:
            self._show_ground()
            self._look_at_the_first()
        self.follows = self.walks and env.text.carried.get("command") == (3,)
        kept = round(PAST / self.task.step_seconds)
        self._past: deque[tuple[float, ...]] = deque(maxlen=kept)

    def run(self, seconds: float | None) -> float:
        """Run until Ctrl-C, or for `seconds`; returns the time that was shown [s]."""
        step = self.task.step_seconds
        each, curves = (max(1, round(1.0 / (rate * step))) for rate in (PICTURES, CURVES))
        start, shown = time.perf_counter(), 0.0
        for k in count(1):
            if seconds is not None and shown > seconds - 0.5 * step:
                break
            self._step()
            shown = k * step
            if k % each == 0:
                if self.terrain is not None:
                    self._show_ground()
                self.page.update(self._q())
            if k % curves == 0:
                self._plot(shown)
            ahead = start + shown - time.perf_counter()
            time.sleep(max(ahead, 0.0))
            if ahead < -BEHIND:
                start -= ahead
        return shown

    def _step(self) -> None:
        env = self.env
        _, reward, *_ = env.step(self.policy(env.observations[self.group].numpy()))
        earned = float(reward[0]) / self.task.step_seconds
        if not self.follows:
            self._past.append((earned,))
            return
        v, command = (env.carried[n][0].tolist() for n in ("v", "command"))
        self._past.append((v[0], command[0], v[5], command[2], earned))

    def _plot(self, now: float) -> None:
        """Plot the first robot's speeds and its commands."""
        step, past = self.task.step_seconds, np.array(self._past).T
        x = now - step * np.arange(past.shape[1])[::-1]
        if self.follows:
            ahead, told_ahead, turning, told_turning, earned = past
            self.page.plot("ahead [m/s]", x, {"speed": ahead, "command": told_ahead})
            self.page.plot("turning [rad/s]", x, {"speed": turning, "command": told_turning})
        else:
            earned = past[0]
        self.page.plot("reward in a second", x, {"reward": earned})

    def _q(self) -> np.ndarray:
        """Configurations at which robots are drawn (envs, nq)."""
        q: np.ndarray = self.env.carried["q"].numpy().copy()
        if self.terrain is not None:
            q[:, :3] += self._origins()
        elif self.walks:
            q[:, :2] = (q[:, :2] + 0.5 * SIDE) % SIDE - 0.5 * SIDE
        return q

    def _origins(self) -> np.ndarray:
        """Places of the environments in the height map (envs, 3) [m]."""
        there = self.env.carried.get("origin")
        return np.zeros((self.env.num_envs, 3)) if there is None else there.numpy()

    def _show_ground(self) -> None:
        """Draw the height map around new places."""
        terrain: Any = self.terrain
        heights = np.asarray(terrain.heights)
        reach = round(AROUND / terrain.cell)
        for origin in np.unique(self._origins().round(3), axis=0):
            if (place := tuple(origin[:2].tolist())) in self._patches:
                continue
            self._patches.add(place)
            middle = np.rint((origin[:2] - np.array(terrain.origin)) / terrain.cell).astype(int)
            rows, columns = (
                np.arange(max(m - reach, 0), min(m + reach + 1, size))
                for m, size in zip(middle, heights.shape, strict=True)
            )
            corners = np.stack(np.meshgrid(rows, columns, indexing="ij"), -1) * terrain.cell
            there = heights[np.ix_(rows, columns)]
            vertices = np.concatenate([corners + np.array(terrain.origin), there[..., None]], -1)
            k = np.arange(there.size).reshape(there.shape)
            a, b, c, d = (x.ravel() for x in (k[:-1, :-1], k[1:, :-1], k[1:, 1:], k[:-1, 1:]))
            faces = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
            self.page.stage.server.scene.add_mesh_simple(
                f"/terrain/{len(self._patches)}",
                vertices.reshape(-1, 3).astype(np.float32),
                faces.astype(np.uint32),
                color=(188, 194, 202),
                flat_shading=True,
            )

    def _look_at_the_first(self) -> None:
        middle = self._q()[0, :3]
        self.page.stage.ground(float(np.min(np.asarray(self.task.terrain.heights))) - 0.01)
        self.page.stage.look(middle - 1.0, middle + 1.0)


def play_on_page(env: Any, policy: Policy, seconds: float | None, *, host: str, port: int) -> None:
    """Show the environments on a page until Ctrl-C, or for `seconds`."""
    shown = OnPage(env, policy, host=host, port=port)
    task = env.task
    try:
        for line in shown.page.remarks:
            say(line)
        end = "Ctrl-C ends it" if seconds is None else f"for {seconds:g} s"
        say(f"{task.name}: {env.num_envs} times {task.model.name} at {shown.page.address}; {end}")
        shown.run(seconds)
    except KeyboardInterrupt:
        pass
    finally:
        shown.page.stop()
