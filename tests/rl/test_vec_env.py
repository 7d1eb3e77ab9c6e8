"""Environments as Gymnasium's vector: results of steps, resets in the same or next step, equal
bits.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
import gymnasium
import torch
from gymnasium.vector import AutoresetMode
from rl_cases import Hold
from torch.utils._python_dispatch import TorchDispatchMode

import warpdyn as wd
from warpdyn.execution.batched import bind
from warpdyn.rl import vec_env


class Short(Hold):
    seconds = 0.06
    numbers = {"reach": np.array([10.0])}  # noqa: RUF012


def act_randomly(env: Any, steps: int, seed: int = 0) -> list[Any]:
    """Copied results of steps with random actions."""
    draw = torch.Generator().manual_seed(seed)
    seen = []
    for _ in range(steps):
        action = torch.rand((env.num_envs, 2), generator=draw) * 2 - 1
        seen.append([_copy(x) for x in env.step(action)])
    return seen


def _copy(x: Any) -> Any:
    return {n: _copy(y) for n, y in x.items()} if isinstance(x, dict) else x.clone()


def test_vec_env_is_a_vector_environment_of_gymnasium() -> None:
    env = rl.VecEnv(Hold(), 5)
    assert isinstance(env, gymnasium.vector.VectorEnv) and env.num_envs == 5
    assert env.single_action_space.shape == (2,) and env.action_space.shape == (5, 2)
    assert env.observation_space["policy"].shape == (5, 6)
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    seen, _ = env.reset(seed=1)
    assert seen["policy"].shape == (5, 6) and seen["policy"].dtype == torch.float32
    seen, reward, terminated, truncated, info = env.step(torch.zeros(5, 2))
    assert reward.shape == (5,) and terminated.dtype == truncated.dtype == torch.bool
    assert set(info["episode"]) == {"still", "near", "length"}


def test_vec_env_is_registered_with_gymnasium() -> None:
    env = gymnasium.make_vec("warpdyn/CartpoleSwingUp-v0", num_envs=3)
    assert env.num_envs == 3 and env.unwrapped.task.name == "CartpoleSwingUp"


@pytest.mark.parametrize("steps", range(4))
def test_a_reset_returns_the_observations_of_its_states(steps: int) -> None:
    """The reset follows any number of steps.

    It does not overwrite the observations of the last step.
    """
    env, fresh = rl.VecEnv(Hold(), 4), rl.VecEnv(Hold(), 4)
    first = env.reset(seed=1)[0]["policy"].clone()
    last = [env.step(torch.ones(4, 2))[0]["policy"] for _ in range(steps)][-1:]
    kept = [x.clone() for x in last]
    seen, _ = env.reset(seed=7)
    assert torch.equal(seen["policy"], fresh.reset(seed=7)[0]["policy"])
    assert torch.equal(seen["policy"], env.observations["policy"])
    assert not torch.equal(seen["policy"], first)
    assert all(torch.equal(x, y) for x, y in zip(last, kept, strict=True))


def test_with_same_step_an_episode_ends_and_begins_in_one_step() -> None:
    """The observation is that of the new episode.

    `final_obs` has the last one of the old episode.
    """
    env = rl.VecEnv(Short(), 4)
    env.reset()
    *_, last = act_randomly(env, 3)
    seen, _, terminated, truncated, info = last
    assert truncated.all() and not terminated.any() and info["_final_obs"].all()
    assert (seen["hidden"][:, 5:] == 0).all() and (info["final_obs"]["hidden"][:, 6] == 3).all()
    assert (info["episode"]["length"] == 3).all()


def test_with_next_step_an_episode_begins_in_the_step_after_its_end() -> None:
    env = rl.VecEnv(Short(), 4, autoreset="next_step")
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    env.reset()
    *_, end, fresh = act_randomly(env, 4)
    assert end[3].all() and (end[0]["hidden"][:, 6] == 3).all()
    assert not fresh[2].any() and not fresh[3].any() and not fresh[1].any()
    assert (fresh[0]["hidden"][:, 6] == 0).all()
    assert not act_randomly(env, 2)[-1][3].any()


def test_equal_seeds_give_equal_bits_in_any_batch() -> None:
    """Environment 3 of 5 equals environment 3 of 64. With another seed it differs."""
    few, many, other = (rl.VecEnv(Hold(), n, seed=s) for n, s in ((5, 0), (64, 0), (5, 1)))
    for env in (few, many, other):
        env.reset()
    draw = torch.Generator().manual_seed(0)
    for _ in range(12):
        action = torch.rand((64, 2), generator=draw) * 2 - 1
        x, y, z = few.step(action[:5])[0], many.step(action)[0], other.step(action[:5])[0]
        for name in x:
            assert torch.equal(x[name], y[name][:5]), name
    assert not torch.equal(x["hidden"], z["hidden"])


def test_results_are_overwritten_by_the_second_next_step_at_the_earliest() -> None:
    env = rl.VecEnv(Hold(), 4)
    env.reset()
    first = env.step(torch.zeros(4, 2))[0]["policy"]
    kept = first.clone()
    second = env.step(torch.ones(4, 2))[0]["policy"]
    assert torch.equal(first, kept) and not torch.equal(first, second)


@pytest.mark.parametrize("autoreset", ["same_step", "next_step"])
def test_nonfinite_actions_are_marked(autoreset: str) -> None:
    """Infinite ones act as the largest action. After NaN observations are finite."""
    env, bounded = (rl.VecEnv(Hold(), 4, autoreset=autoreset) for _ in range(2))
    env.reset(), bounded.reset()
    action = torch.zeros(4, 2)
    action[1, 0], action[2, 1], action[3, 0] = torch.inf, torch.nan, -torch.inf
    seen, reward, terminated, _, info = env.step(action)
    assert info["nonfinite_action"].tolist() == [False, True, True, True]
    assert info["failed"].tolist() == terminated.tolist() == [False, False, True, False]
    groups = [*info["final_obs"].values(), *seen.values()] if autoreset == "same_step" else []
    assert all(torch.isfinite(x).all() for x in (*groups, *info["final_obs"].values(), reward))
    assert all((x[2] == 0).all() for x in info["final_obs"].values())
    largest = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [-1.0, 0.0]])
    same, _, _, _, clean = bounded.step(largest)
    rows = [0, 1, 3]
    assert all(torch.equal(seen[n][rows], x[rows]) for n, x in same.items())
    assert not clean["nonfinite_action"].any()
    # The next step is regular and marks nothing.
    again, _, _, _, info = env.step(torch.zeros(4, 2))
    assert not info["nonfinite_action"].any()
    assert all(torch.isfinite(x).all() for x in again.values())


def test_kept_numbers_survive_a_state_that_is_not_finite() -> None:
    """A level is not computed from NaN."""

    class Levels(Hold):
        keep = {"level": 2.0}  # noqa: RUF012

        def promote(self, robot: Any, s: Any) -> dict[str, Any]:
            return {"level": s.level + s.q[0]}

    env = rl.VecEnv(Levels(), 2)
    env.reset()
    env.step(torch.tensor([[torch.nan, 0.0], [0.0, 0.0]]))
    assert env.carried["level"].tolist() == [2.0, 2.0]


def test_a_step_binds_its_arrays_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the two alternating sets has one bound start and one bound step.

    Later calls bind nothing.
    """
    counted = []

    def counting(*args: Any, **kwargs: Any) -> Any:
        counted.append(args[0].__name__)
        return bind(*args, **kwargs)

    monkeypatch.setattr(vec_env, "bind", counting)
    env = rl.VecEnv(Hold(), 2)
    for _ in range(4):
        env.reset()
        for _ in range(6):
            env.step(torch.zeros(2, 2))
    assert sorted(counted) == ["environment_start"] * 2 + ["environment_step"] * 2


