"""Repeated calls by tensors that require gradients: results and gradients equal those of checked
calls."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any
from weakref import ref

import pytest
from at_once import at_once
from native_calls import nothing_known_of, plans_of
from torch_calls import ARM, CASES, a_model_stays_as_long_as_its_graphs, asking, gradients, same

import warpdyn as wd
from warpdyn.execution.batched import Function

torch = pytest.importorskip("torch")

from warpdyn.execution.autodiff import torch_remembered as chosen  # noqa: E402
from warpdyn.execution.autodiff.torch_remembered import MOST, DifferentiatedCall  # noqa: E402


def plans(function: Any) -> dict[Any, Any]:
    assert isinstance(function, Function)
    return plans_of(function)


def differentiated_plans(function: Any) -> list[DifferentiatedCall]:
    return [plan for plan in plans(function).values() if isinstance(plan, DifferentiatedCall)]


def repeat_call(call: Callable[..., Any], function: Any = wd.rnea) -> DifferentiatedCall:
    """The plan of a call that was repeated often enough, with its backward pass."""
    for seed in range(4):
        x = asking(3, seed)
        gradients(call(*x), x)
    (plan,) = [x for x in differentiated_plans(function) if x._adjoints]
    return plan


def rnea(q: torch.Tensor, v: torch.Tensor, a: torch.Tensor) -> torch.Tensor:
    return wd.rnea(ARM, q, v, a)


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    with nothing_known_of(*FUNCTIONS):
        yield


FUNCTIONS = (wd.rnea, wd.aba, wd.pose_and_jacobian, wd.rnea_derivatives)


@pytest.mark.parametrize("case", CASES)
def test_cached_calls_equal_checked_calls_bit_for_bit(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third call and its backward pass come from the cache."""
    call, first, second = CASES[case], asking(6, 1), asking(6, 2)
    checked: list[Any] = []
    wanted_results = call(*second)
    wanted = gradients(wanted_results, second)
    for _ in range(3):
        gradients(call(*first), first)
    (plan,) = [x for function in FUNCTIONS for x in differentiated_plans(function)]
    assert len(plan._adjoints) == 1
    monkeypatch.setattr(plan, "_computed", checked.append)
    results = call(*second)
    found = gradients(results, second)
    assert not checked
    assert same(found, wanted)
    several = isinstance(results, tuple)
    assert same(
        list(results if several else (results,)),
        list(wanted_results if several else (wanted_results,)),
    )


def test_each_set_of_required_gradients_has_its_own_plan() -> None:
    """Gradients are required by one of several tensors, and by the only tensor that requires
    one."""
    repeat_call(rnea)
    x = asking(3, 7)
    wanted = gradients(rnea(*x), x)
    for k in range(3):
        assert same(gradients(rnea(*x), [x[k]]), [wanted[k]])
        alone = [y if j == k else y.detach() for j, y in enumerate(x)]
        for _ in range(4):
            (found,) = gradients(rnea(*alone), [alone[k]])
            assert torch.allclose(found, wanted[k], rtol=1e-12, atol=1e-12)
    assert len(differentiated_plans(wd.rnea)) == 4


def test_cotangents_may_have_any_strides_and_few_plans_are_kept() -> None:
    """Cotangents are one number for all, columns, and every other entry. Plans of older kinds are
    removed."""
    plan, x = repeat_call(rnea), asking(3, 8)
    dense = torch.randn(3, 2, dtype=torch.float64)
    wanted = torch.autograd.grad(rnea(*x), x, dense)
    for given in (dense.T.contiguous().T, torch.stack([dense, dense], 2)[..., 0]):
        for _ in range(2):
            assert same(torch.autograd.grad(rnea(*x), x, given), wanted)
    ones = torch.autograd.grad(rnea(*x), x, torch.ones_like(dense))
    for _ in range(2):
        assert same(torch.autograd.grad(rnea(*x).sum(), x), ones)
    assert len(plan._adjoints) == 4
    for step in range(3, 2 * MOST):
        torch.autograd.grad(rnea(*x), x, torch.zeros(3, 2, step, dtype=torch.float64)[..., 0])
    assert 0 < len(plan._adjoints) <= MOST


