"""What is measured, and the figures to reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .algorithms import ALGORITHMS

BATCH = 16384
"""Robots in the cases that figures are asked for."""

BATCHES = (1, 16, 256, 4096, BATCH, 65536)
GPU_BATCHES = (1, 256, 4096, BATCH, 65536, 1 << 20)
ROBOTS = ("ur5", "panda", "quadruped", "talos_reduced", "tree60")

QUICK_ROBOTS, QUICK_ALGORITHMS, QUICK_BATCHES = (
    ("panda",),
    ("fk", "jacobian", "rnea", "crba", "aba"),
    (256, 4096),
)

LARGEST = 1 << 30
"""Bytes of results beyond which a case is left out."""


@dataclass(frozen=True)
class Case:
    """One measurement. `layout`: columns is [n, B] memory, rows is [B, n]."""

    robot: str
    algorithm: str
    batch: int = BATCH
    dtype: str = "float32"
    layout: str = "columns"
    device: str = "cpu"
    threads: int = 1

    @property
    def plain(self) -> bool:
        """One core, float32, [n, B] memory: the case that others are compared with."""
        return self.dtype == "float32" and self.layout == "columns" and self.threads == 1


def cases(
    robot: str,
    algorithm: str,
    batches: Sequence[int] = BATCHES,
    dtypes: Sequence[str] = ("float32", "float64"),
    layouts: Sequence[str] = ("columns", "rows"),
    threads: Sequence[int] = (1, 2),
    device: str = "cpu",
) -> list[Case]:
    """The plain case over all batches; other precisions and layouts at one batch, threads at two.

    These are the batch of the figures and, for threads, the largest.
    """
    main = BATCH if BATCH in batches else max(batches)
    found = [
        Case(robot, algorithm, b, device=device)
        for b in batches
        if "float32" in dtypes and "columns" in layouts
    ]
    if "float64" in dtypes and "columns" in layouts:
        found.append(Case(robot, algorithm, main, "float64", device=device))
    if "rows" in layouts and "float32" in dtypes:
        found.append(Case(robot, algorithm, main, layout="rows", device=device))
    if device == "cpu" and "float32" in dtypes and "columns" in layouts:
        shared = sorted({main, max(batches)})
        found += [Case(robot, algorithm, b, threads=n) for n in threads if n > 1 for b in shared]
    return found


_ARMS = ("ur5", "panda")

TIMES_PINOCCHIO = {
    **{(robot, "rnea"): 90.0 for robot in _ARMS},
    **{(robot, "aba"): 130.0 for robot in _ARMS},
    **{(robot, "crba"): 70.0 for robot in _ARMS},
    ("talos_reduced", "rnea"): 100.0,
    ("talos_reduced", "aba"): 120.0,
    ("talos_reduced", "crba"): 80.0,
    ("talos_reduced", "fk"): 8.0,
    **{
        (robot, algorithm): times
        for robot in ("panda", "talos_reduced")
        for algorithm, times in {
            "rnea_derivatives": 90.0,
            "aba_derivatives": 60.0,
            "mass_matrix_inverse": 70.0,
            "coriolis_matrix": 40.0,
            "centroidal_momentum_matrix": 40.0,
            "jacobian_derivative": 40.0,
        }.items()
    },
}
"""Float32 throughput of one core by Pinocchio's Python call on the same core."""

TIMES_PRIMAL = {"rnea_vjp": 3.0, "aba_vjp": 2.0, "fk_vjp": 4.0}
"""Time of a gradient by that of what it is the gradient of, at most."""

TIMES_BEST_PEER = {"rnea": 40.0, "aba": 40.0, "crba": 40.0, "fk": 10.0, "jacobian": 10.0}
"""Float32 throughput of one core by the best peer's on the same core."""

FLOAT64_SHARE = 0.4
ROWS_TIME = 1.2
TWO_THREADS = 1.7
FLAT = 0.15
"""How much the cost of a robot may change from 4,096 to 65,536 of them."""

COLD_COMPILE = 12.0
"""Seconds, of any public function for talos_reduced with a free base."""

STARTS = {
    "latency of wd.rnea, NumPy, B = 1 [us]": 25.0,
    "latency of the bound call, B = 1 [us]": 8.0,
    "cold compile of panda, five algorithms [s]": 6.0,
    "cold compile of talos_reduced, aba [s]": 8.0,
    "first result after import, warm cache [s]": 0.3,
    "import warpdyn above import warp [s]": 0.3,
}
"""At most."""

NAMES = tuple(ALGORITHMS)
