"""Calls by tensors in one C function, forward and backward, give the results of checked calls. They
leave tensors of another kind to the checked path."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from at_once import at_once
from native_calls import in_c, natively, node_in_c, nothing_known_of, plans_of
from torch_calls import ARM, FUNCTIONS, asking, draw_tensors, gradients, plan_of, same

import warpdyn as wd
from warpdyn.execution.native import c_functions, native_call
from warpdyn.execution.repeat.planned_call import MISS, LaunchPlan

torch = pytest.importorskip("torch")

from warpdyn.execution.autodiff.torch_remembered import DifferentiatedCall  # noqa: E402
from warpdyn.execution.native import torch_native  # noqa: E402
from warpdyn.execution.native import torch_native as chosen  # noqa: E402


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    with nothing_known_of(*FUNCTIONS):
        yield


Call = Callable[[Any, Any, Any, Any], Any]
CASES: dict[str, tuple[Any, Call]] = {
    "rows": (wd.rnea, lambda f, q, v, a: f(ARM, q, v, a)),
    "by name": (wd.rnea, lambda f, q, v, a: f(ARM, a=a, q=q, v=v)),
    "columns": (wd.rnea, lambda f, *x: f(ARM, *(y.T.contiguous().T for y in x))),
    "one robot": (wd.rnea, lambda f, *x: f(ARM, *(y[0] for y in x))),
    "trajectories": (wd.rnea, lambda f, *x: f(ARM, *(y.reshape(2, -1, 2) for y in x))),
    "one tensor twice": (wd.rnea, lambda f, q, v, a: f(ARM, q, v, v)),
    "some of them": (wd.rnea, lambda f, q, v, a: f(ARM, q.detach(), v, a.detach())),
    "nothing for one": (wd.rnea, lambda f, q, v, a: f(ARM, q, v, None)),
    "its gravity each": (wd.rnea, lambda f, q, v, a: f(ARM, q, v, a, gravity=torch.cat([q, v], 1)[:, :3])),
    "solved": (wd.aba, lambda f, q, v, a: f(ARM, q, v, a)),
    "a frame": (wd.fk, lambda f, q, v, a: f(ARM, q, frame="tip")),
    "several results": (wd.rnea_derivatives, lambda f, q, v, a: f(ARM, q, v, a)),
    "two results": (wd.pose_and_jacobian, lambda f, q, v, a: f(ARM, q, frame="tip")),
}  # fmt: skip

DOUBLES = [("rows", torch.float64), ("several results", torch.float64)]
"""Cases in float64. The C function compares the type of a tensor and never reads it."""

each_case = pytest.mark.parametrize(
    ("case", "kind"), [*((case, torch.float32) for case in CASES), *DOUBLES], ids=str
)


@each_case
def test_the_third_call_uses_c_with_its_own_tensors(case: str, kind: Any) -> None:
    """The bits are those of checked calls."""
    function, call = CASES[case]
    first, second = draw_tensors(4, 1, kind), draw_tensors(4, 2, kind)
    wanted = call(function, *second)
    for _ in range(2):
        call(function, *first)
    found = call(lambda *x, **y: natively(function, *x, **y), *second)
    assert found is not MISS and type(found) is type(wanted) and same(found, wanted)
    another = torch.float64 if kind is torch.float32 else torch.float32
    assert call(lambda *x, **y: natively(function, *x, **y), *draw_tensors(4, 2, another)) is MISS


@each_case
def test_gradients_in_c_equal_checked_gradients(
    case: str, kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No Python code of warpdyn runs in either pass."""
    function, call = CASES[case]
    first, second = asking(4, 1, kind), asking(4, 2, kind)
    results = call(function, *second)
    wanted = gradients(results, second)
    for _ in range(3):
        gradients(call(function, *first), first)
    plan = plan_of(function)
    assert node_in_c(plan).number == 1
    monkeypatch.delattr(DifferentiatedCall, "adjoint")
    found = call(lambda *x, **y: natively(function, *x, **y), *second)
    assert type(found) is type(results) and same(found, results)
    assert same(tuple(gradients(found, second)), tuple(wanted))


def test_the_gradient_by_one_row_for_all_is_a_sum() -> None:
    """The cotangent is summed over robots: forward in C, backward in Python."""
    (q, v, a), wanted = asking(3, 3), None
    for _ in range(4):
        found = gradients(wd.rnea(ARM, q, v[0], a), [q, v, a])
        wanted = wanted or found
        assert same(tuple(found), tuple(wanted))
    assert natively(wd.rnea, ARM, q, v[0], a) is not MISS
    node = node_in_c(plan_of(wd.rnea))
    assert node is not None and node.number == 0