def test_gradients_accumulate_in_leaves() -> None:
    """backward adds to .grad of network parameters and of tensors, twice into the same one."""
    repeat_call(rnea)
    q, v, a = asking(3, 9)
    weight = torch.nn.Parameter(q.detach().clone())
    wanted = torch.autograd.grad(rnea(q, v, a).sum(), (q, v))
    for times in range(1, 5):
        rnea(weight, v, a).sum().backward()
        assert torch.allclose(weight.grad, times * wanted[0], rtol=1e-14)
        assert torch.allclose(v.grad, times * wanted[1], rtol=1e-14)


@pytest.mark.parametrize("function", [wd.rnea, wd.aba], ids=["rnea", "aba"])
def test_second_derivatives_equal_differences(function: Any) -> None:
    """They are computed by double backward, with the first derivative from the cache."""

    def call(*x: torch.Tensor) -> torch.Tensor:
        return function(ARM, *x)

    plan = repeat_call(call, function)
    assert torch.autograd.gradgradcheck(call, asking(3, 10), eps=1e-6, atol=1e-6, rtol=1e-6)
    assert plan in differentiated_plans(function)


def test_cached_backward_passes_can_be_transformed() -> None:
    """Many cotangents at once, and forward mode over a backward pass."""
    repeat_call(rnea)
    q, v, a = asking(3, 11)
    tau = rnea(q, v, a)
    assert "RepeatedCallNode" in type(tau.grad_fn).__name__
    whole = torch.eye(6, dtype=torch.float64).reshape(6, 3, 2)
    rows = torch.func.vmap(lambda w: torch.autograd.grad(tau, q, w, retain_graph=True)[0])(whole)
    by_q = wd.derivatives(wd.rnea, ARM, *(x.detach() for x in (q, v, a)))
    for k in range(3):
        assert torch.allclose(rows.reshape(3, 2, 3, 2)[k, :, k], by_q[k], rtol=1e-12)
    forward = torch.autograd.forward_ad
    w, u = torch.randn(2, 3, 2, dtype=torch.float64)
    with forward.dual_level():
        (bar,) = torch.autograd.grad(tau, q, forward.make_dual(w, u), retain_graph=True)
        primal, tangent = forward.unpack_dual(bar)
    assert torch.allclose(primal, torch.autograd.grad(tau, q, w, retain_graph=True)[0])
    assert torch.allclose(tangent, torch.autograd.grad(tau, q, u)[0])


def test_transforms_and_compiled_functions_do_not_use_cached_calls() -> None:
    """torch.func and torch.compile take their own paths before and after a cached call."""
    repeat_call(rnea)
    x = asking(3, 12)
    wanted = gradients(rnea(*x), x)
    weights = torch.linspace(-1, 2, 6, dtype=torch.float64).reshape(3, 2)
    by_func = torch.func.grad(lambda *x: (rnea(*x) * weights).sum(), (0, 1, 2))(*x)
    torch._dynamo.reset()
    compiled = torch.compile(rnea, fullgraph=True, backend="aot_eager")
    for found in (by_func, gradients(compiled(*x), x), gradients(rnea(*x), x)):
        assert all(torch.allclose(a, b, rtol=1e-13) for a, b in zip(found, wanted, strict=True))


def test_cached_calls_accept_dual_numbers() -> None:
    """A dual number in a call that is cached without gradients, and in one that is cached with
    them."""
    repeat_call(rnea)
    x = asking(3, 13)
    q, v, a = (y.detach() for y in x)
    for _ in range(3):
        rnea(q, v, a)
    wanted = wd.jvp(wd.rnea, ARM, q, v, a, tangents={"q": v})
    forward = torch.autograd.forward_ad
    for others in ((v, a), (x[1], x[2])):
        with forward.dual_level():
            tangent = forward.unpack_dual(rnea(forward.make_dual(q, v), *others)).tangent
        assert torch.equal(tangent, wanted)


