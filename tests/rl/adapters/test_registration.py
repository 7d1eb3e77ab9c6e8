"""The tasks as Gymnasium knows them."""

from __future__ import annotations

import pytest

rl = pytest.importorskip("warpdyn.rl")
import gymnasium


def test_importing_warpdyn_rl_registers_every_task_with_gymnasium() -> None:
    """The id has the name of the task's class, as in warpdyn/QuadrupedVelocity-v0."""
    names = {each.id for each in gymnasium.registry.values() if each.id.startswith("warpdyn/")}
    assert names == {f"warpdyn/{task.__name__}-v0" for task in rl.TASKS.values()}
