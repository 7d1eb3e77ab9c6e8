"""Our PPO gives the numbers of rsl_rl's. Its parts are compared with hand calculations."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch

from warpdyn.rl.learners import ppo

if TYPE_CHECKING:  # rsl_rl takes three seconds, which a collection of tests need not
    from tensordict import TensorDict

    from warpdyn.rl.learners.rsl_rl import RslRlLearner

ENVS, STEPS, ACTIONS, WIDTHS = 64, 8, 3, {"policy": 7, "critic": 11}
RECIPE = rl.Recipe(envs=ENVS, steps=STEPS, layers=(16, 8), precision="float32", learning_rate=3e-4)


class RandomEnvironments:
    """Random observations that do not depend on the actions, in place of environments."""

    num_envs, device, max_episode_length = ENVS, "cpu", 10

    class task:  # noqa: N801
        actions = ACTIONS

    def __init__(self) -> None:
        self.random = torch.Generator().manual_seed(5)
        self.observations = self.draw()

    def draw(self) -> dict[str, torch.Tensor]:
        return {
            name: 3.0 * torch.randn(ENVS, width, generator=self.random) + 1.0
            for name, width in WIDTHS.items()
        }

    def results(self, action: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Rewards that depend on the actions, ends and time limits."""
        reward = -action.square().sum(1) + self.observations["policy"][:, 0]
        ended, timed_out = (torch.rand(ENVS, generator=self.random) < p for p in (0.2, 0.1))
        return reward, (ended | timed_out).float(), timed_out.float()


class RslRlEnvironments:
    """The same environments for rsl_rl."""

    num_envs, num_actions, device, cfg = ENVS, ACTIONS, "cpu", {"task": "recorded"}

    def __init__(self, env: RandomEnvironments):
        self.env, self.unwrapped = env, env

    def get_observations(self) -> TensorDict:
        from tensordict import TensorDict

        return TensorDict(self.env.observations, batch_size=[ENVS])


def train(make: Any, updates: int) -> Iterator[dict[str, torch.Tensor]]:
    """Parameters after each update. Each iteration has its own random numbers."""
    torch.manual_seed(1)
    env = RandomEnvironments()
    learner = make(env)
    for k in range(updates):
        torch.manual_seed(100 + k)
        for _ in range(STEPS):
            action = learner.act(env.observations)
            results = env.results(action)
            env.observations = env.draw()
            learner.record(*results)
        learner.update(env.observations)
        policy = learner.policy().state_dict()
        yield {name: x.clone() for name, x in policy.items()} | {
            "learning_rate": torch.tensor(learner.learning_rate),
            "deviation": torch.tensor(learner.deviation),
        }


def ours(env: RandomEnvironments, recipe: Any = RECIPE) -> ppo.PPO:
    return ppo.PPO(env.observations, ACTIONS, recipe, rl.Processes())


def theirs(env: RandomEnvironments) -> RslRlLearner:
    from warpdyn.rl.learners.rsl_rl import RslRlLearner

    return RslRlLearner(env, RECIPE, rl.Processes())  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Small networks are slow on several threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_ten_updates_equal_those_of_rsl_rl(monkeypatch: pytest.MonkeyPatch) -> None:
    """Policy, standard deviation and learning rate agree in float32 for equal random numbers."""
    monkeypatch.setattr("warpdyn.rl.learners.rsl_rl.RslEnv", RslRlEnvironments)
    rates = set()
    for mine, other in zip(train(ours, 10), train(theirs, 10), strict=True):
        rates.add(float(mine["learning_rate"]))
        for name, x in mine.items():
            assert torch.allclose(x, other[name].to(x.dtype), rtol=1e-5, atol=1e-5), name
    assert len(rates) > 2


def test_advantages_are_discounted_sums_of_temporal_differences() -> None:
    """The sum of (discount trace)^k times the errors up to the episode's end, by definition."""
    random = torch.Generator().manual_seed(2)
    steps, envs, discount, trace = 6, 4, 0.9, 0.8
    rewards, values = torch.randn(2, steps, envs, generator=random, dtype=torch.float64)
    last = torch.randn(envs, generator=random, dtype=torch.float64)
    ended = (torch.rand(steps, envs, generator=random) < 0.3).double()
    assert 0 < ended.sum() < ended.numel()
    found = ppo.generalised_advantages(rewards, values, last, ended, discount, trace)
    after = torch.cat([values[1:], last[None]])
    errors = rewards + discount * (1.0 - ended) * after - values
    for i in range(envs):
        for k in range(steps):
            wanted, weight = 0.0, 1.0
            for j in range(k, steps):
                wanted += weight * float(errors[j, i])
                if ended[j, i]:
                    break
                weight *= discount * trace
            assert abs(float(found[k, i]) - wanted) < 1e-12


