"""Which module carries out a call: launches alone, or the differentiation of the array library."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from native_calls import plans_of

import warpdyn as wd
from warpdyn.arrays.torch_arrays import LIBRARY as TORCH
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


def moved_inputs(*arrays: Any, **options: Any) -> dict[str, Any]:
    """The inputs of a call of `rnea` by name, in one library."""
    call = dispatch.in_one_library(describe_call(wd.rnea, (ARM, *arrays), options))
    return dispatch.gather(call)[1]


def test_numbers_join_the_library_of_the_other_arrays() -> None:
    """Lists and NumPy arrays become Torch's, in the order of the call."""
    q, v, x = torch.zeros((2, 6)), Q, Q.tolist()
    gravity = np.array([0.0, 0.0, -1.0], np.float32)
    found = moved_inputs(q, v, x, gravity=gravity)
    assert [*found] == ["q", "v", "a", "gravity"] and found["q"] is q
    assert {type(each) for each in found.values()} == {torch.Tensor}
    assert {each.dtype for each in found.values()} == {torch.float32}
    assert np.array_equal(found["v"], Q) and np.array_equal(found["a"], Q)
    assert found["gravity"].tolist() == [0.0, 0.0, -1.0]


def test_arrays_of_one_library_stay_as_they_are() -> None:
    """Lists next to NumPy's arrays take their dtype."""
    call = describe_call(wd.rnea, (ARM, Q, Q, Q), {})
    assert dispatch.in_one_library(call) is call
    found = moved_inputs(Q, Q.tolist(), Q)
    assert found["q"] is Q and found["v"].dtype == np.float32 and np.array_equal(found["v"], Q)
    whole = np.zeros((2, 6), np.int64)
    tensors = torch.zeros((2, 6))
    assert moved_inputs(tensors, whole, tensors)["v"] is whole  # refused by the launch


@pytest.mark.parametrize("name", ["v", "gravity"])
def test_numbers_of_another_precision_are_refused(name: str) -> None:
    """Unless they serve all environments."""
    q, row = torch.zeros((2, 6)), np.array([0.0, 0.0, -1.0])
    v = Q.astype(np.float64) if name == "v" else Q
    gravity = np.stack([row, row]) if name == "gravity" else row
    said = rf"one dtype: {name} is NumPy's float64, next to Torch's float32; .*astype\(np.float32\)"
    with pytest.raises(TypeError, match=said):
        moved_inputs(q, v, Q, gravity=gravity)
    assert moved_inputs(q, Q, Q, gravity=row)["gravity"].dtype == torch.float32
    half = moved_inputs(q.half(), Q, Q)
    assert half["v"].dtype == torch.float16, "the launch refuses this dtype"


def test_on_a_gpu_numbers_for_all_environments_are_left_to_the_launch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It passes them by value. Rows of them are moved there."""
    q, row = torch.zeros((2, 6)), np.array([0.0, 0.0, -1.0], np.float32)
    monkeypatch.setattr(type(TORCH), "on_cuda", lambda *_: True)
    assert moved_inputs(q, q, q, gravity=row)["gravity"] is row
    found = moved_inputs(q, Q, q, gravity=np.stack([row, row]))
    assert isinstance(found["gravity"], torch.Tensor) and isinstance(found["v"], torch.Tensor)


def test_a_plan_of_gradients_has_the_call() -> None:
    q = torch.zeros((2, 6), requires_grad=True)
    call = describe_call(wd.gravity_torques, (ARM, q), {})
    planned = dispatch.plan_gradients(TORCH, call, dispatch.compute, {"q": q})
    assert planned.args == (call, dispatch.compute, {"q": q})


def test_arrays_that_are_not_written_in_place_need_a_plan_of_their_library(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without one each call is checked."""
    planned = dispatch.Differentiation(print, lambda known: ("plan", known))
    edges = {"plans": planned, "checks": dispatch.Differentiation(print)}
    monkeypatch.setattr(dispatch, "differentiation", edges.__getitem__)
    for in_place, edge, plan in (
        (True, "plans", lambda known: known),
        (False, "plans", lambda known: ("plan", known)),
        (False, "checks", lambda known: None),
        (False, None, lambda known: None),
    ):
        known: Any = SimpleNamespace(library=SimpleNamespace(in_place=in_place, edge=edge))
        assert dispatch.plan_of(known) == plan(known)
