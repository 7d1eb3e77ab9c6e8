"""Cases that are measured, and the targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .algorithms import ALGORITHMS

BATCH = 16384
"""Batch size of the cases that have targets."""

BATCHES = (1, 16, 256, 4096, BATCH, 65536)
GPU_BATCHES = (1, 256, 4096, BATCH, 65536, 1 << 20)
ROBOTS = ("ur5", "panda", "quadruped", "talos_reduced", "tree60")

QUICK_ROBOTS, QUICK_ALGORITHMS, QUICK_BATCHES = (
    ("panda",),
    ("fk", "jacobian", "rnea", "crba", "aba"),
    (256, 4096),
)

LARGEST = 1 << 30
"""A case whose results have more bytes is left out."""


@dataclass(frozen=True)
class Case:
    """One measurement. `layout`: "columns" is [n, B] memory, "rows" is [B, n]."""

    robot: str
    algorithm: str
    batch: int = BATCH
    dtype: str = "float32"
    layout: str = "columns"
    device: str = "cpu"
    threads: int = 1

    @property
    def plain(self) -> bool:
        """True for the reference case: one core, float32, [n, B] memory."""
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
    """Cases of an algorithm.

    The reference case is measured at all batch sizes, other precisions and layouts at `BATCH`, and two
    threads at `BATCH` and at the largest batch size.
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
"""Float32 throughput of one core divided by that of Pinocchio's Python call, at least."""

TIMES_PRIMAL = {"rnea_vjp": 3.0, "aba_vjp": 2.0, "fk_vjp": 4.0}
"""Time of a gradient divided by that of its primal function, at most."""

TIMES_BEST_PEER = {"rnea": 40.0, "aba": 40.0, "crba": 40.0, "fk": 10.0, "jacobian": 10.0}
"""Float32 throughput of one core divided by that of the best peer, at least."""

FLOAT64_SHARE = 0.4
ROWS_TIME = 1.2
TWO_THREADS = 1.7
FLAT = 0.15
"""Largest relative change of the time per robot from 4,096 to 65,536 robots."""

COLD_COMPILE = 12.0
"""Longest first call of a public function for talos_reduced with a free base [s]."""

STARTS = {
    "latency of wd.rnea, NumPy, B = 1 [us]": 25.0,
    "latency of the bound call, B = 1 [us]": 8.0,
    "cold compile of panda, five algorithms [s]": 6.0,
    "cold compile of talos_reduced, aba [s]": 8.0,
    "first result after import, warm cache [s]": 0.3,
    "import warpdyn above import warp [s]": 0.3,
}
"""Largest values."""

NAMES = tuple(ALGORITHMS)
