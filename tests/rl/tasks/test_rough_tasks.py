"""The quadruped on rough ground: its tiles, its height scan, and changes of its level."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch

import warpdyn as wd
from warpdyn.functions.simulation.terrain_tiles import tile
from warpdyn.rl.tasks.rough_tasks import ASKED, LEVELS, SCAN, QuadrupedRough

ENVS, KINDS = 64, ("slope", "sunken_stairs")
SEES = 48
"""Numbers that the flat task's policy observes; heights of the ground follow."""


@pytest.fixture(scope="module")
def env() -> Any:
    hardest = {"slope": ASKED["slope"], "sunken_stairs": ASKED["stairs"]}
    ground = wd.HeightMap.tiles(KINDS, 3, size=5.0, cell=0.1, hardest=hardest)
    return rl.VecEnv(QuadrupedRough(terrain=ground), ENVS, seed=1)


def zero(env: Any) -> torch.Tensor:
    return torch.zeros(ENVS, env.task.actions)


def test_the_second_last_level_has_the_documented_difficulty() -> None:
    """Rubble of 5 cm, slopes of 20 degrees and stairs of 10 cm."""
    stairs = np.diff(tile("stairs", ASKED["stairs"], 8.0, 0.05, 0)[:81, 80])
    assert stairs.max() == pytest.approx(0.10, abs=1e-4)
    slope = np.diff(tile("slope", ASKED["slope"], 8.0, 0.05, 0)[10:50, 80]) / 0.05
    assert np.degrees(np.arctan(slope.max())) == pytest.approx(20.0, abs=0.02)
    rubble = tile("rough", ASKED["rough"], 8.0, 0.05, 0)
    assert np.abs(rubble).max() == pytest.approx(0.05, abs=5e-4)
    task = QuadrupedRough()
    assert task.half_tile == 4.0 and task.levels == LEVELS
    middle = (LEVELS - 2) * 160 + 80, 3 * 160 + 80
    risen = np.diff(np.asarray(task.terrain.heights)[middle[0] - 80 : middle[0], middle[1]])
    assert risen.max() == pytest.approx(0.10, abs=1e-4)


def test_episodes_begin_in_the_middle_of_a_tile_with_a_height_scan(env: Any) -> None:
    env.reset(seed=1)
    task, state = env.task, env.carried
    level, kind = (state[n].floor().long().numpy() for n in ("level", "kind"))
    assert set(level) == {0, 1, 2} and set(kind) == {0, 1}
    assert state["origin"].numpy() == pytest.approx(task.terrain.origins[level, kind], abs=1e-6)
    q = state["q"].double()
    placed = task.terrain.with_offset(state["origin"].double())
    seen = wd.height_scan(task.model, q, torch.as_tensor(SCAN), terrain=placed)
    ground = env.observations["policy"][:, SEES:].double()
    assert ground.shape == (ENVS, len(SCAN))
    assert torch.allclose(ground, (seen - task.height).clamp(-0.6, 0.6), atol=1e-5)
    env.step(zero(env))
    q = state["q"].double()
    x, y, z, w = (q[:, k] for k in range(3, 7))
    yaw = torch.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    off = torch.remainder(state["heading"] - yaw + np.pi, 2 * np.pi) - np.pi
    assert torch.allclose(state["wanted"][:, 2].double(), (0.5 * off).clamp(-1, 1), atol=1e-4)


def test_the_level_changes_with_the_distance_walked(env: Any) -> None:
    """It rises after more than half a tile, and falls after less than half of the command.

    After the last level it is random.
    """
    env.reset(seed=1)
    task, state = env.task, env.carried
    state["age"].fill_(env.kernels.length - 1)
    state["level"][:] = torch.arange(ENVS).remainder(3) + 0.5
    before = state["level"].floor().clone()
    distance = torch.tensor([0.0, 1.2, 2.9])[torch.arange(ENVS) // 3 % 3]
    state["q"][:, 0], state["q"][:, 1] = distance, 0.0
    state["q"][:, 2] = 1.5  # above all of the ground
    speed = torch.where(torch.arange(ENVS) % 2 == 0, 0.1, 0.3)
    state["wanted"][:, 0], state["wanted"][:, 1] = 0.0, speed
    late = env.step(zero(env))[3]
    assert late.all()
    walked, level = distance > 2.5, state["level"].floor()
    commanded = speed * task.seconds
    kept = (distance > 0.55 * commanded) & ~walked
    down = (distance < 0.45 * commanded) & ~walked
    last = before == 2
    assert walked.any() and kept.any() and down.any() and (kept | down | walked).all()
    assert torch.equal(level[walked & ~last], before[walked & ~last] + 1)
    assert torch.equal(level[kept], before[kept])
    assert torch.equal(level[down], (before[down] - 1).clamp(min=0))
    assert set(level[walked & last].tolist()) <= {0, 1, 2} and level[walked & last].std() > 0
    assert torch.equal(state["age"], torch.zeros(ENVS))
    rows = level.long().numpy(), state["kind"].floor().long().numpy()
    assert state["origin"].numpy() == pytest.approx(task.terrain.origins[rows], abs=1e-6)
    assert torch.equal(env.measures()["level"], level)


def test_tilt_is_relative_to_the_ground_and_a_low_trunk_has_fallen(env: Any) -> None:
    """A trunk along a slope of 20 degrees has no tilt. A level trunk has a tilt of 20 degrees."""
    env.reset(seed=1)
    task, state = env.task, env.carried
    state["level"][:], state["kind"][:] = 2.5, 0.5  # the pyramid
    state["origin"][:] = torch.as_tensor(task.terrain.origins[2, 0])
    rise = 0.05 + 0.45 * ASKED["slope"]
    lean = np.arctan(rise) / 2
    turn = torch.tensor([[0.0, np.sin(lean), 0.0, np.cos(lean)], [0.0, 0.0, 0.0, 1.0]])
    state["q"][:, 3:7] = turn.repeat(ENVS // 2, 1).float()
    state["q"][:, 0], state["q"][:, 1] = 1.6, 0.0  # halfway down along x
    above = torch.where(torch.arange(ENVS) < ENVS // 2, 0.4, 0.03)
    state["q"][:, 2] = -rise * 0.6 + above
    state["q"][:, 7:] = torch.as_tensor(task.stance)  # where the drives hold them
    state["v"].zero_()
    env.scales[:] = torch.tensor([float(n == "tilt") for n in env.kernels.rewards])
    _, reward, fallen, _, _ = env.step(zero(env))
    tilt = reward / task.step_seconds
    high = above > 0.1
    assert tilt[high][::2].abs().max() < 2e-3
    assert tilt[high][1::2].numpy() == pytest.approx(np.sin(2 * lean) ** 2, abs=0.01)
    assert not fallen[high].any() and fallen[~high].all()


def test_a_map_without_tiles_is_refused() -> None:
    with pytest.raises(ValueError, match="map of tiles"):
        QuadrupedRough(terrain=wd.HeightMap(np.zeros((9, 9)), 0.5))
