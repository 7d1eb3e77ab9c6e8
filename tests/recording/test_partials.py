"""Slopes of branches in own kernels: both modes agree, and what is not taken gives 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.recording.graph import Graph
from warpdyn.recording.partials import finite, unsafe_nodes
from warpdyn.recording.recorder import input_symbols

TEXTS: dict[str, Callable[[Any, Any], Any]] = {
    "arccos": lambda x, y: np.arccos(np.clip(x, -1, 1)),
    "root": lambda x, y: np.sqrt(np.maximum(x, 0)) * y,
    "root of a square": lambda x, y: np.sqrt(np.maximum(x, 0) ** 2) + np.sqrt(np.abs(x)),
    "where": lambda x, y: np.where(x > 0, np.sqrt(x), 0.0),
    "quotient": lambda x, y: np.where(x == 0, y, y / x),
    "logarithm": lambda x, y: np.where(x > 0, y * np.log(x), y**2),
    "norm": lambda x, y: np.linalg.norm(x) * y + np.hypot(x, y),
    "norm by hand": lambda x, y: np.sqrt(x**2) * y + np.sqrt(x[0] * x[0] + y**2 + x[1] * x[1]),
    "tanh": lambda x, y: np.tanh(x) * y,
    "mask": lambda x, y: np.sqrt(x) * np.where(y > 5, 1.0, 0.0) + y,
    "finite": lambda x, y: np.where(np.isfinite(y / x), x * y, 0.0),
    "difference": lambda x, y: np.sqrt(x - np.array([1.0, 1.0]) * x) + x * y,
    "power": lambda x, y: x ** np.rint(y),
    "loop": lambda x, y: wd.kernels.repeat(20, lambda s: np.where(s > 0, np.sqrt(s) * y, s * x), x),
    "outside": lambda x, y: wd.kernels.repeat(
        3, lambda s: np.where(x > 0, np.sqrt(x) + s, s * y), y
    ),
}

X = np.array([[0.3, -0.5], [1.5, -2.0], [0.0, 0.0], [1.0, 0.0]])
Y = np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 0.0], [-1.0, 2.0]])


def kernel_of(text: Callable[[Any, Any], Any]) -> Any:
    @wd.kernel
    def kernel(robot: Any, x: (2,), y: (2,)) -> Any:  # type: ignore[valid-type]
        return text(x, y)

    return kernel


def jacobian(kernel: Any, mode: str) -> np.ndarray:
    """By x, from either mode."""
    model, sides = wd.load_robot("cartpole"), []
    for k in range(2):
        unit = np.zeros_like(X)
        unit[:, k] = 1.0
        if mode == "forward":
            sides.append(wd.jvp(kernel, model, X, Y, tangents={"x": unit}))
        else:
            sides.append(wd.vjp(kernel, model, X, Y, cotangents=unit, wrt="x"))
    return np.stack(sides, axis=-1 if mode == "forward" else 1)


@pytest.mark.parametrize("name", TEXTS)
def test_both_modes_agree_and_are_finite(name: str) -> None:
    """At values where a branch that is not taken is infinite or NaN, and at the norm's origin."""
    kernel = kernel_of(TEXTS[name])
    forward, reverse = jacobian(kernel, "forward"), jacobian(kernel, "reverse")
    assert np.isfinite(forward).all()
    assert np.allclose(forward, reverse, rtol=1e-12, atol=1e-14)


def test_the_branch_taken_gives_the_slope() -> None:
    """0 of the other one; 1 of tanh at 0, whose |x| is a branch too; 0 of the norm at 0."""
    names = ("root", "norm", "norm by hand", "where")
    at = {name: jacobian(kernel_of(TEXTS[name]), "reverse") for name in names}
    assert np.allclose(at["root"][0], [[0.5 / np.sqrt(0.3), 0.0], [0.0, 0.0]])
    assert np.array_equal(at["norm"][2], np.zeros((2, 2)))
    assert np.array_equal(at["norm by hand"][2], np.zeros((2, 2)))
    assert np.allclose(at["where"][0], [[0.5 / np.sqrt(0.3), 0.0], [0.0, 0.0]])
    tanh = jacobian(kernel_of(lambda x, y: np.tanh(x)), "forward")
    assert np.allclose(tanh, [np.diag(1 - np.tanh(x) ** 2) for x in X])


def test_second_derivatives_are_finite() -> None:
    """Of a root where it is not taken."""
    torch = pytest.importorskip("torch")
    kernel, model = kernel_of(TEXTS["root"]), wd.load_robot("cartpole")
    x, y = torch.tensor(X, requires_grad=True), torch.tensor(Y)
    (first,) = torch.autograd.grad(kernel(model, x, y).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert torch.isfinite(second).all()
    assert np.isclose(float(second[0, 0]), -0.25 * 0.3**-1.5)


def test_without_a_branch_slopes_are_as_they_are() -> None:
    """A root at 0 is infinitely steep; and built-in functions are left alone."""
    slope = jacobian(kernel_of(lambda x, y: np.sqrt(x)), "forward")
    assert np.isinf(slope[2]).any()
    graph = Graph()
    x, y = input_symbols(graph, "q", 2)
    x.operation("select", x, y, x.sqrt(), y)
    assert not unsafe_nodes(graph, len(graph.nodes))
    graph.guards_slopes = True
    assert unsafe_nodes(graph, len(graph.nodes)) == {2}
    assert finite(np.inf) == finite(np.nan) == 0.0 and finite(2.0) == 2.0
