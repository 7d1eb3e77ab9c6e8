"""Results over inputs: a state stepped in place equals a state stepped from one array to
another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warp as wp
from array_kinds import host
from cuda_on_host import run as run_on_host
from devices import DeviceArray
from robots import by_name
from states import states

import warpdyn as wd
from warpdyn.codegen.targets import write
from warpdyn.execution.batched import batched
from warpdyn.execution.request.call import Call, input_shapes
from warpdyn.execution.request.evaluate import record_call

LAYOUTS = {"rows": np.ascontiguousarray, "columns": lambda x: np.asfortranarray(x)}


def mix_entries(tree: Any, q: list, v: list) -> tuple[list, list]:
    """Every new entry reads all old entries, the last first."""
    total = sum(q, 0.0) + sum(v, 0.0)
    n = len(v)
    return [q[n - 1 - k] + 0.5 * v[k] * total for k in range(n)], [v[k] - q[0] for k in range(n)]


@batched
def step(model: wd.Model, q: Any, v: Any, *, out: Any = None) -> Any:
    shapes = {"q": (model.nv,)}
    arrays = {"q": q, "v": v}
    return Call("mixed", model, (mix_entries,), arrays, out=out, results=("q", "v"), shapes=shapes)


MODEL = wd.load_robot("panda")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 16, 37, 500])
def test_a_step_in_place_equals_a_step_to_another_array(
    layout: str, dtype: type, count: int, device: str
) -> None:
    """Ten steps are equal bit by bit, called and bound."""
    draw = np.random.default_rng(count)
    q, v = (
        LAYOUTS[layout](draw.uniform(-0.1, 0.1, (count, MODEL.nv)).astype(dtype)) for _ in range(2)
    )

    def place_copies() -> tuple[list[DeviceArray], tuple[Any, ...]]:
        """Copies on the device, and their arrays."""
        copies = [DeviceArray(x.copy(order="K"), device) for x in (q, v)]
        return copies, tuple(x.array for x in copies)

    (_, here), (_, apart), (_, bound) = kept = [place_copies() for _ in range(3)]
    run = wd.bind(step, MODEL, *bound, out=bound)  # it steps once
    for _ in range(9):
        run()
    for _ in range(10):
        apart = step(MODEL, *apart)
        assert step(MODEL, *here, out=here)[0] is here[0]
    (in_place, _), _, (when_bound, _) = kept
    for a, b, c in zip(in_place, apart, when_bound, strict=True):
        assert np.array_equal(a.back(), host(b)) and np.array_equal(a.back(), c.back())


def test_the_source_for_cuda_may_overwrite_its_inputs(tmp_path: Path) -> None:
    """It is built by the host's compiler and run thread by thread."""
    draw = np.random.default_rng(0)
    q, v = (draw.uniform(-0.1, 0.1, (6, MODEL.nv)) for _ in range(2))
    call = step.describe(MODEL, q, v)
    source = write(record_call(call, input_shapes(call), False), "mixed", False, "cuda")
    wanted = wd.oracle(step, MODEL, q, v)
    run_on_host(source, {"q": q, "v": v}, q, v, folder=tmp_path)
    for x, expected in zip((q, v), wanted, strict=True):
        np.testing.assert_allclose(x, expected, rtol=1e-13)


