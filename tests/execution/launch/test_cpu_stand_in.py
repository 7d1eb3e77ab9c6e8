"""Calls on a GPU give right results before their kernel is compiled, and then use the kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import warp as wp
from robots import by_name
from states import error, states

import warpdyn as wd
from warpdyn.execution.compile import background
from warpdyn.execution.config import compile_policy
from warpdyn.execution.launch.launch import prepare

B = 7


@pytest.fixture
def gpu(device: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The GPU, while the CPU computes in place of kernels that are being compiled."""
    if device == "cpu":
        pytest.skip("kernels of the CPU are interpreted there; give --device cuda:0")
    monkeypatch.setattr(wd.config, "compile_device", "cpu")
    with compile_policy("background"):
        yield device
    background.wait_until_idle(120.0)


def new_model() -> wd.Model:
    """A panda that is in no cache."""
    return by_name("panda").model.with_armature(np.random.default_rng().uniform(0.1, 0.2))


CALLS: dict[str, Callable[..., Any]] = {
    "plain": lambda model, q, v, a: wd.rnea(model, q, v, a),
    "numbers": lambda model, q, v, a: wd.rnea(model, q, v, a, gravity=[0.0, 0.0, -2.5]),
    "params": lambda model, q, v, a: wd.aba(
        model, q, v, a, params=model.params(mass={"panda_hand": 0.7})
    ),
    "a result of several": lambda model, q, v, a: wd.derivatives(wd.rnea, model, q, v, a, wrt="q"),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_are_right_before_and_after_the_compile(name: str, gpu: str) -> None:
    model = new_model()
    s = states(model, B)
    arrays = [x.astype(np.float32) for x in (s.q, s.v, s.a)]
    placed = [wp.array(x, device=gpu) for x in arrays]
    wanted = np.asarray(CALLS[name](model, *arrays))
    for _ in range(4):
        found = CALLS[name](model, *placed)
        assert found.device == wp.get_device(gpu) and error(found.numpy(), wanted) <= 1e-5
    assert background.wait_until_idle(120.0)
    for _ in range(4):
        assert error(CALLS[name](model, *placed).numpy(), wanted) <= 1e-5


def test_calls_use_the_kernel_once_it_is_compiled(gpu: str) -> None:
    """The first call does not wait for it, and writes into `out`."""
    model = new_model()
    s = states(model, B)
    q, v, a, out = (wp.array(x, device=gpu) for x in (s.q, s.v, s.a, np.full_like(s.a, np.nan)))
    call = wd.rnea.describe(model, q, v, a)
    assert prepare(call).is_for_cpu
    wd.rnea(model, q, v, a, out=out)
    np.testing.assert_allclose(out.numpy(), wd.rnea(model, s.q, s.v, s.a), rtol=1e-10, atol=1e-10)
    assert background.wait_until_idle(120.0)
    assert not prepare(call).is_for_cpu and prepare(call).kernel.loaded


def test_bound_calls_wait_for_the_kernel(gpu: str) -> None:
    model = new_model()
    s = states(model, B)
    q, v, a = (wp.array(x, device=gpu) for x in (s.q, s.v, s.a))
    run = wd.bind(wd.rnea, model, q, v, a)
    assert prepare(wd.rnea.describe(model, q, v, a)).kernel.loaded
    np.testing.assert_allclose(run().numpy(), wd.rnea(model, s.q, s.v, s.a), rtol=1e-10, atol=1e-10)


def test_the_cpu_does_not_compute_for_the_gpu_by_default(device: str) -> None:
    """The first call on a GPU waits. The CPU has its own kernels."""
    model, q = by_name("cartpole").model, np.zeros((2, 2))
    placed = q if device == "cpu" else wp.array(q, device=device)
    assert wd.config.compile_device is None
    assert not prepare(wd.com.describe(model, placed)).is_for_cpu
