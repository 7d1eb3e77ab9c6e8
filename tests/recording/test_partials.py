"""Derivatives of branches in users' kernels: both modes agree, and branches not taken give 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.algebra.scalar import (
    absolute,
    atan2,
    cos,
    exp,
    floor,
    log,
    maximum,
    minimum,
    rsqrt,
    select_less,
    select_less_equal,
    sign,
    sin,
    sqrt,
)
from warpdyn.execution.config import compile_policy
from warpdyn.recording.differentiation import pullback, pushforward
from warpdyn.recording.graph import Graph
from warpdyn.recording.partials import (
    _asks_for_numbers,
    _near_choices,
    _roots_of_squares,
    finite,
    unsafe_nodes,
)
from warpdyn.recording.program import record
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
    """Jacobian of a kernel by x, in either mode."""
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
def test_both_modes_agree_and_are_finite_at_branches(name: str) -> None:
    """Values make the branch not taken infinite or NaN, or are the origin of the norm."""
    kernel = kernel_of(TEXTS[name])
    forward, reverse = jacobian(kernel, "forward"), jacobian(kernel, "reverse")
    assert np.isfinite(forward).all()
    assert np.allclose(forward, reverse, rtol=1e-12, atol=1e-14)


def test_the_derivative_is_that_of_the_branch_taken() -> None:
    """0 for the other branch, 1 for tanh at 0, whose |x| is a branch too, and 0 for the norm at 0."""
    names = ("root", "norm", "norm by hand", "where")
    at = {name: jacobian(kernel_of(TEXTS[name]), "reverse") for name in names}
    assert np.allclose(at["root"][0], [[0.5 / np.sqrt(0.3), 0.0], [0.0, 0.0]])
    assert np.array_equal(at["norm"][2], np.zeros((2, 2)))
    assert np.array_equal(at["norm by hand"][2], np.zeros((2, 2)))
    assert np.allclose(at["where"][0], [[0.5 / np.sqrt(0.3), 0.0], [0.0, 0.0]])
    tanh = jacobian(kernel_of(lambda x, y: np.tanh(x)), "forward")
    assert np.allclose(tanh, [np.diag(1 - np.tanh(x) ** 2) for x in X])


def test_second_derivatives_are_finite_at_branches() -> None:
    """The function has a root in a branch that is not taken."""
    torch = pytest.importorskip("torch")
    kernel, model = kernel_of(TEXTS["root"]), wd.load_robot("cartpole")
    x, y = torch.tensor(X, requires_grad=True), torch.tensor(Y)
    (first,) = torch.autograd.grad(kernel(model, x, y).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert torch.isfinite(second).all()
    assert np.isclose(float(second[0, 0]), -0.25 * 0.3**-1.5)


def test_derivatives_without_a_branch_are_not_changed() -> None:
    """A root at 0 is infinitely steep, and built-in functions are left unchanged."""
    slope = jacobian(kernel_of(lambda x, y: np.sqrt(x)), "forward")
    assert np.isinf(slope[2]).any()
    graph = Graph()
    x, y = input_symbols(graph, "q", 2)
    x.operation("select", x, y, x.sqrt(), y)
    assert not unsafe_nodes(graph, len(graph.nodes))
    graph.guards_slopes = True
    assert unsafe_nodes(graph, len(graph.nodes)) == {2}
    assert finite(np.inf) == finite(np.nan) == 0.0 and finite(2.0) == 2.0


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y + x * x,
    "neg": lambda x, y: -(x * y),
    "rcp": lambda x, y: x / y,
    "rsqrt": lambda x, y: rsqrt(x * x + y),
    "sqrt": lambda x, y: sqrt(x * x + y),
    "sin": lambda x, y: sin(x * y),
    "cos": lambda x, y: cos(x * y),
    "abs": lambda x, y: absolute(x) * y,
    "sign": lambda x, y: sign(x) * y,
    "floor": lambda x, y: floor(x * 3.0) * y + x,
    "exp": lambda x, y: exp(x * y),
    "log": lambda x, y: log(y + 0.1 * x),
    "atan2": lambda x, y: atan2(x, y),
    "min": lambda x, y: minimum(x * x, y),
    "max": lambda x, y: maximum(x * x, y),
    "select": lambda x, y: select_less(x, 0.5 * y, x * y, x - y),
    "select_equal": lambda x, y: select_less_equal(0.5 * y, x, x * y, x - y),
}
POINTS = [(0.3, 1.3), (-0.7, 0.4), (1.6, 2.1), (-1.4, 0.9)]


@pytest.mark.parametrize("name", OPERATIONS)
def test_each_operation_has_its_derivative(name: str) -> None:
    """Both operands and both modes are compared with central differences on numbers."""
    function, h = OPERATIONS[name], 1e-6
    forward = record(
        lambda x, dx: pushforward(x, dx, [function(*x)]), {"x": (2,), "dx": (2,)}, rolls=False
    )
    backward = record(lambda x: pullback(x, [function(*x)], [1.0]), {"x": (2,)}, rolls=False)
    for x, y in POINTS:
        slopes = [
            (function(x + h, y) - function(x - h, y)) / (2 * h),
            (function(x, y + h) - function(x, y - h)) / (2 * h),
        ]
        for k, slope in enumerate(slopes):
            numbers = {"x": [x, y], "dx": [float(k == 0), float(k == 1)]}
            assert forward.on_numbers(numbers)["out"][0] == pytest.approx(slope, rel=1e-7, abs=1e-8)
        found = backward.on_numbers({"x": [x, y]})["out"]
        assert found == pytest.approx(slopes, rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("root", [False, True])
def test_slopes_of_reciprocals_of_small_numbers_do_not_overflow(root: bool) -> None:
    """The square and the cube of the reciprocal are infinite here: 0 times them is NaN, where the
    other branch is taken. In single precision, reciprocals above 1.8e19 and 7e12 are such."""
    least = 1e-220 if root else 1e-200

    def direction(x: Any) -> Any:
        square = maximum(x * x, least)
        return x * (rsqrt(square) if root else 1.0 / square)

    backward = record(lambda x: pullback(x, [direction(x[0])], [1.0]), {"x": (1,)}, rolls=False)
    forward = record(lambda x: pushforward(x, [1.0], [direction(x[0])]), {"x": (1,)}, rolls=False)
    for program in (backward, forward):
        at_zero, at_one = (program.on_numbers({"x": [x]})["out"][0] for x in (0.0, 1.0))
        assert at_zero == pytest.approx(least ** (-0.5 if root else -1.0))
        assert at_one == pytest.approx(0.0 if root else -1.0, abs=1e-15)


def test_roots_of_sums_of_squares_are_recognised() -> None:
    graph = Graph()
    x, y, z = input_symbols(graph, "q", 3)
    yes = [(x * x).sqrt(), (x * x + y * y).sqrt(), ((x * x + y * y) + z * z).sqrt()]
    no = [(x * y).sqrt(), (x * x + y).sqrt(), (x * x - y * y).sqrt(), (x * x).rsqrt(), x.sqrt()]
    found = _roots_of_squares(graph, len(graph.nodes))
    assert found == {root.index for root in yes} and not found & {root.index for root in no}
    assert _roots_of_squares(graph, yes[1].index) == {yes[0].index}


def test_nodes_near_a_branch_are_found() -> None:
    """Its arguments, itself, and all values computed from it."""
    graph = Graph()
    a, b, c, d = input_symbols(graph, "q", 4)
    apart = c.sin()
    chosen = a.operation("select", a.exp(), b, a, 1.0)
    after = chosen * d.cos()
    near = _near_choices(graph, len(graph.nodes))
    wanted = [a, b, d, chosen, after]
    assert {x.index for x in wanted} <= near and not near & {c.index, apart.index}
    assert near == set(range(len(graph.nodes))) - {c.index, apart.index}


def test_comparisons_with_infinity_or_itself_are_recognised() -> None:
    """That of `finite` is not one of them."""
    graph = Graph()
    x, y = input_symbols(graph, "q", 2)
    cases = [
        (x.operation("select", x, np.inf, 1.0, y), True),
        (x.operation("select", np.inf, x, 1.0, y), True),
        (x.operation("select_equal", x, x, y, 0.0), True),
        (x.operation("select", x, y, 1.0, 0.0), False),
        (x.operation("select", x, 0.5, 1.0, y), False),
        (x.operation("select", 0.5, x, 1.0, y), False),
        (finite(y), False),
        (x.operation("select", x.absolute(), np.inf, y, 0.0), True),
        (x.operation("select", y.absolute(), np.inf, y, 1.0), True),
    ]
    assert [_asks_for_numbers(graph, node.index) for node, _ in cases] == [
        asks for _, asks in cases
    ]
    assert not _asks_for_numbers(graph, x.index)


def test_a_loop_may_return_infinity_in_a_branch_not_taken() -> None:
    """The derivative is that of the branch taken, and not 0 times infinity."""

    @wd.kernel
    def reciprocal(robot: Any, q: Any) -> Any:
        (x,) = wd.kernels.repeat(40, lambda state: (state[0] / q[0],), (1.0,))
        return np.where(q[0] > 0.0, x * q[0], 0.0)

    model = wd.load_robot("double_pendulum")
    q = np.array([[0.0, 1.0], [1.5, 0.3]])
    with compile_policy("never"):
        by_q = wd.vjp(reciprocal, model, q, cotangents=np.ones(2))
    assert by_q[0].tolist() == [0.0, 0.0]
    assert by_q[1, 0] == pytest.approx(-39.0 * 1.5**-40)
