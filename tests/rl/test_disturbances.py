"""A policy under disturbances, one at a time."""

from __future__ import annotations

from copy import copy

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch
from rl_cases import Hold

from warpdyn.rl.disturbances import disturbed_tasks
from warpdyn.rl.environment_step import EnvironmentStep

QUADRUPED = rl.make("quadruped_velocity")


def test_disturbances_that_a_task_cannot_have_are_left_out() -> None:
    assert list(disturbed_tasks(Hold())) == [
        "none",
        "latency 20 ms",
        "motors at 0.8",
        "joint friction 0.1 v²",
    ]
    assert len(disturbed_tasks(QUADRUPED)) == 9


@pytest.mark.parametrize("name", ["hand_reorient", "panda_lift", "panda_push"])
def test_varied_numbers_have_their_defaults(name: str) -> None:
    """Its observation reads the mass of the object and the friction of the pairs."""
    task = rl.make(name)
    task.vary = {**task.vary, "latency": rl.Vary(0.0, 0.01)}
    tasks = disturbed_tasks(task)
    step = EnvironmentStep(tasks["none"], 5)
    start = step.start(task.model, np.zeros(2), *step.shared_arrays.values())._asdict()
    mass = {link.name: link.mass for link in task.model.links}[task.vary["mass"].of]
    assert np.allclose(start["mass"], mass) and np.all(start["pair_friction"] == 0.8)
    assert all(each.vary.keys() >= task.vary.keys() for each in tasks.values())


def test_places_on_a_height_map_stay() -> None:
    """They are where episodes begin, not a disturbance."""
    places = rl.Vary(-3.0, 3.0, how="scale")
    task = copy(QUADRUPED)
    late = dict.fromkeys(("latency", "observation_latency"), rl.Vary(0.0, 0.01))
    task.vary = {"origin": places, "mass": rl.Vary(0.8, 1.2, how="scale"), **late}
    nominal = disturbed_tasks(task)["none"]
    assert nominal.vary["origin"] == places
    assert nominal.vary["mass"] == rl.Vary(1.0, 1.0, how="scale")
    assert all(nominal.vary[name] == rl.Vary(0.0, 0.0) for name in late)


def test_each_disturbance_changes_one_property() -> None:
    """The property is one of the environments at their beginning or in a step."""
    envs = {n: rl.VecEnv(x, 8, seed=3) for n, x in disturbed_tasks(QUADRUPED).items()}
    carried = {}
    for name, env in envs.items():
        env.reset()
        env.step(torch.zeros(8, env.task.actions))
        carried[name] = env.carried
        assert not env.task.noise
    assert torch.all(carried["none"]["friction"] == 0.8)
    assert torch.allclose(carried["friction 0.2"]["friction"], torch.tensor(0.2))
    uneven = envs["bumps of 2 cm"]
    assert float(uneven.task.terrain.heights.min()) == pytest.approx(-0.02, abs=1e-4)
    assert envs["none"].task.terrain is None and "origin" not in carried["none"]
    assert torch.all(carried["bumps of 2 cm"]["friction"] == 0.8)
    assert torch.allclose(carried["latency 20 ms"]["latency"], torch.tensor(0.02))
    mass = float(QUADRUPED.model.links[0].mass)
    assert torch.allclose(carried["5 kg on the base"]["mass"], torch.tensor(mass + 5.0))
    assert torch.allclose(carried["motors at 0.8"]["strength"], torch.tensor(0.8))
    friction = carried["joint friction 0.1 v²"]["quadratic_friction"]
    assert friction.shape == (8, 12) and torch.allclose(friction, torch.tensor(0.1))
    grown, at_once = (carried[n] for n in ("none", "command at once"))
    assert torch.equal(at_once["command"], at_once["wanted"])
    assert not torch.equal(grown["command"], grown["wanted"])


def test_pushes_have_the_stated_speed_in_random_directions() -> None:
    """1 m/s in a random horizontal direction, every three seconds."""
    task = disturbed_tasks(QUADRUPED)["push 1 m/s every 3 s"]
    text, envs = EnvironmentStep(task, 5), 16
    given = list(text.shared_arrays.values())
    state = text.start(task.model, np.zeros(envs), *given)._asdict() | {"ticks": np.zeros(envs)}
    for steps, speed in ((149, 0.0), (150, 1.0), (151, 0.0)):
        state["age"] = np.full(envs, float(steps))
        arrays = [state[n] for n in text.carried]
        after = text.command(task.model, *arrays, np.zeros((envs, task.actions)), *given).v
        assert np.allclose(np.linalg.norm((after - state["v"])[:, :3], axis=1), speed, atol=1e-9)
        assert np.array_equal(after[:, 3:], state["v"][:, 3:])


def test_a_policy_is_evaluated_under_each_disturbance() -> None:
    found = rl.evaluate_disturbed("cartpole_swing_up", envs=4, seconds=0.2)
    assert list(found) == list(disturbed_tasks(rl.make("cartpole_swing_up")))
    assert all(x.envs == 4 and np.isfinite(x.returned) for x in found.values())
    with pytest.raises(rl.TaskError, match='simulator must be "warpdyn" or "mujoco"'):
        rl.evaluate_disturbed("quadruped_velocity", simulator="bullet")  # type: ignore[arg-type]
