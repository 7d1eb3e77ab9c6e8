"""Reinforcement learning with warpdyn: a small policy in plain PyTorch learns to balance poles of different masses.

Proximal policy optimisation (Schulman et al., arXiv:1707.06347) with generalised advantage estimation. An episode ends
when the pole falls, when the cart leaves the track, or after four seconds. A mask selects the environments that then
get a new state and a new robot, with half to twice the mass of cart and pole.
"""

from __future__ import annotations

import argparse
import time

import warpdyn as wd

try:
    import torch
    from torch import nn
except ImportError:
    raise SystemExit("this example needs PyTorch: pip install torch") from None

STEP, LONGEST = 0.02, 200  # s, steps of an episode
PUSH = 10.0  # N, for an action of 1
DISCOUNT, SMOOTHING, CLIP, EPOCHS, HORIZON = 0.98, 0.95, 0.2, 4, 32


class CartPoles:
    """Environments side by side: states, episodes and robots."""

    def __init__(self, envs: int) -> None:
        self.model = wd.load_robot("cartpole")
        self.q, self.v = torch.zeros(2, envs, 2)
        self.age, self.episodes = torch.zeros(envs, dtype=torch.int64), 0
        self.params = self.robots()
        self.reset(torch.ones(envs, dtype=torch.bool))

    def robots(self) -> wd.Params:
        """A new robot for each environment."""
        self.episodes += 1
        mass = wd.random.scale(0.5, 2.0, "log-uniform")
        return wd.randomise(
            self.model,
            len(self.q),
            seed=self.episodes,
            mass={"cart": mass, "pole": mass},
            like=self.q,
        )

    def reset(self, done: torch.Tensor) -> None:
        """Give the environments in the mask new states and robots."""
        fresh = self.robots()
        for quantity in self.params.names:
            self.params[quantity][done] = fresh[quantity][done]
        self.q[done], self.v[done] = torch.empty(2, int(done.sum()), 2).uniform_(-0.2, 0.2)
        self.age[done] = 0

    def observe(self) -> torch.Tensor:
        return torch.cat([self.q, self.v], 1)

    def step(self, action: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Masks of the poles that fell and of the episodes that are over; the latter start again."""
        tau = torch.zeros_like(self.v)
        tau[:, 0] = PUSH * action.clamp(-1, 1)
        self.v += STEP * wd.aba(self.model, self.q, self.v, tau, params=self.params)
        wd.integrate(self.model, self.q, STEP * self.v, out=self.q)
        self.age += 1
        fell = (self.q[:, 0].abs() > 2.4) | (self.q[:, 1].abs() > 0.5)
        over = fell | (self.age >= LONGEST)
        if over.any():
            self.reset(over)
        return fell, over


class Policy(nn.Module):
    """Mean action and value for an observation."""

    def __init__(self) -> None:
        super().__init__()

        def net() -> nn.Sequential:
            return nn.Sequential(
                nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1)
            )

        self.actor, self.critic = net(), net()
        self.spread = nn.Parameter(torch.tensor(-0.5))

    def actions(self, seen: torch.Tensor) -> torch.distributions.Normal:
        return torch.distributions.Normal(self.actor(seen)[..., 0], self.spread.exp())

    def value(self, seen: torch.Tensor) -> torch.Tensor:
        return self.critic(seen)[..., 0]


@torch.no_grad()
def collect(poles: CartPoles, policy: Policy) -> dict[str, torch.Tensor]:
    """HORIZON steps of all environments: observations, actions and their advantages."""
    rows, values = [], [policy.value(poles.observe())]
    for _ in range(HORIZON):
        seen = poles.observe()
        chosen = policy.actions(seen)
        action = chosen.sample()
        centred = 1 - 0.2 * seen[:, 0].abs()
        fell, over = poles.step(action)
        values.append(policy.value(poles.observe()))
        rows.append((seen, action, chosen.log_prob(action), torch.where(fell, -1.0, centred), over))
    seen, action, likelihood, reward, over = (torch.stack(x) for x in zip(*rows, strict=True))
    going = 1.0 - over.float()  # after the end of an episode, the next value belongs to another one
    advantage, after = torch.zeros_like(reward), torch.zeros(len(poles.q))
    for k in reversed(range(HORIZON)):
        surprise = reward[k] + DISCOUNT * going[k] * values[k + 1] - values[k]
        advantage[k] = after = surprise + DISCOUNT * SMOOTHING * going[k] * after
    return {
        "seen": seen, "action": action, "likelihood": likelihood, "advantage": advantage,
        "goal": advantage + torch.stack(values[:-1]),
    }  # fmt: skip


def improve(policy: Policy, search: torch.optim.Optimizer, past: dict[str, torch.Tensor]) -> None:
    advantage = (past["advantage"] - past["advantage"].mean()) / past["advantage"].std()
    for _ in range(EPOCHS):
        ratio = (policy.actions(past["seen"]).log_prob(past["action"]) - past["likelihood"]).exp()
        gain = torch.minimum(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage).mean()
        error = ((policy.value(past["seen"]) - past["goal"]) ** 2).mean()
        search.zero_grad()
        (0.5 * error - gain).backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        search.step()


@torch.no_grad()
def balanced_fraction(policy: Policy, envs: int) -> float:
    """Fraction of new poles that the policy, without noise, balances for the whole episode."""
    poles, fallen = CartPoles(envs), torch.zeros(envs, dtype=torch.bool)
    for _ in range(LONGEST):
        fallen |= poles.step(policy.actions(poles.observe()).mean)[0]
    return 1 - fallen.float().mean().item()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--envs", type=int, default=256)
    parser.add_argument("--iterations", type=int, default=60)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)  # networks this small gain nothing from more
    poles, policy = CartPoles(arguments.envs), Policy()
    search = torch.optim.Adam(policy.parameters(), lr=5e-3)
    begin = time.perf_counter()
    print(
        f"before: {balanced_fraction(policy, arguments.envs):.0%} of {arguments.envs} poles stay up for 4 s"
    )
    for k in range(arguments.iterations):
        improve(policy, search, collect(poles, policy))
        if (k + 1) % 20 == 0 or k + 1 == arguments.iterations:
            print(f"iteration {k + 1}: {balanced_fraction(policy, arguments.envs):.0%}")
    steps = arguments.iterations * HORIZON * arguments.envs
    print(f"{steps:,} steps of {arguments.envs} robots in {time.perf_counter() - begin:.1f} s")


if __name__ == "__main__":
    main()
