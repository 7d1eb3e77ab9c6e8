"""Calls under a wp.Tape: their adjoints compared with Torch's, which are checked by differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import warp as wp
from gradient_cases import MODELS, Case
from states import error

import warpdyn as wd

torch = pytest.importorskip("torch")

DIGITS = {"float64": 1e-12, "float32": 1e-4}

KINDS = {"float64": wp.float64, "float32": wp.float32}


@wp.kernel
def add_weighted(x: wp.array(dtype=Any), w: wp.array(dtype=Any), total: wp.array(dtype=Any)):  # type: ignore[valid-type]
    i = wp.tid()
    wp.atomic_add(total, 0, x[i] * w[i])


@wp.kernel
def double_entries(x: wp.array2d(dtype=wp.float64), y: wp.array2d(dtype=wp.float64)):
    i, j = wp.tid()
    y[i, j] = wp.float64(2.0) * x[i, j]


def place(x: np.ndarray, dtype: str, device: str) -> wp.array:
    return wp.array(x, dtype=KINDS[dtype], requires_grad=True, device=device)


def weights(shape: tuple[int, ...]) -> np.ndarray:
    return np.cos(np.arange(np.prod(shape))).reshape(shape)


def loss_of(results: tuple[wp.array, ...]) -> wp.array:
    """Sum of the results' entries times fixed weights, on the tape."""
    first = results[0]
    total = wp.zeros(1, dtype=first.dtype, device=first.device, requires_grad=True)
    for x in results:
        w = wp.array(weights(x.shape).ravel(), dtype=x.dtype, device=x.device)
        wp.launch(add_weighted, dim=x.size, inputs=[x.flatten(), w, total], device=x.device)
    return total


def in_torch(case: Case, arrays: dict[str, np.ndarray]) -> list[np.ndarray]:
    """The same gradients from Torch, in float64."""
    given = {
        name: torch.tensor(x, dtype=torch.float64, requires_grad=True) for name, x in arrays.items()
    }
    results = case.run(given)
    sum((x * torch.tensor(weights(tuple(x.shape)))).sum() for x in results).backward()
    return [x.grad.numpy() for x in given.values()]


