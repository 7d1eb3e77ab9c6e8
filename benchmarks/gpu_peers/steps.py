"""Steps of standing robots with drives, in a simulator on a GPU."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import warp as wp

from ..peers import CannotDo
from ..simulation_peers import FALLEN
from ..simulation_scenes import QUADRUPED_HEIGHT, QUADRUPED_STANCE, standing
from ..simulators import OnGround
from ..simulators.running import Running, settle
from .timing import Work, figures

DT = 0.005
MOST, MOST_IN_MOTION = 100, 28
"""Largest number of steps between resets: 0.5 s, and 0.14 s in motion."""

OFF_IN_MOTION = 0.05
"""Largest deviation of a base height in motion; beyond it the robot has fallen [m]."""

IN_MOTION = ("warpdyn", "mujoco_warp")
"""Simulators that also step robots in motion, each robot with different targets and speeds."""


def scenes() -> Mapping[str, OnGround]:
    """Robots with their drives and the links that they stand on."""
    return {
        "quadruped": standing(
            "quadruped", QUADRUPED_HEIGHT, QUADRUPED_STANCE, (40.0, 1.0), "*_foot"
        ),
        "humanoid": standing("humanoid", 0.79, (), (300.0, 10.0), "*_ankle_roll_link"),
    }


ROBOTS = ("quadruped", "humanoid")


def records(
    key: str, robots: Sequence[str], batches: Sequence[int], device: str
) -> Iterator[dict[str, Any]]:
    """Yield a record for each robot, batch size and setting of the simulator, at rest and in motion."""
    module = import_module(f"..simulators.many_in_{key}", __package__)
    for name in robots:
        start = settle(scenes()[name], DT)
        cases = [(envs, dict[str, bool]()) for envs in batches]
        if key in IN_MOTION and device != "cpu":
            cases += [(envs, {"moving": True}) for envs in batches]
        for envs, motion in cases:
            line: dict[str, Any] = {"robot": name, "envs": envs, **motion}
            begun = time.perf_counter()
            try:
                for each in module.running(start, envs, 1, device, **motion):
                    each.advance()
                    wp.synchronize()
                    yield line | record_of(each, device, begun, start.height, **motion)
                    begun = time.perf_counter()
            except CannotDo as reason:
                yield line | {"why": str(reason)}
            except Exception as error:  # any error of a peer is printed in the table
                yield line | {"why": f"{type(error).__name__}: {str(error)[:200]}"}


def record_of(
    each: Running, device: str, begun: float, height: float | None = None, *, moving: bool = False
) -> dict[str, Any]:
    """Time of a step of all robots, with a reason if a robot has fallen."""
    most, off_at_most = (MOST_IN_MOTION, OFF_IN_MOTION) if moving else (MOST, FALLEN)
    line = {"form": each.form, "first_s": round(time.perf_counter() - begun, 2)}
    work = Work(each.advance, device, each.finish, each.restart, most // each.steps)
    line |= {"envs": each.envs, **figures(work, each.envs, each.steps)}
    if height is not None:
        off = float(np.abs(each.heights() - height).max())
        line["off_m"] = off if np.isfinite(off) else None
        if not off <= off_at_most:
            line["why"] = f"the base is {off:.3f} m off"
    return line | each.about()
