"""The quadruped's task in Torch, which the benchmark times, agrees with the task of the launch."""

from __future__ import annotations

import pytest

rl = pytest.importorskip("warpdyn.rl")
torch = pytest.importorskip("torch")

ENVS = 64


def test_the_torch_task_agrees_with_the_launch() -> None:
    """Observations, rewards and ends agree to float32's digits for the same states and actions."""
    from benchmarks.rl.torch_quadruped import TorchQuadruped

    task = rl.QuadrupedVelocity()
    env, other = rl.VecEnv(task, ENVS), TorchQuadruped(task, ENVS)
    env.reset()
    other.reset()
    draw, fell = torch.Generator().manual_seed(0), 0
    for k in range(12):
        if k == 6:  # some robots lie on their side
            env.carried["q"][::8, 3:7] = torch.tensor([1.0, 0.0, 0.0, 0.0])
        carried = env.carried
        for name in ("q", "v", "impulses"):
            getattr(other.sim, name).copy_(carried[name])
        other.friction.copy_(carried["friction"][:, None].expand_as(other.friction))
        for name in ("command", "wanted", "phase", "age", "last_action", "sums"):
            getattr(other, name).copy_(carried[name])
        action = 2.0 * torch.rand((ENVS, 12), generator=draw) - 1.0
        _, reward, terminated, truncated, info = env.step(action)
        _, rewards, failed, late, told = other.step(action)
        assert torch.allclose(told["final_obs"], info["final_obs"], atol=1e-4, rtol=1e-4)
        assert torch.allclose(rewards, reward, atol=1e-5, rtol=1e-4)
        assert torch.equal(failed, terminated) and torch.equal(late, truncated)
        fell += int(failed.sum())
    assert fell >= ENVS // 8
