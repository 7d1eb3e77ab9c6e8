"""The policy's kernel that is measured computes what Torch computes."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("warpdyn.rl")
import torch

from benchmarks.rl.launch_policy import (
    KernelPolicy,
    check_actions,
    measure,
    policy_forms,
    policy_network,
)
from warpdyn import rl


@torch.no_grad()
def test_the_kernel_equals_torchs_network_in_each_precision() -> None:
    """Also with odd numbers of inputs and outputs. A difference is found."""
    torch.manual_seed(0)
    task = rl.make("quadruped_velocity")
    task.recipe = replace(task.recipe, layers=(50, 33))
    observations = 3.0 * torch.randn(32, 49) + torch.arange(49)
    forms = policy_forms(policy_network(task, observations), 32)
    assert {"kernel, float32", "Torch, float32"} <= set(forms)
    actions = {name: form(observations).clone() for name, form in forms.items()}
    assert actions["kernel, float32"].abs().min() > 0
    check_actions(actions)
    actions["kernel, float32"][17, 11] += 0.01
    with pytest.raises(ArithmeticError, match="kernel in float32 differs"):
        check_actions(actions)


@torch.no_grad()
def test_the_kernel_computes_all_environments_it_is_called_with() -> None:
    task = rl.make("cartpole_swing_up")
    observations = torch.randn(48, 5)
    kernel = KernelPolicy(policy_network(task, observations), 48, bfloat16=False)
    kernel.actions.fill_(torch.nan)
    assert bool(torch.isfinite(kernel(observations)).all())


def test_times_are_measured_for_the_environments_and_each_form() -> None:
    times = measure(rl.make("cartpole_swing_up"), 32, rounds=1)
    assert {"environments", "kernel, float32", "Torch, float32"} <= set(times)
    assert min(times.values()) > 0