def test_cached_calls_report_changed_and_freed_tensors() -> None:
    """A tensor that changed before the backward pass, and a graph that was used, raise Torch's
    errors."""
    repeat_call(rnea)
    q, v, a = asking(3, 14)
    moved = q * 1.0
    tau = rnea(moved, v, a)
    moved.add_(1.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        tau.sum().backward()
    tau = rnea(q, v, a).sum()
    tau.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        tau.backward()


def test_graphs_can_be_reused_hooked_and_checkpointed() -> None:
    """Torch does the same with any operation."""
    repeat_call(rnea)
    x, seen = asking(3, 19), []
    tau = rnea(*x)
    tau.register_hook(seen.append)
    twice = [torch.autograd.grad(tau.sum(), x, retain_graph=True) for _ in range(2)]
    assert same(list(twice[0]), list(twice[1])) and len(seen) == 2
    checkpoint = pytest.importorskip("torch.utils.checkpoint").checkpoint
    again = checkpoint(rnea, *x, use_reentrant=False)
    assert same(list(torch.autograd.grad(again.sum(), x)), list(twice[0]))


def test_a_leftover_wrapper_of_a_transform_has_the_numbers_of_its_tensor() -> None:
    """The wrapper has no memory of its own."""
    repeat_call(rnea)
    x, left = asking(3, 15), []
    torch.func.grad(lambda q: (left.append(q) or q).sum())(x[0])
    wanted = gradients(rnea(*x), x)
    q, v, a = x
    found = torch.autograd.grad((rnea(left[0], v, a) * 1.0).sum(), (v, a))
    again = torch.autograd.grad(rnea(q, v, a).sum(), (v, a))
    assert same(list(found), list(again)) and wanted[0].abs().sum() > 0


def test_no_grad_calls_have_no_graph_after_cached_gradients() -> None:
    """The same holds in inference mode."""
    repeat_call(rnea)
    x = asking(3, 16)
    wanted = rnea(*x)
    assert wanted.requires_grad
    for mode in (torch.no_grad, torch.inference_mode):
        for _ in range(3):
            with mode():
                result = rnea(*x)
            assert not result.requires_grad and torch.equal(result, wanted)
    assert rnea(*x).requires_grad
    out = torch.empty_like(wanted)
    for _ in range(3):
        with pytest.raises(TypeError, match="out= cannot take part in a gradient"):
            wd.rnea(ARM, *x, out=out.detach())


def test_plans_are_removed_with_the_model_and_its_graphs() -> None:
    a_model_stays_as_long_as_its_graphs(wd.aba)
    assert not plans(wd.aba)


def test_cached_calls_keep_no_tensor_alive() -> None:
    q, v, a = asking(3, 18)
    x = [q, v, a, torch.ones(3, 3, dtype=torch.float64), torch.ones(3, 6, dtype=torch.float64)]
    del q, v, a
    for _ in range(4):
        gradients(wd.rnea(ARM, *x[:3], gravity=x[3], f_ext={"tip": x[4]}), x[:3])
    gone = [ref(y) for y in x]
    x.clear()
    gc.collect()
    assert differentiated_plans(wd.rnea) and all(y() is None for y in gone)


def test_many_threads_share_a_plan() -> None:
    """Each thread gets the gradients of its own tensors."""
    repeat_call(rnea)
    given = [asking(3, 20 + k) for k in range(6)]
    wanted = [gradients(rnea(*x), x) for x in given]
    wrong: list[int] = []

    def work(k: int) -> None:
        wrong.extend(
            k for _ in range(50) if not same(gradients(rnea(*given[k]), given[k]), wanted[k])
        )

    at_once(work, 6)
    assert not wrong


def test_float32_has_its_own_plans_and_searches_have_no_derivatives() -> None:
    """Functions without derivatives are refused by name at each call."""
    q, v, a = (x.detach().float().requires_grad_() for x in asking(3, 30))
    exact = [x.detach().double().requires_grad_() for x in (q, v, a)]
    for _ in range(4):
        found = gradients(rnea(q, v, a), [q, v, a])
    wanted = gradients(rnea(*exact), exact)
    for x, y in zip(found, wanted, strict=True):
        assert x.dtype == torch.float32
        assert (x.double() - y).abs().max() <= 1e-5 * y.abs().max()
    targets = wd.fk(ARM, q.detach(), frame="tip").requires_grad_()
    for _ in range(4):
        result = wd.inverse_kinematics(ARM, targets, frame="tip")
        with pytest.raises(TypeError, match="inverse_kinematics has no derivatives"):
            result.q.sum().backward()


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.MOST == 16
