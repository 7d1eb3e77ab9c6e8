"""Registration of the tasks with Gymnasium:
`gymnasium.make("warpdyn/QuadrupedVelocity-v0")` and `make_vec`."""

from __future__ import annotations

import gymnasium

from ..tasks import TASKS


def register() -> None:
    """Register all tasks with Gymnasium."""
    for name, task in TASKS.items():
        gymnasium.register(
            id=f"warpdyn/{task.__name__}-v0",
            entry_point="warpdyn.rl.adapters.named_environments:environment",
            vector_entry_point="warpdyn.rl.adapters.named_environments:environments",
            kwargs={"task": name},
        )
