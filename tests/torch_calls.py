"""Tensors of an arm for calls that Torch differentiates, and their gradients."""

from __future__ import annotations

import gc
from collections.abc import Callable
from copy import copy
from typing import Any
from weakref import ref

import pytest
from gradient_cases import MODELS
from native_calls import plans_of

import warpdyn as wd

torch = pytest.importorskip("torch")

from warpdyn.execution.autodiff.torch_remembered import DifferentiatedCall  # noqa: E402

ARM = MODELS["pendulum"]
FUNCTIONS: tuple[Any, ...] = (wd.rnea, wd.aba, wd.fk, wd.pose_and_jacobian, wd.rnea_derivatives)

CASES: dict[str, Callable[..., Any]] = {
    "rows": lambda q, v, a: wd.rnea(ARM, q, v, a),
    "by name": lambda q, v, a: wd.rnea(ARM, a=a, q=q, v=v),
    "columns": lambda q, v, a: wd.rnea(ARM, *(x.T.contiguous().T for x in (q, v, a))),
    "one robot": lambda q, v, a: wd.rnea(ARM, q[0], v[0], a[0]),
    "trajectories": lambda q, v, a: wd.rnea(ARM, *(x.reshape(2, -1, 2) for x in (q, v, a))),
    "one row for all": lambda q, v, a: wd.rnea(ARM, q, v[0], a),
    "one tensor twice": lambda q, v, a: wd.rnea(ARM, q, v, v) * a,
    "some of them": lambda q, v, a: wd.rnea(ARM, q, v.detach(), None) * v * a,
    "gravity": lambda q, v, a: wd.rnea(ARM, q, v, a, gravity=(0.0, 0.0, -3.7)),
    "its gravity each": lambda q, v, a: wd.rnea(ARM, q, v, a, gravity=torch.cat([q, v[:, :1]], 1)),
    "force": lambda q, v, a: wd.rnea(ARM, q, v, a, f_ext={"tip": torch.cat([q, v, a], 1)}),
    "mass of all": lambda q, v, a: wd.rnea(
        ARM, q, v, a, params=ARM.params(mass={"lower_rod": a[0, 0] ** 2 + 0.1})
    ),
    "mass of each": lambda q, v, a: wd.rnea(
        ARM, q, v, a, params=ARM.params(mass={"lower_rod": a[:, 0] ** 2 + 0.1})
    ),
    "solved": lambda q, v, a: wd.aba(ARM, q, v, a),
    "solved for trajectories": lambda q, v, a: wd.aba(
        ARM, *(x.reshape(2, -1, 2) for x in (q, v, a))
    ),
    "two results": lambda q, v, a: wd.pose_and_jacobian(ARM, q * v * a, frame="tip"),
    "one of two results": lambda q, v, a: wd.pose_and_jacobian(ARM, q * v * a, frame="tip")[1],
    "derivatives": lambda q, v, a: wd.rnea_derivatives(ARM, q, v, a),
}
"""Kinds of calls that are remembered with their backward pass."""


def draw_tensors(count: int, seed: int, kind: Any = torch.float64) -> list[Any]:
    draw = torch.Generator().manual_seed(seed)
    return [torch.randn(count, 2, generator=draw, dtype=kind) for _ in range(3)]


def asking(count: int, seed: int, kind: Any = torch.float64) -> list[Any]:
    return [x.requires_grad_() for x in draw_tensors(count, seed, kind)]


def plan_of(function: Any) -> DifferentiatedCall:
    (plan,) = (x for x in plans_of(function).values() if isinstance(x, DifferentiatedCall))
    return plan


def parts(results: Any) -> tuple[Any, ...]:
    return tuple(results) if isinstance(results, tuple | list) else (results,)


def gradients(results: Any, by: list[Any], **options: Any) -> list[Any]:
    """The gradient of a weighted sum of all entries of the results."""
    total = sum(
        (x * torch.linspace(-1, 2, x.numel(), dtype=x.dtype).reshape(x.shape)).sum()
        for x in parts(results)
    )
    return list(torch.autograd.grad(total, by, allow_unused=True, **options))


def same(found: Any, wanted: Any) -> bool:
    return all(
        (x is None and y is None) or torch.equal(x, y)
        for x, y in zip(parts(found), parts(wanted), strict=True)
    )


def a_model_stays_as_long_as_its_graphs(call: Callable[..., Any]) -> None:
    """Check that a model lives as long as a graph needs it for its backward pass, and no longer.
    `call`: a way to call `wd.aba` after its first calls."""
    model = copy(wd.load_robot("double_pendulum"))
    gone, x = ref(model), asking(2, 17)
    for _ in range(4):
        result = wd.aba(model, *x)
        wanted = gradients(result, x)
    result = call(model, *x)
    del model
    gc.collect()
    assert gone() is not None and same(gradients(result, x), wanted)
    del result
    gc.collect()
    assert gone() is None