@pytest.mark.parametrize("name", ["panda", "quadruped_floating"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_functions_of_configurations_and_solve_may_run_in_place(
    name: str, layout: str, device: str
) -> None:
    """integrate, normalize, clamp and interpolate may overwrite their first configuration, solve
    its right side."""
    model, make = by_name(name).model, LAYOUTS[layout]
    s = states(model, 37)
    p = states(model, 37, seed=1).q
    for function, first, *others in (
        (wd.integrate, s.q, s.v),
        (wd.normalize, s.q),
        (wd.clamp, s.q),
        (lambda m, q, p, out=None: wd.interpolate(m, q, p, 0.3, out=out), s.q, p),
        (lambda m, b, q, out=None: wd.solve(m, q, b, out=out), s.v, s.q),
    ):
        whole, *placed = (DeviceArray(make(y), device) for y in (first, *others))
        x, rest = whole.array, [y.array for y in placed]
        wanted = function(model, x, *rest)
        assert function(model, x, *rest, out=x) is x
        assert np.array_equal(whole.back(), host(wanted))


def test_partial_overlap_of_out_and_inputs_is_refused() -> None:
    """A part of an input, another input, or the same memory in another order."""
    q, v = np.zeros((8, MODEL.nv)), np.zeros((8, MODEL.nv))
    message = "shares memory with"
    with pytest.raises(ValueError, match=message):
        step(MODEL, q, v, out=(v, q))
    with pytest.raises(ValueError, match=message):
        step(MODEL, q, v, out=(q[::-1], v))
    with pytest.raises(ValueError, match=message):
        step(MODEL, q, q, out=(q, v))
    with pytest.raises(ValueError, match=message):
        wd.rnea(MODEL, np.zeros((8, MODEL.nq)), q, v, out=v)


def constants(tree: Any, x: list) -> list:
    """Rows of constants. A bound call may skip them only if nothing else writes them."""
    return [[x[0][0] + 1.0, 5.0], [x[0][1], x[1][1]], *([[2.0, 3.0]] * 18)]


@batched
def partly_constant(model: wd.Model, x: Any, *, out: Any = None) -> Any:
    shapes = {"x": (20, 2)}
    return Call("constants", model, (constants,), {"x": x}, out=out, results=("x",), shapes=shapes)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [16, 37])
def test_constants_are_written_at_each_run(dtype: type, count: int, device: str) -> None:
    """The input that a bound call reads again has other numbers where the result has constants."""
    start = np.random.default_rng(0).uniform(size=(count, 20, 2)).astype(dtype)
    wanted = host(partly_constant(MODEL, DeviceArray(start, device).array))
    for x in (start.copy(), np.ascontiguousarray(start.T).T):
        placed = DeviceArray(x, device)
        run = wd.bind(partly_constant, MODEL, placed.array, out=placed.array)
        if device == "cpu":
            placed.array[:] = start
        else:
            wp.copy(placed.array, wp.array(start, device=device))
        assert np.array_equal(host(run()), wanted)


def test_constants_are_written_at_each_run_on_cuda(tmp_path: Path) -> None:
    x = np.random.default_rng(0).uniform(size=(5, 20, 2))
    call, wanted = partly_constant.describe(MODEL, x), wd.oracle(partly_constant, MODEL, x)
    source = write(record_call(call, input_shapes(call), False), "constants", False, "cuda")
    run_on_host(source, {"x": x}, x, folder=tmp_path, keep_constants=True)
    np.testing.assert_allclose(x, wanted, rtol=1e-14)


def test_a_tape_refuses_results_over_inputs() -> None:
    """A gradient reads the inputs after the call."""
    wp = pytest.importorskip("warp")
    q, v = (
        wp.array(np.ones((4, MODEL.nv)), dtype=wp.float64, device="cpu", requires_grad=True)
        for _ in range(2)
    )
    with (
        wp.Tape(),
        pytest.raises(ValueError, match="out is q, which the gradient still has to read"),
    ):
        wd.integrate(MODEL, q, v, out=q)
    wd.integrate(MODEL, q, v, out=q)


def test_torch_is_notified_of_a_state_changed_in_place() -> None:
    """A backward pass that would read the changed state raises, as with Torch's own operations."""
    torch = pytest.importorskip("torch")
    s = states(MODEL, 5)
    q, v = torch.tensor(s.q), torch.tensor(s.v)
    a = torch.zeros_like(v, requires_grad=True)
    tau = wd.rnea(MODEL, q, v, a)
    wd.integrate(MODEL, q, v, out=q)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        tau.sum().backward()
    with torch.inference_mode():
        x = torch.tensor(s.q)
        assert wd.integrate(MODEL, x, v, out=x) is x
