"""Rewards and measures of a learning task on numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import warpdyn as wd
from warpdyn import rl


def rewards_on_numbers(
    task: Any,
    q: np.ndarray,
    more: Callable[[Any, Any], dict[str, Any]] | None = None,
    **fields: Any,
) -> dict[str, float]:
    """The rewards of a task by name at a configuration (nq,).

    The measures have names that begin with "measured_", and `more(robot, s)` adds results. Velocity
    and actions are zero unless `fields` has them.
    """
    still = {"v": np.zeros(task.model.nv)}
    still |= {name: np.zeros(task.actions) for name in ("action", "last_action")}

    @wd.kernel
    def rewards(robot: Any, q: Any) -> Any:
        s = rl.Episode({"q": q, **still, **fields}, task)
        measured = {f"measured_{n}": x for n, x in task.measure(robot, s).items()}
        others = {} if more is None else more(robot, s)
        return {**task.reward(robot, s), **measured, **others}

    found = wd.oracle(rewards, task.model, q[None])._asdict()
    return {n: float(np.asarray(x).reshape(-1)[0]) for n, x in found.items()}