def test_tensors_of_another_kind_take_the_checked_path() -> None:
    x = draw_tensors(4, 3)
    q, v, a = x
    for _ in range(2):
        wd.rnea(ARM, *x)
    assert natively(wd.rnea, ARM, *x) is not MISS

    class Ours(torch.Tensor):
        pass

    wrapped: list[Any] = []
    torch.func.grad(lambda y: (wrapped.append(y) or y).sum())(q)
    others = [
        q.float(), q[:3], q.T.contiguous().T, q[None], q.numpy(), q.clone().requires_grad_(), None,
        torch.sparse_coo_tensor(size=(4, 2), dtype=torch.float64), q.as_subclass(Ours), wrapped[0],
        torch.empty(4, 2, device="meta", dtype=torch.float64), 1.0, torch.zeros(4, 2, dtype=torch.int64),
    ]  # fmt: skip
    for other in others:
        assert natively(wd.rnea, ARM, other, v, a) is MISS
        assert natively(wd.rnea, ARM, q, v, other) is MISS
    odd = torch.zeros(65, dtype=torch.int8)[1:].view(torch.int8).numpy()
    assert odd.ctypes.data % 8
    unaligned = torch.frombuffer(odd.data, dtype=torch.float64)[:8].reshape(4, 2)
    assert natively(wd.rnea, ARM, unaligned, v, a) is MISS
    assert natively(wd.rnea, wd.load_robot("double_pendulum"), *x) is MISS
    assert natively(wd.rnea, ARM, *x, out=torch.empty_like(q)) is MISS
    with torch.no_grad():
        assert natively(wd.rnea, ARM, q.clone().requires_grad_(), v, a) is not MISS
    assert natively(wd.rnea, ARM, torch.nn.Parameter(q, requires_grad=False), v, a) is not MISS


def test_modes_and_transforms_take_the_checked_path() -> None:
    """A dispatch mode, a transform and forward mode, with tensors and gradients that have plans in
    C."""
    plain, x = draw_tensors(4, 3), asking(4, 4)
    for _ in range(3):
        wd.rnea(ARM, *plain)
        gradients(wd.rnea(ARM, *x), x)
    forward_mode = torch.autograd.forward_ad
    seen = []

    def native_hits() -> list[bool]:
        return [natively(wd.rnea, ARM, *y) is not MISS for y in (plain, x)]

    assert native_hits() == [True, True]
    with torch.utils._python_dispatch.TorchDispatchMode():
        seen += native_hits()
    with forward_mode.dual_level():
        seen += native_hits()
    torch.func.vmap(lambda y: (seen.extend(native_hits()), y)[1])(torch.zeros(2))
    assert not any(seen) and len(seen) == 6
    assert native_hits() == [True, True]


def test_a_differentiated_backward_pass_does_not_use_c() -> None:
    """Second derivatives, many cotangents at once, and tangents of a backward pass."""
    x = asking(3, 5)
    for _ in range(4):
        gradients(wd.rnea(ARM, *x), x)
    tau = natively(wd.rnea, ARM, *x)
    assert "Natively" in type(tau.grad_fn).__name__
    assert torch.autograd.gradgradcheck(
        lambda *y: wd.rnea(ARM, *y), asking(3, 10), eps=1e-6, atol=1e-6, rtol=1e-6
    )
    by_q = wd.derivatives(wd.rnea, ARM, *(y.detach() for y in x))
    whole = torch.eye(6, dtype=torch.float64).reshape(6, 3, 2)
    rows = torch.func.vmap(lambda w: torch.autograd.grad(tau, x[0], w, retain_graph=True)[0])(whole)
    for k in range(3):
        assert torch.allclose(rows.reshape(3, 2, 3, 2)[k, :, k], by_q[k], rtol=1e-12)


def test_cotangents_may_have_any_strides_and_few_plans_are_kept() -> None:
    x = asking(3, 8)
    dense = torch.randn(3, 2, dtype=torch.float64)
    for _ in range(3):
        wanted = torch.autograd.grad(wd.rnea(ARM, *x), x, dense)
    ones = torch.autograd.grad(wd.rnea(ARM, *x), x, torch.ones_like(dense))
    for _ in range(3):
        assert same(torch.autograd.grad(wd.rnea(ARM, *x).sum(), x), ones)
    given = [dense.T.contiguous().T, *(dense.repeat(1, k)[:, :2] for k in range(2, 14))]
    for cotangent in given * 2:
        assert same(torch.autograd.grad(wd.rnea(ARM, *x), x, cotangent), wanted)
    node = node_in_c(plan_of(wd.rnea))
    assert node is not None and node.number == torch_native.MOST


