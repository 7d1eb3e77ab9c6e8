"""Which module carries out a call: launches alone, or the differentiation of the array library."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from native_calls import plans_of

import warpdyn as wd
from warpdyn.execution import dispatch
from warpdyn.execution.autodiff import torch_gradients
from warpdyn.execution.batched import describe_call

ARM = wd.load_robot("ur5e")
Q = np.random.default_rng(0).uniform(-1.0, 1.0, (2, 6)).astype(np.float32)


def test_a_library_that_differentiates_runs_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Torch has such a module, NumPy has none. The numbers are the same."""
    ran = []
    noted = dispatch.Differentiation(
        lambda call, _: ran.append(call) or torch_gradients.run(call, dispatch.launch_call)
    )
    monkeypatch.setattr(dispatch, "differentiation", {"torch": noted}.__getitem__)
    plain = dispatch.carry_out(describe_call(wd.crba, (ARM, Q), {}))
    assert not ran
    of_torch = dispatch.carry_out(describe_call(wd.crba, (ARM, torch.from_numpy(Q)), {}))
    assert len(ran) == 1 and np.array_equal(of_torch, plain)


def test_plans_of_numpy_are_launches_and_of_jax_are_programs() -> None:
    """A NumPy call is its own plan; a JAX one is a program of XLA's."""
    jax = pytest.importorskip("jax")
    function = wd.gravity_torques
    plans_of(function).clear()
    function._calls.clear()
    for arrays in (Q, jax.numpy.asarray(Q)):
        for _ in range(3):
            function(ARM, arrays)
    kinds = [type(plan).__name__ for plan in plans_of(function).values()]
    assert kinds == ["LaunchPlan", "KnownByXla"]
