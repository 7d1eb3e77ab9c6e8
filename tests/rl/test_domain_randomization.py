"""Differences between simulation and robot, which a recipe draws in training."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch
from rl_cases import Hold

import warpdyn as wd
from warpdyn.rl.checkpoint import plain
from warpdyn.rl.disturbances import disturbed_tasks
from warpdyn.rl.domain_randomization import randomization_of, randomized_attributes
from warpdyn.rl.training_task import training_task


def test_a_training_draws_only_numbers_that_its_task_has() -> None:
    """The pendulum has drives, but neither ground nor base. The task itself is unchanged."""
    task = Hold()
    recipe = replace(task.recipe, vary=rl.SIM_TO_REAL)
    learned = training_task(task, recipe)
    assert {"kp", "latency", "encoder_bias", *task.vary} <= set(learned.vary)
    assert "friction" not in learned.vary and learned.push is task.push
    assert set(learned.noise) == set(task.noise)
    assert task.vary == Hold.vary and training_task(task, task.recipe).vary == Hold.vary
    (progress,) = rl.Trainer(task, recipe=recipe).run(iterations=1)
    assert progress.steps == recipe.envs * recipe.steps


def test_a_training_with_randomisation_resumes_from_its_checkpoint(tmp_path: Path) -> None:
    """A checkpoint has plain values only. A training with another range is refused."""
    recipe = replace(Hold.recipe, vary=rl.SIM_TO_REAL)
    list(rl.Trainer(Hold(), recipe=recipe, folder=tmp_path).run(iterations=2))
    assert rl.Trainer(Hold(), recipe=recipe, folder=tmp_path).iteration == 2
    wider = rl.SIM_TO_REAL.with_changes(latency=rl.Vary(0.0, 0.05))
    with pytest.raises(rl.TaskError, match=r"recipe vary vary latency high 0.03 instead of 0.05"):
        rl.Trainer(Hold(), recipe=replace(recipe, vary=wider), folder=tmp_path)


def test_a_quadruped_draws_the_whole_randomisation() -> None:
    task = rl.make("quadruped_velocity")
    learned = training_task(task, replace(task.recipe, vary=rl.SIM_TO_REAL))
    assert set(rl.SIM_TO_REAL.vary) <= set(learned.vary)
    assert set(rl.SIM_TO_REAL.noise) == set(learned.noise)
    assert learned.push == rl.SIM_TO_REAL.push


def test_terms_that_only_the_critic_observes_have_no_noise() -> None:
    """An onboard policy does not observe the velocity of the base; its critic observes it exactly."""
    task = rl.make("quadruped_velocity_onboard")
    learned = training_task(task, task.recipe)
    assert set(learned.noise) == set(rl.SIM_TO_REAL.noise) - {"velocity"}


def test_bodies_on_a_level_plane_get_no_bumps() -> None:
    """A pair with the ground touches the plane z = 0. The robot among objects is still pushed."""
    task = rl.make("quadruped_velocity")
    cube = wd.description.Box(0.1, 0.1, 0.1)
    task.model = task.model.with_object("cube", cube, mass=1.0, pose=(1.0, 0.0, 0.05))
    learned = randomized_attributes(rl.SIM_TO_REAL, task, {})
    assert learned["push"] == rl.SIM_TO_REAL.push and "terrain" in learned
    task.pairs = wd.ContactPairs(task.model).only(("*_foot", "cube")).with_ground("cube")
    assert "terrain" not in randomized_attributes(rl.SIM_TO_REAL, task, {})
    assert "bumps of 2 cm" not in disturbed_tasks(task)
    assert "5 kg on the base" in disturbed_tasks(task)


def test_with_changes_replaces_and_removes_entries() -> None:
    heavy = rl.Vary(0.5, 2.0, how="scale", of="base")
    noise = {"joints": rl.Noise(0.1)}
    changed = rl.SIM_TO_REAL.with_changes(mass=heavy, latency=None, noise=noise)
    assert changed.vary["mass"] == heavy and "latency" not in changed.vary
    assert changed.noise["joints"] == rl.Noise(0.1) and "latency" in rl.SIM_TO_REAL.vary


def test_the_removal_of_an_unknown_entry_is_refused() -> None:
    """A misspelt name would otherwise leave the entry in place without a message."""
    with pytest.raises(ValueError, match=r"no entry 'latencies' to remove.*'latency'"):
        rl.SIM_TO_REAL.with_changes(latencies=None)


def test_bumps_replace_level_ground_only() -> None:
    """Each episode of each environment begins at another place of the bumps and above them."""
    task = rl.make("quadruped_velocity")
    learned = training_task(task, replace(task.recipe, vary=rl.DomainRandomization(bumps=0.02)))
    heights = np.asarray(learned.terrain.heights)
    assert heights.shape == (241, 241) and learned.terrain.cell == 0.1
    assert -0.02 <= heights.min() < -0.019 and -0.001 < heights.max() <= 0.0
    env = rl.VecEnv(learned, 8, seed=1)
    env.reset()
    first = env.carried["origin"].clone()
    assert len(first[:, :2].unique()) == 16 and (first[:, 2] == 0.0).all()
    assert first[:, :2].abs().max() <= 4.0
    env.step(torch.zeros(8, task.actions))
    env.carried["age"][:4] = env.kernels.length - 1
    env.step(torch.zeros(8, task.actions))
    moved = (env.carried["origin"] != first).any(dim=1)
    assert moved[:4].all() and not moved[4:].any()
    assert task.terrain is None and "origin" not in task.vary
    without = training_task(Hold(), replace(Hold.recipe, vary=rl.DomainRandomization(bumps=0.02)))
    assert without.terrain is None
    rough = rl.make("quadruped_rough")
    assert training_task(rough, rough.recipe).terrain is rough.terrain


def test_an_origin_is_drawn_only_on_a_map_and_not_set_by_begin() -> None:
    """A wrong use is refused with the remedy."""
    task = rl.make("quadruped_velocity")
    task.vary = {"origin": rl.Vary(-1.0, 1.0, how="scale")}
    with pytest.raises(rl.TaskError, match="'origin' is not a number that can vary"):
        rl.VecEnv(task, 1)
    task.terrain = wd.HeightMap(np.zeros((9, 9)), 0.5)
    task.vary = {"origin": rl.Vary(-1.0, 1.0)}
    with pytest.raises(rl.TaskError, match='an origin must have how="scale"'):
        rl.VecEnv(task, 1)
    rough = rl.make("quadruped_rough")
    rough.vary = {"origin": rl.Vary(-1.0, 1.0, how="scale")}
    with pytest.raises(rl.TaskError, match="begin names origin, which vary draws"):
        rl.VecEnv(rough, 1)


def test_randomisation_is_read_back_from_its_record() -> None:
    assert randomization_of(plain(rl.SIM_TO_REAL)) == rl.SIM_TO_REAL
    assert randomization_of(plain(rl.SIM_TO_REAL_ARM)) == rl.SIM_TO_REAL_ARM
    of_an_earlier_version = [{"kp": [0.5, 1.5, "uniform", "scale"]}, {}, [1.0, 3.0]]
    assert randomization_of(of_an_earlier_version) == rl.DomainRandomization(
        {"kp": rl.Vary(0.5, 1.5, how="scale")}, push=rl.Push(1.0, 3.0)
    )


@pytest.mark.parametrize("name", ["panda_reach", "panda_lift", "panda_push"])
def test_arm_tasks_train_with_the_randomisation_of_arms(name: str) -> None:
    """Objects keep the mass that the task draws. A fixed base is not pushed."""
    task = rl.make(name)
    learned = training_task(task, task.recipe)
    assert task.recipe.vary == rl.SIM_TO_REAL_ARM
    assert set(learned.vary) == {*task.vary, *rl.SIM_TO_REAL_ARM.vary}
    assert learned.vary.get("mass") == task.vary.get("mass") and learned.push is None
    assert {"joints", "speeds"} <= set(learned.noise)
