"""Simulations of a double pendulum whose tip may touch the ground."""

from __future__ import annotations

from typing import Any

import numpy as np

import warpdyn as wd

MODEL = wd.load_robot("double_pendulum")
"""Small, so that each kernel compiles in a moment; what touches is its tip."""

POINTS = [wd.ContactPoint("tip", (0.0, 0.0, 0.0), 0.05)]
OPTIONS: dict[str, Any] = {
    **{"points": POINTS, "control": wd.PD(20.0, 1.0), "dt": 0.005, "substeps": 2},
    "start": [0.3, -0.4],
}


CLOSE = {True: 0.0, False: 1e-5}
"""Relative error of the same launches on the CPU and on a GPU, in float32: some steps."""


def simulation(envs: int = 6, **options: Any) -> wd.Simulation:
    return wd.Simulation(MODEL, envs, **{**OPTIONS, **options})


def random_targets(envs: int, k: int) -> np.ndarray:
    return np.random.default_rng([k, 1]).uniform(-1, 1, (envs, 2)).astype(np.float32)
