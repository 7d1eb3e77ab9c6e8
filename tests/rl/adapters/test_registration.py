"""The tasks as Gymnasium knows them."""

from __future__ import annotations

import pytest

rl = pytest.importorskip("warpdyn.rl")
import gymnasium


def test_importing_warpdyn_rl_names_every_task_to_gymnasium() -> None:
    """warpdyn/QuadrupedVelocity-v0, after the task's class."""
    names = {each.id for each in gymnasium.registry.values() if each.id.startswith("warpdyn/")}
    assert names == {f"warpdyn/{task.__name__}-v0" for task in rl.TASKS.values()}