def test_numbers_and_scales_can_change_between_steps() -> None:
    """A curriculum is an example."""
    env = rl.VecEnv(Hold(), 4)
    env.reset()
    env.numbers["reach"][:] = 0.0
    assert env.step(torch.ones(4, 2))[2].all()
    env.numbers["reach"][:] = 10.0
    env.scales[:] = 0.0
    assert not env.step(torch.ones(4, 2))[1].any()


def test_a_restored_state_continues_with_the_same_bits() -> None:
    env = rl.VecEnv(Hold(), 6)
    env.reset()
    act_randomly(env, 4)
    state = env.state()
    ahead = act_randomly(env, 8, 1)
    env.restore(state)
    again = act_randomly(env, 8, 1)
    for x, y in zip(ahead, again, strict=True):
        assert torch.equal(x[0]["hidden"], y[0]["hidden"]) and torch.equal(x[1], y[1])
    with pytest.raises(ValueError, match="a state must have q, v"):
        env.restore({"q": state["q"]})


def test_a_reward_that_is_nan_is_refused_by_name() -> None:
    class InvalidReward(Hold):
        def reward(self, robot: Any, s: Any) -> dict[str, Any]:
            wrong = np.where(robot.env == 0.0, np.sqrt(s.q[0] - 10.0), 1.0)
            return {"still": wrong, "near": 1.0 + 0.0 * s.q[0]}

    env = rl.VecEnv(InvalidReward(), 4)
    env.reset()
    with pytest.raises(
        rl.TaskError, match="InvalidReward: the reward still is not finite in environment 0"
    ):
        env.step(torch.zeros(4, 2))


