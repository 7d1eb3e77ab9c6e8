"""Points of a training's curves by name."""

from __future__ import annotations

import pytest

rl = pytest.importorskip("warpdyn.rl")
from rl_cases import Hold

from warpdyn.rl.adapters.curve_points import curve_points


def test_curves_of_episodes_have_points_only_if_an_episode_ended() -> None:
    (progress,) = rl.Trainer(Hold()).run(iterations=1)
    found = dict(curve_points(progress._replace(rewards={"near": 2.0}, length=1.5)))
    assert found["reward of a second/near"] == 2.0 and found["episodes/return"] == 3.0
    none = dict(curve_points(progress._replace(rewards={})))
    assert not any(name.startswith("episodes") for name in none)
    assert none["training/CPU seconds"] == progress.cpu_seconds
