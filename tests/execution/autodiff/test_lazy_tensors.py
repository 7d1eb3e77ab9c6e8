"""Tensors whose memory does not contain their numbers: Torch's lazy negation, lazy zeros, and
functionalised tensors. On every path, a call reads the numbers that Torch shows, or refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from native_calls import in_c
from torch_calls import ARM, asking, draw_tensors, gradients, parts, same

import warpdyn as wd

torch = pytest.importorskip("torch")

from warpdyn.execution.launch.launch import prepare  # noqa: E402
from warpdyn.execution.native.torch_native import torch_words  # noqa: E402
from warpdyn.execution.repeat import call_cache  # noqa: E402

B = 4
CALLS = 5
"""The third call has a plan. In these tests small calls then use C at once."""


@pytest.fixture(autouse=True)
def in_c_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_cache, "RUNS_IN_PYTHON", 0)


def imaginary(x: Any) -> Any:
    """The same numbers, as the imaginary part of a conjugate."""
    lazy = torch.complex(torch.zeros_like(x), -x).conj().imag
    assert lazy.is_neg()
    return lazy


def of_an_adjoint(x: Any) -> Any:
    """The same numbers, as the imaginary part of a conjugate transpose, with other strides."""
    lazy = torch.complex(torch.zeros_like(x), -x).mT.contiguous().mH.imag
    assert lazy.is_neg()
    return lazy


def zeros(x: Any) -> Any:
    """Zeros of the same shape that have no memory."""
    return torch._efficientzerotensor(tuple(x.shape), dtype=x.dtype)


LAZY: dict[str, Callable[[Any], Any]] = {
    "conj().imag": imaginary,
    "mH.imag": of_an_adjoint,
    "zeros": zeros,
}
lazily = pytest.mark.parametrize("lazy", LAZY.values(), ids=LAZY)


@wd.kernel
def inverse_dynamics(robot: wd.kernels.Robot, q: np.ndarray, v: np.ndarray) -> Any:
    return robot.rnea(q, v, 2.0 * v)


@lazily
@pytest.mark.parametrize("which", range(3))
def test_every_call_reads_the_numbers_that_torch_shows(
    lazy: Callable[[Any], Any], which: int
) -> None:
    """The first call, checked calls, and calls after the C function has a plan of a plain call."""
    for function in (wd.rnea, wd.crba, wd.fk):
        for call in range(2 * CALLS):
            arrays = draw_tensors(B, call)
            arrays = arrays if function is wd.rnea else arrays[:1]
            if call > CALLS:
                which = min(which, len(arrays) - 1)
                arrays[which] = lazy(arrays[which])
            found = function(ARM, *arrays)
            wanted = function(ARM, *(x.clone().numpy() for x in arrays))
            assert np.array_equal(found.numpy(), wanted)


@lazily
def test_calls_of_lazy_tensors_only_get_no_plan_of_plain_tensors(
    lazy: Callable[[Any], Any],
) -> None:
    """A plan of a call by lazy tensors must not serve plain tensors."""
    for call in range(CALLS):
        arrays = [lazy(x) for x in draw_tensors(3, call)]
        assert torch.equal(wd.rnea(ARM, *arrays), wd.rnea(ARM, *(x.clone() for x in arrays)))
        plain = draw_tensors(3, call)
        assert np.array_equal(
            wd.rnea(ARM, *plain).numpy(), wd.rnea(ARM, *(x.numpy() for x in plain))
        )


@lazily
@pytest.mark.parametrize("function", (wd.rnea, wd.aba), ids=("rnea", "aba"))
def test_gradients_by_lazy_tensors_equal_those_by_copies(
    lazy: Callable[[Any], Any], function: Any
) -> None:
    """The lazy tensor is a leaf, and a result of other operations."""
    for call in range(CALLS):
        plain = asking(B, call)
        leaf = [lazy(x.detach()).requires_grad_() for x in plain]
        copies = [x.detach().clone().requires_grad_() for x in leaf]
        found, wanted = function(ARM, *leaf), function(ARM, *copies)
        assert torch.equal(found, wanted)
        assert same(gradients(found, leaf), gradients(wanted, copies))
        if lazy is not zeros:  # which have no history
            found = gradients(function(ARM, *map(lazy, plain)), plain)
            assert same(found, gradients(function(ARM, *plain), plain))


@lazily
@pytest.mark.parametrize("function", (wd.rnea, wd.aba), ids=("rnea", "aba"))
def test_lazy_cotangents_equal_their_copies(lazy: Callable[[Any], Any], function: Any) -> None:
    """They come after plain cotangents and between them."""
    for call in range(2 * CALLS):
        x = asking(B, call)
        w = draw_tensors(B, call + 100)[0]
        w = lazy(w) if call % 2 or call > CALLS else w
        found = torch.autograd.grad(function(ARM, *x), x, w)
        wanted = torch.autograd.grad(function(ARM, *x), x, w.clone())
        assert same(found, wanted)


def test_a_complex_loss_has_the_right_gradient() -> None:
    """Torch itself passes a lazily negated cotangent, which the user does not see."""
    for call in range(CALLS):
        x = asking(B, call)

        def loss(tau: Any) -> Any:
            z = torch.complex(tau, tau * tau)
            return (z * z.conj() * (1 + 2j)).real.sum()

        found = torch.autograd.grad(loss(wd.rnea(ARM, *x)), x)
        tau = wd.rnea(ARM, *x)
        plain = tau.detach().requires_grad_()
        (w,) = torch.autograd.grad(loss(plain), plain)
        assert same(found, torch.autograd.grad(tau, x, w.clone()))


@lazily
def test_hooks_may_return_saved_tensors_as_lazy_views(lazy: Callable[[Any], Any]) -> None:
    """A hook may hand back the saved numbers as a lazy view."""
    if lazy is zeros:
        pytest.skip("zeros are other numbers")
    for call in range(CALLS):
        x = asking(B, call)
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lazy):
            result = wd.rnea(ARM, *x)
        found = gradients(result, x)
        assert same(found, gradients(wd.rnea(ARM, *x), x))


@lazily
def test_transforms_and_forward_mode_accept_lazy_tensors(lazy: Callable[[Any], Any]) -> None:
    q, v, a = draw_tensors(B, 1)
    lazies = [lazy(x) for x in (q, v, a)]
    copies = [x.clone() for x in lazies]

    def torques(*x: Any) -> Any:
        return wd.rnea(ARM, *x)

    assert torch.equal(torch.func.vmap(torques)(*lazies), torch.func.vmap(torques)(*copies))
    _, found = torch.func.jvp(torques, (q, v, a), tuple(lazies))
    _, wanted = torch.func.jvp(torques, (q, v, a), tuple(copies))
    assert torch.equal(found, wanted)
    total = torch.func.grad(lambda *x: torques(*x).square().sum())
    assert torch.equal(total(*lazies), total(*copies))


@lazily
def test_vjp_and_jvp_accept_lazy_tensors(lazy: Callable[[Any], Any]) -> None:
    q, v, a = draw_tensors(B, 2)
    w, t = lazy(draw_tensors(B, 3)[0]), lazy(draw_tensors(B, 4)[0])
    assert same(
        wd.vjp(wd.rnea, ARM, lazy(q), v, a, cotangents=w),
        wd.vjp(wd.rnea, ARM, lazy(q).clone(), v, a, cotangents=w.clone()),
    )
    assert same(
        wd.jvp(wd.rnea, ARM, lazy(q), v, a, tangents={"q": t}),
        wd.jvp(wd.rnea, ARM, lazy(q).clone(), v, a, tangents={"q": t.clone()}),
    )


@lazily
def test_params_forces_user_kernels_and_the_oracle_accept_lazy_tensors(
    lazy: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    q, v, a = draw_tensors(B, 5)
    link = ARM.link_names[-1]
    mass, push = lazy(q[:, :1].abs())[:, 0], lazy(torch.cat([q, v, a], 1))
    for _ in range(CALLS):
        found, wanted = (
            wd.rnea(ARM, q, v, a, params=ARM.params(mass={link: m}), f_ext={link: f})
            for m, f in ((mass, push), (mass.clone(), push.clone()))
        )
        assert torch.equal(found, wanted)
        assert same(inverse_dynamics(ARM, q, lazy(v)), inverse_dynamics(ARM, q, lazy(v).clone()))
    everything = lazy(q.abs()[:, :1].expand(B, ARM.nlinks).contiguous())
    found, wanted = (
        wd.crba(ARM, q, params=ARM.params(mass=x)) for x in (everything, everything.clone())
    )
    assert torch.equal(found, wanted)
    wanted = wd.rnea(ARM, lazy(q).clone(), v, a)
    np.testing.assert_allclose(wd.oracle(wd.rnea, ARM, lazy(q), v, a), wanted, rtol=0, atol=1e-12)
    monkeypatch.setattr(wd.config, "debug", True)
    assert torch.equal(wd.rnea(ARM, lazy(q), v, a), wanted)


@lazily
def test_a_simulation_reads_assigned_lazy_tensors(lazy: Callable[[Any], Any]) -> None:
    """`sim.q[:] = lazy` is a copy by Torch. A lazy array among the arrays of the simulation is
    refused."""
    q = lazy(draw_tensors(B, 11)[0])
    sims = [wd.Simulation(ARM, B, like=torch.zeros(1, dtype=q.dtype), points=[]) for _ in range(2)]
    for sim, x in zip(sims, (q, q.clone()), strict=True):
        sim.q[:] = x
        sim.step()
    assert torch.equal(sims[0].q, sims[1].q)
    push = {ARM.link_names[-1]: lazy(torch.ones(B, 6, dtype=q.dtype))}
    with pytest.raises(ValueError, match=r"bind reads arrays in place"):
        wd.Simulation(ARM, B, like=q.clone(), points=[], f_ext=push).step()


@lazily
def test_bound_calls_and_results_refuse_lazy_tensors(lazy: Callable[[Any], Any]) -> None:
    """Bound calls read, and all calls write, the memory of the array itself."""
    q, v, a = draw_tensors(B, 6)
    with pytest.raises(ValueError, match=r"could only read a copy of v: .*lazy"):
        wd.bind(wd.rnea, ARM, q, lazy(v), a)
    for _ in range(CALLS):
        wd.rnea(ARM, q, v, a, out=torch.empty_like(q))
        with pytest.raises((ValueError, NotImplementedError), match=r"^out .*lazy"):
            wd.rnea(ARM, q, v, a, out=lazy(torch.empty_like(q)))
    with pytest.raises((ValueError, NotImplementedError), match=r"^out .*lazy"):
        wd.bind(wd.rnea, ARM, q, v, a, out=lazy(torch.empty_like(q)))


def test_functionalised_tensors_are_refused_by_name() -> None:
    """They have no memory. The process continues."""
    q, v, a = draw_tensors(B, 7)
    for _ in range(CALLS):
        wd.rnea(ARM, q, v, a)
        with pytest.raises(NotImplementedError, match=r"^v is a functionalised tensor"):
            wd.rnea(ARM, q, torch._to_functional_tensor(v), a)
        with pytest.raises(NotImplementedError, match=r"^out is a functionalised tensor"):
            wd.rnea(ARM, q, v, a, out=torch._to_functional_tensor(torch.empty_like(a)))


def test_tensors_without_storage_are_refused() -> None:
    q, v, a = draw_tensors(B, 8)
    for _ in range(CALLS):
        wd.rnea(ARM, q, v, a)
    v.untyped_storage().resize_(0)
    with pytest.raises(NotImplementedError, match=r"^v has no memory"):
        wd.rnea(ARM, q, v, a)


def test_a_tensor_on_the_meta_device_is_refused_by_name() -> None:
    q, v, a = draw_tensors(B, 9)
    with pytest.raises(ValueError, match=r"^v is on the device 'meta'.*fill it"):
        wd.rnea(ARM, q, v.to("meta"), a)
    with pytest.raises(ValueError, match=r"^q is on the device 'meta'"):
        wd.rnea(ARM, q.to("meta"), v.to("meta"), a.to("meta"))


def test_the_c_functions_still_serve_plain_tensors() -> None:
    """Only lazy tensors leave the path in C, which recognises them by their dispatch keys."""
    if torch_words() is None:
        pytest.skip("this Torch has no C functions")
    before = len(in_c(wd.gravity_torques))
    for call in range(CALLS):
        wd.gravity_torques(ARM, draw_tensors(B, call)[0])
    assert len(in_c(wd.gravity_torques)) == before + 1
    args = (ARM, draw_tensors(B, 1)[0])
    found = wd.gravity_torques._calls.entry(args, {})
    assert parts(found)[0].shape == (B, 2)
    lazy = wd.gravity_torques._calls.entry((ARM, imaginary(args[1])), {})
    assert not isinstance(lazy, torch.Tensor)


def test_the_launch_lists_a_copied_input() -> None:
    q, v, a = draw_tensors(B, 10)
    job = prepare(wd.rnea.describe(ARM, imaginary(q), v, a))
    assert [*job.copied] == ["q"]