CASES = (
    Case("rnea", "gripper", "q v a", "gravity f_ext"),
    Case("aba", "pendulum", "q v tau", "gravity"),
    Case("fk", "hopper", options={"frame": "leg"}),
    Case("pose_and_jacobian", "hopper", options={"frame": "leg"}),
    Case("potential_energy", "gripper", "q", "gravity"),
    Case("integrate", "socket", "q d"),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_adjoints_on_a_tape_equal_torchs(case: Case, dtype: np.dtype, device: str) -> None:
    """Every array of a call has one, also those common to all environments, and calls have several
    results."""
    rounded = {name: x.astype(dtype).astype(float) for name, x in case.arrays.items()}
    given = {name: place(x, str(dtype), device) for name, x in rounded.items()}
    with wp.Tape() as tape:
        total = loss_of(case.run(given))
    tape.backward(total)
    for x, wanted in zip(given.values(), in_torch(case, rounded), strict=True):
        assert error(x.grad.numpy(), wanted) <= DIGITS[str(dtype)]


def test_adjoints_of_parameters_equal_torchs(device: str) -> None:
    """The arrays have a row for each environment, or one for all."""
    model, arrays = MODELS["gripper"], Case("rnea", "gripper", "q v a").arrays
    q, v, a = (place(x, "float64", device) for x in arrays.values())
    masses = np.array([[0.1, 1.2, 0.4, 0.3], [0.1, 1.5, 0.2, 0.6]])
    for mass in (masses, masses[0]):
        given = place(mass, "float64", device)
        with wp.Tape() as tape:
            total = loss_of((wd.rnea(model, q, v, a, params=model.params(mass=given)),))
        tape.backward(total)
        wide = torch.tensor(mass, requires_grad=True)
        tensors = (torch.tensor(x) for x in arrays.values())
        tau = wd.rnea(model, *tensors, params=model.params(mass=wide))
        (tau * torch.tensor(weights((2, 2)))).sum().backward()
        assert (
            given.grad.shape == mass.shape
            and error(given.grad.numpy(), wide.grad.numpy()) <= DIGITS["float64"]
        )


def test_gradients_pass_through_calls_and_a_kernel(device: str) -> None:
    """tau = rnea(a), doubled by the caller's kernel, qdd = aba(tau): dqdd/da = 2, as in Torch."""
    model = MODELS["pendulum"]
    arrays = Case("rnea", "pendulum", "q v a", "gravity").arrays
    q, v, a, g = (place(x, "float64", device) for x in arrays.values())
    force = wp.zeros((2, 2), dtype=wp.float64, requires_grad=True, device=device)
    with wp.Tape() as tape:
        tau = wd.rnea(model, q, v, a, gravity=g)
        wp.launch(double_entries, dim=(2, 2), inputs=[tau, force], device=device)
        total = loss_of((wd.aba(model, q, v, force, gravity=g),))
    tape.backward(total)
    tensors = [torch.tensor(x, requires_grad=True) for x in arrays.values()]
    p, u, b, h = tensors
    (
        wd.aba(model, p, u, 2 * wd.rnea(model, p, u, b, gravity=h), gravity=h)
        * torch.tensor(weights((2, 2)))
    ).sum().backward()
    assert error(a.grad.numpy(), 2 * weights((2, 2))) <= DIGITS["float64"]
    for x, y in zip((q, v, a, g), tensors, strict=True):
        assert error(x.grad.numpy(), y.grad.numpy()) <= 10 * DIGITS["float64"]
    first = q.grad.numpy().copy()
    tape.zero()
    assert not q.grad.numpy().any()
    tape.backward(total)
    assert np.array_equal(q.grad.numpy(), first)


def test_an_array_used_twice_gets_the_sum_of_gradients(device: str) -> None:
    """q is the input of fk and of com."""
    model, q = MODELS["hopper"], Case("fk", "hopper").arrays["q"]
    grads = []
    for functions in ((wd.fk,), (wd.com,), (wd.fk, wd.com)):
        given = place(q, "float64", device)
        with wp.Tape() as tape:
            total = loss_of(tuple(function(model, given) for function in functions))
        tape.backward(total)
        grads.append(given.grad.numpy())
    assert error(grads[2], grads[0] + grads[1]) <= DIGITS["float64"]


@pytest.mark.parametrize("function", ["jacobian", "potential_energy"])
def test_gradients_of_a_single_robot_equal_torchs(function: str, device: str) -> None:
    """Arrays are (n,), and results have several dimensions or none."""
    case = Case(function, "hopper", options={"frame": "leg"} if function == "jacobian" else {})
    q = case.arrays["q"][0]
    given = place(q, "float64", device)
    with wp.Tape() as tape:
        total = loss_of(case.run({"q": given}))
    tape.backward(total)
    assert error(given.grad.numpy(), in_torch(case, {"q": q})[0]) <= DIGITS["float64"]


def test_out_arrays_take_part_in_gradients_on_a_tape(device: str) -> None:
    """The gradient passes through the array of out=."""
    model, arrays = MODELS["pendulum"], Case("rnea", "pendulum", "q v a").arrays
    q, v, a = (place(x, "float64", device) for x in arrays.values())
    tau = wp.full((2, 2), np.nan, dtype=wp.float64, device=device, requires_grad=True)
    with wp.Tape() as tape:
        total = loss_of((wd.rnea(model, q, v, a, out=tau),))
    tape.backward(total)
    assert (
        error(v.grad.numpy(), in_torch(Case("rnea", "pendulum", "q v a"), arrays)[1])
        <= DIGITS["float64"]
    )


def test_nothing_is_recorded_without_requires_grad(device: str) -> None:
    """Nothing is recorded outside a tape either."""
    model, q = MODELS["pendulum"], wp.zeros((2, 2), dtype=wp.float64, device=device)
    with wp.Tape() as tape:
        assert not wd.crba(model, q).requires_grad
    assert not tape.launches
    assert not wd.crba(model, place(np.zeros((2, 2)), "float64", device)).requires_grad
