"""Undocumented parts of Torch, and the behaviour without them."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from warpdyn.execution.autodiff.torch_hooks import (  # noqa: E402
    apply_directly,
    replace_backward,
    replace_when_compiled,
)


def doubling() -> Any:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return 2 * x

        @staticmethod
        def backward(ctx: Any, bar: Any) -> Any:
            return 2 * bar

    return Double


def test_direct_application_is_differentiated() -> None:
    x = torch.tensor(3.0, requires_grad=True)
    y = apply_directly(doubling())(x)
    assert y.item() == 6 and torch.autograd.grad(y, x)[0].item() == 2


def test_the_backward_pass_can_be_replaced() -> None:
    operation = doubling()
    assert replace_backward(operation, lambda ctx, bar: 5 * bar)
    x = torch.tensor(3.0, requires_grad=True)
    assert torch.autograd.grad(operation.apply(x), x)[0].item() == 5


def test_an_object_without_a_backward_pass_is_not_changed() -> None:
    assert not replace_backward(object(), lambda ctx, bar: bar)


def test_a_function_names_the_function_that_the_compiler_traces() -> None:
    def function() -> None:
        return None

    replace_when_compiled(function, print)
    assert function._torchdynamo_inline is print  # type: ignore[attr-defined]