def test_finite_rewards_whose_sum_overflows_are_no_mistake() -> None:
    class LargeReward(Hold):
        def reward(self, robot: Any, s: Any) -> dict[str, Any]:
            return {"still": 3e38 + 0.0 * s.q[0], "near": 0.0 * s.q[0]}

    env = rl.VecEnv(LargeReward(), 100)
    env.reset()
    _, reward, *_ = env.step(torch.zeros(100, 2))
    assert torch.isfinite(reward).all() and torch.isinf(reward.sum())


@pytest.mark.parametrize("autoreset", ["same_step", "next_step"])
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_checks_that_would_wait_for_the_gpu_run_on_request(
    monkeypatch: pytest.MonkeyPatch, number: float, autoreset: Any
) -> None:
    """A step does not wait for the device. check_rewards reports the steps before it, once."""

    class Once(Short):
        def reward(self, robot: Any, s: Any) -> dict[str, Any]:
            bad = np.where((s.ticks == 4.0) & (robot.env == 1.0), number, 1e30)
            return {"still": 1.0 + 0.0 * s.q[0], "near": bad}

    env = rl.VecEnv(Once(), 4, autoreset=autoreset)
    env.reset()
    monkeypatch.setattr(rl.VecEnv, "_waits", True)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: "stream")
    for _ in range(10):
        env.step(torch.zeros(4, 2))
    with pytest.raises(rl.TaskError, match="the reward near is not finite in environment 1"):
        env.check_rewards()
    env.check_rewards()  # reported once


def test_a_step_uses_few_torch_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each operation on a GPU takes as long as the launch of the step.

    The operations are the action, rewards that are not finite, and one comparison for all
    conditions.
    """
    env = rl.VecEnv(Hold(), 4)
    env.reset()
    monkeypatch.setattr(rl.VecEnv, "_waits", True)
    action = torch.zeros(4, 2)
    for _ in range(2):
        env.step(action)
    seen: list[str] = []

    class RecordOperations(TorchDispatchMode):
        def __torch_dispatch__(
            self, function: Any, _: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append(str(function))
            return function(*args, **(kwargs or {}))

    with RecordOperations():
        env.step(action)
    assert [x.split(".")[1] for x in seen if "unbind" not in x] == [
        "copy_",
        "addcmul_",
        "gt",
    ]


@pytest.mark.parametrize("autoreset", ["same_step", "next_step"])
def test_terminated_and_truncated_are_separate_tensors(autoreset: Any) -> None:
    """A user may write into one of them without changing the other."""
    env = rl.VecEnv(Short(), 70, autoreset=autoreset)
    env.reset()
    for _ in range(9):
        _, _, terminated, truncated, info = env.step(2 * torch.rand(70, 2) - 1)
        over, before = info["_final_obs"], truncated.clone()
        assert torch.equal(over, terminated | truncated)
        assert torch.equal(over, info["episode"]["length"] > 0)
        terminated |= True
        info["episode"].clear()
        assert torch.equal(truncated, before)


def test_the_number_of_threads_does_not_change_results() -> None:
    before = wd.runtime.get_num_threads()
    try:
        bits = []
        for threads in (1, 2):
            wd.runtime.set_num_threads(threads)
            env = rl.VecEnv(Hold(), 700)
            env.reset()
            bits.append(act_randomly(env, 6)[-1][0]["hidden"])
    finally:
        wd.runtime.set_num_threads(before)
    assert torch.equal(*bits)


def test_environment_17_is_the_same_in_batches_of_1_and_4096() -> None:
    """All bits agree over ends and resets, because draws depend on the environment's number."""
    alone, among = rl.VecEnv(Hold(), 1, first=17), rl.VecEnv(Hold(), 4096)
    x, y = alone.reset()[0], among.reset()[0]
    draw, ends = torch.Generator().manual_seed(0), 0
    for _ in range(25):
        assert all(torch.equal(x[name][0], y[name][17]) for name in x)
        action = 0.2 * torch.rand((4096, 2), generator=draw)
        x, reward, failed, late, _ = alone.step(action[17:18])
        y, rewards, *_ = among.step(action)
        assert torch.equal(reward[0], rewards[17])
        ends += int(failed) + int(late)
    assert ends >= 2
    for wrong in (-1, 1.5, "2", 1 << 24):
        with pytest.raises(ValueError, match="first must be a whole number from 0 to 16777215"):
            rl.VecEnv(Hold(), 1, first=wrong)


