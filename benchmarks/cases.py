"""What is measured, and the figures to reach."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

BATCH = 16384
ROBOTS = ("ur5", "panda", "talos_reduced")
ALGORITHMS = ("rnea", "aba", "crba", "fk")


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
        """One core, [n, B] memory: what the other cases of the same robot and algorithm are held against."""
        return self.layout == "columns" and self.threads == 1


CASES = [
    *(Case(r, a, dtype=d) for r, a, d in product(ROBOTS, ALGORITHMS, ("float32", "float64"))),
    *(Case(r, a, layout="rows") for r, a in product(ROBOTS, ALGORITHMS)),
    *(Case(r, a, threads=2) for r, a in product(ROBOTS, ALGORITHMS)),
]

TIMES_PINOCCHIO = {
    **{(robot, "rnea"): 90.0 for robot in ("ur5", "panda")},
    **{(robot, "aba"): 130.0 for robot in ("ur5", "panda")},
    **{(robot, "crba"): 70.0 for robot in ("ur5", "panda")},
    ("talos_reduced", "rnea"): 100.0,
    ("talos_reduced", "aba"): 120.0,
    ("talos_reduced", "crba"): 80.0,
    ("talos_reduced", "fk"): 8.0,
}
"""Float32 throughput of one core by Pinocchio's Python call on the same core."""

FLOAT64_SHARE = 0.4
ROWS_TIME = 1.2
TWO_THREADS = 1.7

STARTS = {
    "latency of wd.rnea, NumPy, B = 1 [us]": 25.0,
    "latency of the bound call, B = 1 [us]": 8.0,
    "cold compile of panda, five algorithms [s]": 6.0,
    "cold compile of talos_reduced, aba [s]": 8.0,
    "first result after import, warm cache [s]": 0.3,
    "import warpdyn above import warp [s]": 0.3,
}
"""At most."""