@pytest.mark.parametrize("native", [True, False])
def test_hooks_may_return_saved_tensors_with_other_strides(
    native: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hooks on what Torch keeps give back tensors of other strides."""
    if not native:
        monkeypatch.setattr(native_call, "methods", lambda: None)
        torch_native.apply.cache_clear()
    call = CASES["columns"][1]
    x = asking(3, 6)
    for _ in range(4):
        wanted = gradients(call(wd.rnea, *x), x)

    def dense(y: Any) -> Any:
        return y.detach().clone(memory_format=torch.contiguous_format)

    hooks = torch.autograd.graph.saved_tensors_hooks(dense, lambda y: y)
    for _ in range(2):
        with hooks:
            results = call(wd.rnea, *x)
        assert all(map(torch.allclose, gradients(results, x), wanted))
        assert same(tuple(gradients(call(wd.rnea, *x), x)), tuple(wanted))
    torch_native.apply.cache_clear()


@pytest.mark.parametrize("long", [0.0, 1.0])
def test_many_threads_share_a_plan(long: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each thread gets the gradients of its own tensors, with and without the interpreter's
    lock."""
    monkeypatch.setattr(c_functions, "LONG", long)
    given = [asking(3, 20 + k) for k in range(6)]
    wanted = [gradients(wd.rnea(ARM, *x), x) for x in given]
    assert natively(wd.rnea, ARM, *given[0]) is not MISS
    wrong: list[int] = []

    def work(k: int) -> None:
        for _ in range(50):
            found = gradients(wd.rnea(ARM, *given[k]), given[k])
            if not same(tuple(found), tuple(wanted[k])):
                wrong.append(k)

    at_once(work, 6)
    assert not wrong


def test_hooks_run_and_gradients_accumulate_in_leaves() -> None:
    """The hooks are on tensors and on the node."""
    q, v, a = asking(3, 19)
    for times in range(1, 6):
        seen: list[Any] = []
        tau = wd.rnea(ARM, q, v, a)
        tau.register_hook(seen.append)
        tau.grad_fn.register_hook(lambda bars, _, seen=seen: seen.append(bars))
        tau.sum().backward()
        if times == 1:
            wanted = q.grad.clone()
        assert torch.allclose(q.grad, times * wanted, rtol=1e-14)
        assert len(seen) == 2 and torch.equal(seen[0], torch.ones_like(tau))


def test_compiled_autograd_gives_the_same_gradients() -> None:
    """It reads the backward pass in Python."""
    x = asking(3, 9)
    for _ in range(4):
        wanted = gradients(wd.rnea(ARM, *x), x)
    tau = natively(wd.rnea, ARM, *x)
    torch._dynamo.reset()
    with torch._dynamo.compiled_autograd._enable(torch.compile(backend="eager")):
        found = gradients(tau, x)
    assert same(tuple(found), tuple(wanted))


def test_without_the_c_function_calls_use_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """The function is missing if Torch has another memory layout, or no such interface."""
    monkeypatch.setattr(torch_native, "torch_words", lambda: None)
    torch_native.apply.cache_clear()
    x, plain = asking(3, 9), draw_tensors(3, 9)
    passes = [gradients(wd.rnea(ARM, *x), x) for _ in range(4)]
    results = [wd.rnea(ARM, *plain) for _ in range(4)]
    assert not in_c(wd.rnea)
    assert all(same(tuple(y), tuple(passes[0])) for y in passes)
    assert all(torch.equal(y, results[0]) for y in results)
    assert any(isinstance(y, LaunchPlan) for y in plans_of(wd.rnea).values())
    torch_native.apply.cache_clear()


def test_torch_has_the_layout_of_the_header(monkeypatch: pytest.MonkeyPatch) -> None:
    """If one answer differs, there are no C functions."""
    assert torch_native._as_expected() and torch_native.torch_words() is not None
    monkeypatch.setattr(torch_native, "_CPU", 1)
    assert not torch_native._as_expected()
    monkeypatch.setattr(torch_native, "_library", lambda: None)
    assert not torch_native._as_expected()


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.MOST == 8
    assert chosen._WORDS == 23


def test_a_node_has_the_places_of_what_a_call_reads() -> None:
    """The places of its results are not among them."""
    forward = SimpleNamespace(places=[4, 5, 6], read=["q", "v"])
    node = torch_native.Node(SimpleNamespace(forward=forward), c_functions.words_of([0]), False)
    assert int(node.words[1]) == 2 and [int(x) for x in node.words[-2:]] == [4, 5]