def test_densities_equal_those_of_torch() -> None:
    random = torch.Generator().manual_seed(3)
    x, mean, other = torch.randn(3, 5, 2, generator=random, dtype=torch.float64)
    std, other_std = torch.rand(2, 2, generator=random, dtype=torch.float64) + 0.5
    normal = torch.distributions.Normal
    wanted = normal(mean, std).log_prob(x).sum(1)
    assert torch.allclose(ppo.log_probability(x, mean, std), wanted)
    wanted = torch.distributions.kl_divergence(normal(mean, std), normal(other, other_std)).sum(1)
    assert torch.allclose(ppo.relative_entropy(mean, std, other, other_std), wanted)


def test_rounding_does_not_change_the_learning_rate() -> None:
    """Means of the same networks differ by rounding from one batch size to another."""
    mean, std = torch.full((1, 3), 2.0), torch.ones(3)
    assert float(ppo.relative_entropy(mean, std, mean * (1.0 + 1e-7), std)) == 0.0


def test_a_policy_in_bfloat16_learns_nearly_the_same() -> None:
    """Hidden layers in bfloat16 have 8 bits. The weights stay float32 and change in the same
    direction."""
    recipe = replace(RECIPE, precision="bfloat16", kl=1e-9)  # the smallest learning rate
    low = list(train(lambda env: ours(env, recipe), 3))[-1]
    high = list(train(lambda env: ours(env, replace(recipe, precision="float32")), 3))[-1]
    torch.manual_seed(1)
    first = ours(RandomEnvironments()).policy().state_dict()
    for name in (name for name in first if "weight" in name):
        changes = [(x[name] - first[name]).flatten() for x in (low, high)]
        assert low[name].dtype == torch.float32 and not torch.equal(*changes)
        assert float(torch.cosine_similarity(*changes, dim=0)) > 0.95, name


def test_a_restored_learner_continues_with_the_same_bits() -> None:
    def iterate(learner: ppo.PPO) -> dict[str, torch.Tensor]:
        torch.manual_seed(7)
        env = RandomEnvironments()
        for _ in range(STEPS):
            learner.record(*env.results(learner.act(env.observations)))
        learner.update(env.observations)
        return learner.policy().state_dict()

    first, other = ours(RandomEnvironments()), ours(RandomEnvironments())
    iterate(first)
    other.restore(copy.deepcopy(first.state()))
    for _ in range(2):
        wanted, found = iterate(first), iterate(other)
        assert all(torch.equal(x, found[name]) for name, x in wanted.items())
    assert first.learning_rate == other.learning_rate and first.deviation == other.deviation


def test_a_learning_rate_in_a_tensor_adapts_like_a_number() -> None:
    """On a GPU the optimiser reads the rate from a tensor, which keeps its place in memory, because
    a recorded graph reads it there. Here the tensor is on the CPU."""

    def restored_learner(on_gpu: bool) -> ppo.PPO:
        torch.manual_seed(1)
        learner = ours(RandomEnvironments())
        learner._on_gpu = on_gpu
        learner.restore(copy.deepcopy(learner.state()))
        return learner

    plain, learner = restored_learner(False), restored_learner(True)
    rate = learner._rate
    assert isinstance(rate, torch.Tensor) and isinstance(plain._rate, float)
    assert all(group["capturable"] for group in learner.optimizer.param_groups)
    rates = {learner.learning_rate}
    for k in range(6):
        for each in (plain, learner):
            torch.manual_seed(50 + k)
            env = RandomEnvironments()
            for _ in range(STEPS):
                each.record(*env.results(each.act(env.observations)))
            each.update(env.observations)
        assert all(group["lr"] is rate for group in learner.optimizer.param_groups)
        assert learner.learning_rate == pytest.approx(plain.learning_rate, rel=1e-6)
        for mine, other in zip(plain.parameters, learner.parameters, strict=True):
            torch.testing.assert_close(mine, other, rtol=1e-5, atol=1e-6)
        rates.add(learner.learning_rate)
    assert len(rates) > 2


def test_unknown_activations_and_precisions_are_refused() -> None:
    for changes, words in (
        ({"activation": "gelu"}, "activation must be 'elu', 'relu', 'silu', 'tanh', got 'gelu'"),
        ({"precision": "float16"}, 'precision must be "float32", "bfloat16" or "auto"'),
    ):
        with pytest.raises(rl.TaskError, match=words):
            ours(RandomEnvironments(), replace(RECIPE, **changes))


@pytest.mark.parametrize("rate", [1e-3, 1.2e-5, 9e-3])
@pytest.mark.parametrize("changed", [0.0, 0.004, 0.01, 0.021, 5.0, float("nan")])
def test_the_learning_rate_on_a_gpu_equals_that_on_the_cpu(rate: float, changed: float) -> None:
    expected = ppo.adapted_rate(rate, changed, wanted=0.01)
    found = ppo.adapted_on_gpu(torch.tensor(rate), torch.tensor(changed), wanted=0.01)
    assert float(found) == pytest.approx(expected, rel=1e-6)
