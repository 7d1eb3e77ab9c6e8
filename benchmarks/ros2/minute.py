"""A quadruped walks for one minute under a policy in the node, over DDS."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from ros2_node.demo.walking import COURSE, walk
from warpdyn import rl

LAPS = 3


def minute(folder: Path, policy: str = "quadruped_velocity", laps: int = LAPS) -> dict[str, Any]:
    """60 s under changing commands: falls, speed errors, and actions of the guards."""
    begun = time.monotonic()
    found = walk(COURSE * laps, policy, say=lambda text: print(f"  {text}", flush=True))
    file = Path(policy) if Path(policy).exists() else rl.bundled_policy(policy)
    about = rl.Policy(file).about
    speed, turning = found.errors
    kept = ("state", "compute time", "commands clamped", "last fault")
    kept += tuple(k for k in found.diagnostics if k.startswith(("rejected", "noticed")))
    return {
        "policy": {k: about.get(k) for k in ("task", "robot", "seed", "iterations", "commit")},
        "course": [list(leg) for leg in COURSE * laps],
        "simulated_s": float(found.times[-1] - found.times[0]),
        "wall_s": time.monotonic() - begun,
        "fell": found.fell,
        "lowest_m": float(found.place[:, 2].min()),
        "speed_error_m_s": speed,
        "turning_error_rad_s": turning,
        "diagnostics": {k: found.diagnostics.get(k, "") for k in kept},
    }
