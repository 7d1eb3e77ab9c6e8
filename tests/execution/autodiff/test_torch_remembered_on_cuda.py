"""Repeated calls on a GPU that Torch differentiates: forward and backward equal checked calls on
the CPU. On the emulated device tensors of the CPU stand in for those of the device
(`torch_on_device`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from native_calls import nothing_known_of, plans_of
from torch_calls import ARM, CASES, asking, parts
from torch_on_device import tensors_on

import warpdyn as wd

torch = pytest.importorskip("torch")

from warpdyn.execution.autodiff.torch_remembered import DifferentiatedCall  # noqa: E402

FUNCTIONS = (wd.rnea, wd.aba, wd.pose_and_jacobian, wd.rnea_derivatives)
CLOSE = 1e-9
"""Relative to the largest number, float64 on the device against float64 on the CPU."""


@pytest.fixture
def place(device: str) -> Iterator[str]:
    """The device of tensors, as Torch names it."""
    if not device.startswith("cuda"):
        pytest.skip("calls on a GPU; give --device cuda:0")
    with nothing_known_of(*FUNCTIONS), tensors_on(device) as place:
        yield place


def gradients(call: Any, given: list[Any]) -> tuple[list[Any], list[Any]]:
    """Results, and the gradients of a weighted sum of all their entries."""
    results = parts(call(*given))
    weights = [
        torch.linspace(-1, 2, x.numel(), dtype=x.dtype, device=x.device).reshape(x.shape)
        for x in results
    ]
    total = sum((x * w).sum() for x, w in zip(results, weights, strict=True))
    found = torch.autograd.grad(total, given, allow_unused=True)
    return [x.detach() for x in results], [torch.zeros(1) if x is None else x for x in found]


def assert_close(found: list[Any], wanted: list[Any]) -> None:
    for x, y in zip(found, wanted, strict=True):
        scale = max(1.0, float(y.abs().max()))
        assert x.shape == y.shape
        assert float((x.cpu() - y).abs().max()) <= CLOSE * scale


def on(place: str, seed: int) -> list[Any]:
    return [x.detach().to(place).requires_grad_() for x in asking(6, seed)]


def plans() -> list[DifferentiatedCall]:
    found = [x for function in FUNCTIONS for x in plans_of(function).values()]
    return [x for x in found if isinstance(x, DifferentiatedCall)]


@pytest.fixture(scope="module")
def cpu_results() -> dict[str, Any]:
    """Results of all cases on the CPU."""
    with nothing_known_of(*FUNCTIONS):
        return {case: gradients(call, asking(6, 2)) for case, call in CASES.items()}


@pytest.mark.parametrize("case", CASES)
def test_cached_calls_equal_checked_calls_on_the_cpu(
    case: str, cpu_results: dict[str, Any], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    call, first, second = CASES[case], on(place, 1), on(place, 2)
    for _ in range(3):
        gradients(call, first)
    (plan,) = plans()
    assert len(plan._adjoints) == 1 and plan.forward.job.kernel.on_cuda
    checked: list[Any] = []
    monkeypatch.setattr(plan, "_computed", checked.append)
    results, found = gradients(call, second)
    assert not checked
    assert_close(results, cpu_results[case][0])
    assert_close(found, cpu_results[case][1])


def test_calls_with_and_without_gradients_may_alternate(place: str) -> None:
    """The same tensors under `no_grad`, and second derivatives, between cached calls."""
    for seed in range(5):
        given = on(place, seed)
        here = [x.detach().cpu().requires_grad_() for x in given]
        wanted = wd.rnea(ARM, *(x.detach().numpy() for x in here))
        tau = wd.rnea(ARM, *given)
        assert tau.requires_grad
        assert_close([tau.detach()], [torch.as_tensor(wanted)])
        with torch.no_grad():
            plain = wd.rnea(ARM, *given)
        assert not plain.requires_grad and torch.equal(plain, tau.detach())
        (first,) = torch.autograd.grad(tau.sum(), given[:1], create_graph=True)
        (second,) = torch.autograd.grad(first.square().sum(), given[:1])
        assert first.requires_grad and bool(torch.isfinite(second).all())
    assert len(plans()) == 1
