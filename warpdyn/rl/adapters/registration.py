"""Registration of the tasks with Gymnasium:
`gymnasium.make_vec("warpdyn/QuadrupedVelocity-v0")`."""

from __future__ import annotations

import gymnasium

from ..tasks import TASKS


def register() -> None:
    """Register all tasks with Gymnasium."""
    for name, task in TASKS.items():
        gymnasium.register(
            id=f"warpdyn/{task.__name__}-v0",
            vector_entry_point="warpdyn.rl.adapters.named_environments:environments",
            kwargs={"task": name},
        )
