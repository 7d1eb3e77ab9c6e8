"""`warpdyn play` on a page of the browser: robots move in real time."""

from __future__ import annotations

import time
from collections import deque
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from ..console import say
from .environment_page import EnvironmentPage

if TYPE_CHECKING:
    from ...rl.policy import Policy

PICTURES = 60.0
"""Largest number of pictures per second."""

PAST, CURVES = 10.0, 4.0
"""Length of the plotted past [s], and plots per second."""

BEHIND = 0.5
"""Delay behind the clock from which lost time is not made up [s]."""


class OnPage:
    """Environments on a page, whose robots a policy moves."""

    def __init__(self, env: Any, policy: Policy, *, host: str, port: int):
        self.env, self.policy, self.task = env, policy, env.task
        self.group = env.kernels.observation.policy
        policy.check(self.task, env.kernels.observations[self.group][0])
        env.reset()
        env.step(np.zeros(env.action.shape, np.float32))  # compile before the page exists
        env.reset(seed=env.kernels.seed)
        self.shown = EnvironmentPage(self.task, env.carried, host=host, port=port)
        self.page = self.shown.page
        self.follows = self.task.model.floating_base and env.kernels.carried.get("command") == (3,)
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
                self.shown.update(self.env.carried)
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
        self.page.plot("reward per second", x, {"reward": earned})


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