def test_float64_environments_agree_with_the_oracle() -> None:
    """They differ from plain numbers by rounding only, float32 by a thousand times more."""
    env = rl.VecEnv(Hold(), 2, seed=3, dtype="float64")
    seen, _ = env.reset()
    assert seen["policy"].dtype == torch.float64 == env.carried["q"].dtype
    for _ in range(3):
        action = 0.3 * np.ones((2, 2))
        plain = rl.plain_step(env, action[1], 1)
        _, reward, *_ = env.step(action)
        assert float(reward[1]) == pytest.approx(float(plain["reward"]), rel=1e-10)
        np.testing.assert_allclose(env.carried["q"][1], plain["q"], rtol=1e-10)
    with pytest.raises(ValueError, match='dtype must be "float32" or "float64", got \'float16\''):
        rl.VecEnv(Hold(), 2, dtype="float16")


def test_arrays_of_a_launch_are_written_and_not_replaced() -> None:
    """A replaced tensor would have no effect from the second step on."""
    env = rl.VecEnv(Hold(), 2)
    reach, scales = env.numbers["reach"], env.scales
    env.numbers["reach"] *= 0.5
    env.scales *= 2.0
    assert env.numbers["reach"] is reach and env.scales is scales
    with pytest.raises(
        TypeError, match=r"reach cannot be replaced; write into it: \['reach'\]\[:\]"
    ):
        env.numbers["reach"] = reach + 1.0
    with pytest.raises(KeyError, match=r"there is no 'rech'; there are .*reach"):
        env.numbers["rech"] = reach
    with pytest.raises(AttributeError, match=r"scales cannot be replaced; .*env.scales\[:\]"):
        env.scales = scales.clone()
    assert list(copy.deepcopy(env.numbers)) == list(env.numbers)


def test_backward_refuses_results_that_a_later_step_has_overwritten() -> None:
    """Results are valid until the step after the next; the weights of a policy would get gradients
    of later observations."""
    env = rl.VecEnv(Hold(), 3)
    weights, action = torch.ones(6, requires_grad=True), torch.full((3, 2), 0.1)

    def loss(seen: Any) -> torch.Tensor:
        return (seen["policy"] * weights).sum()

    first = loss(env.reset()[0])
    second = loss(env.step(action)[0])
    carried = (env.carried["q"] * weights[:2]).sum()
    second.backward(retain_graph=True)
    first.backward(retain_graph=True)
    third = loss(env.step(action)[0])
    fourth = loss(env.step(action)[0])
    for stale in (first, second, carried):
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            stale.backward()
    third.backward(retain_graph=True)
    fourth.backward(retain_graph=True)
    env.reset()
    fourth.backward()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        third.backward()
