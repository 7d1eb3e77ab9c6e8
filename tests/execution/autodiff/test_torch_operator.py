"""The operator of Torch's dispatcher that stands for calls in compiled graphs."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import warpdyn as wd  # noqa: E402
from warpdyn.execution import dispatch  # noqa: E402
from warpdyn.execution.autodiff import torch_operator  # noqa: E402

MODEL = wd.load_robot("double_pendulum")


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Calls that are checked, while there is no plan."""
    checked: list[Any] = []

    def launch_call(call: Any) -> Any:
        checked.append(call)
        return plain(call)

    plain = dispatch.launch_call
    monkeypatch.setattr(dispatch, "launch_call", launch_call)
    monkeypatch.setattr(torch_operator, "_plans", {})
    torch._dynamo.reset()
    return checked


def accelerations(q: torch.Tensor, v: torch.Tensor, tau: torch.Tensor) -> torch.Tensor:
    end = wd.step(MODEL, q, v, wd.gravity_torques(MODEL, q) + tau, dt=0.01)
    return wd.aba(MODEL, end.q, end.v, tau)


def numbers(rows: int, seed: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.rand(rows, 2, generator=generator, dtype=torch.float64) for _ in range(3)]


def test_repeated_calls_of_a_graph_are_checked_once(launches: list[Any]) -> None:
    """Each of the three calls has a plan for each batch size. Their results are those of other
    numbers too."""
    compiled = torch.compile(accelerations, fullgraph=True, backend="aot_eager")
    for rows in (4, 7):
        for seed in range(3):
            given, before = numbers(rows, seed), len(launches)
            found = compiled(*given)
            assert (len(launches) == before) == (seed > 0)
            torch.testing.assert_close(found, accelerations(*given))
    assert len(torch_operator._plans) == 6


def test_calls_are_checked_in_debug_mode(
    launches: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A velocity that is not finite is found, although the call has a plan."""
    compiled = torch.compile(accelerations, fullgraph=True, backend="aot_eager")
    given = numbers(4, 0)
    for _ in range(2):
        compiled(*given)
    monkeypatch.setattr(wd.config, "debug", True)
    given[1][2] = torch.nan
    with pytest.raises(ValueError, match=r"nan|finite"):
        compiled(*given)


def test_results_of_columns_are_rows(launches: list[Any]) -> None:
    """Torch expects the layout of the rule for shapes, whatever that of the inputs is."""
    compiled = torch.compile(accelerations, fullgraph=True, backend="aot_eager")
    columns = [x.T.contiguous().T for x in numbers(4, 0)]
    for _ in range(2):
        found = compiled(*columns)
        assert found.is_contiguous()
        torch.testing.assert_close(found, accelerations(*numbers(4, 0)))


def test_plans_are_forgotten(monkeypatch: pytest.MonkeyPatch, launches: list[Any]) -> None:
    """One of them with its model, and all of them if there are too many."""
    compiled = torch.compile(accelerations, fullgraph=True, backend="aot_eager")
    compiled(*numbers(4, 0))
    kinds = next(iter(torch_operator._plans))
    torch_operator._forget(kinds, None)
    assert len(torch_operator._plans) == 2 and kinds not in torch_operator._plans
    monkeypatch.setattr(torch_operator, "MOST", 2)
    compiled(*numbers(4, 0))
    assert len(torch_operator._plans) == 1 and kinds not in torch_operator._plans


@pytest.mark.parametrize("runs", [0, 3, 40])
@pytest.mark.parametrize("differentiated", [False, True])
def test_traced_functions_call_the_kernel(runs: int, differentiated: bool) -> None:
    """`torch.jit.trace` saw no operation in a call, and kept the result as a constant. Calls are
    traced before they are cached, as cached calls and as calls in C."""
    model = wd.load_robot("double_pendulum")
    q, v, other_q, other_v = torch.rand(4, 3, 2, dtype=torch.float64)
    example = v.clone().requires_grad_(differentiated)
    for _ in range(runs):
        wd.rnea(model, q, example, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tracing is deprecated, and warns of checks of shapes
        traced = torch.jit.trace(lambda q, v: wd.rnea(model, q, v, None).sin(), (q, example))
    given = other_v.clone().requires_grad_(differentiated)
    result, wanted = traced(other_q, given), wd.rnea(model, other_q, other_v, None).sin()
    assert torch.equal(result, wanted)
    assert traced(*torch.rand(2, 5, 2, dtype=torch.float64)).shape == (5, 2)
    if differentiated:
        (gradient,) = torch.autograd.grad(result.sum(), given)
        bar = wd.rnea(model, other_q, other_v, None).cos()
        bars = wd.vjp(wd.rnea, model, other_q, other_v, None, cotangents=bar)
        assert torch.allclose(gradient, bars[1])
