"""Contact forces of all substeps of a step, not only of the last one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..user_kernels.loops import repeat

MEAN, PEAK = "mean_forces", "peak_forces"
"""Names of the mean forces (points, 3) and of the largest sizes of the forces (points,) [N]."""


def step_by_step(
    robot: Any, q: Any, v: Any, tau: Any, given: Mapping[str, Any], memory: Mapping[str, Any]
) -> dict[str, Any]:
    """The results of `substeps` steps by name, with the mean and the largest contact forces.

    given: arguments of `robot.step`. memory: what contacts pass from one step to the next, by name.
    """
    # Late targets are chosen here, because a step of one substep does not know its number.
    options = dict(given)
    count = options.pop("substeps")
    late = options.pop("latency", None)
    earlier = options.pop("earlier_targets", None)
    points = len(options["points"])

    def one(state: dict[str, Any]) -> dict[str, Any]:
        now = {**options, **{n: state[n] for n in memory}}
        if late is not None:
            now["targets"] = _targets(options["targets"], earlier, late[0], state["done"], count)
        end = robot.step(state["q"], state["v"], tau, substeps=1, **now)
        sizes = np.sqrt(np.sum(end.forces * end.forces, axis=1))
        after = {n: getattr(end, n) for n in memory} | {"q": end.q, "v": end.v}
        if "pair_forces" in state:
            after["pair_forces"] = end.pair_forces
        after |= {
            "done": state["done"] + 1.0,
            "forces": end.forces,
            "torques": state["torques"] + end.torques * (1.0 / count),
            MEAN: state[MEAN] + end.forces * (1.0 / count),
            PEAK: np.maximum(state[PEAK], sizes),
        }
        return {n: after[n] for n in state}

    joints = len(robot._model.joint_columns)
    start = {**memory, "q": q, "v": v, "done": 0.0, "torques": np.zeros(joints)}
    start |= {"forces": np.zeros((points, 3)), MEAN: np.zeros((points, 3)), PEAK: np.zeros(points)}
    if "pairs" in options:
        start["pair_forces"] = np.zeros((len(options["pairs"]), 3))
    found: dict[str, Any] = repeat(count, one, start)
    return found


def _targets(targets: Any, earlier: Any, late: Any, done: Any, count: int) -> Any:
    """Targets of the substep with the number `done`: those of an earlier step if they are late.

    late: in substeps. earlier: (steps, joints), the newest first.
    """
    back = np.ceil((late - done) * (1.0 / count) - 1e-6)
    chosen = targets
    for k in range(len(earlier)):
        chosen = np.where(back > k + 0.5, earlier[k], chosen)
    return chosen
