"""Robots of a training in the browser, while it trains."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .environment_page import EnvironmentPage

if TYPE_CHECKING:
    from ...rl import VecEnv

ROBOTS = 4
"""Number of environments on the page."""

SHOWN = ("q", "origin")
"""Carried arrays that are drawn."""

LONGEST = 10.0
"""Length of the motion that may wait to be shown [s]; older motion is dropped."""


class LiveView:
    """A page with the first environments of a training, at the speed of real robots.

    A training runs in bursts: its steps are fast, and between them the policy learns. A thread
    shows the recorded steps one after the other, so that the motion is even. For a trainer's
    `watchers`.
    """

    def __init__(self, env: VecEnv, *, host: str, port: int):
        self._step = env.task.step_seconds
        first = _first_rows(env.carried)
        self.shown = EnvironmentPage(env.task, first, host=host, port=port)
        self._waiting: deque[Mapping[str, np.ndarray]] = deque(maxlen=round(LONGEST / self._step))
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._show, name="live view", daemon=True)
        self._thread.start()

    def __call__(self, env: VecEnv) -> None:
        """Record the environments after a step."""
        self._waiting.append(_first_rows(env.carried))

    def close(self) -> None:
        """Stop the page."""
        self._ended.set()
        self._thread.join()
        self.shown.page.stop()

    def _show(self) -> None:
        """Show what waits, one step after the other."""
        while not self._ended.wait(self._step):
            if self._waiting:
                self.shown.update(self._waiting.popleft())


def _first_rows(carried: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Copies of the first environments' arrays that are drawn."""
    return {n: carried[n][:ROBOTS].cpu().numpy().copy() for n in SHOWN if n in carried}
