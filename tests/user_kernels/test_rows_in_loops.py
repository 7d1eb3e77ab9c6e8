"""wd.kernels.loop: arrays of every form, their derivatives, and what is refused."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
import pytest

import warpdyn as wd

MODEL = wd.load_robot("cartpole")
STEP = 1e-6


@wd.kernel
def relax(robot: Any, q: Any, A: (5, 5), b: (5,), first: ()) -> Any:
    """Gauss-Seidel sweeps over the rows of a system, and the unknown at an index per environment."""

    def sweep(_: Any, state: Any, arrays: Any) -> Any:
        def row(k: Any, change: Any, arrays: Any) -> Any:
            A, b, x = arrays["A"], arrays["b"], arrays["x"]
            new = x[k] + (b[k] - A[k] @ x[:]) / arrays["diagonal"][k]
            change = np.maximum(change, np.abs(new - x[k]))
            x[k] = new
            return change

        change, _ = wd.kernels.loop(5, row, 0.0, arrays)
        return change

    arrays = {"A": A, "b": b, "x": np.zeros(5), "diagonal": np.diagonal(A).copy()}
    change, arrays = wd.kernels.loop(30, sweep, 0.0, arrays)
    return {"x": arrays["x"][:], "at": arrays["x"][first], "change": change}


def system(count: int) -> tuple[np.ndarray, ...]:
    draw = np.random.default_rng(count)
    A = draw.uniform(-0.2, 0.2, (count, 5, 5)) + np.eye(5)
    first = draw.integers(0, 5, count).astype(float)
    return np.zeros((count, 2)), A, draw.normal(size=(count, 5)), first


def test_sweeps_solve_a_system() -> None:
    """Compiled, interpreted and on numbers."""
    q, A, b, first = system(20)
    wanted = np.linalg.solve(A, b[..., None])[..., 0]
    for found in (relax(MODEL, q, A, b, first), wd.oracle(relax, MODEL, q, A, b, first)):
        np.testing.assert_allclose(found.x, wanted, atol=1e-9)
        np.testing.assert_allclose(found.at, wanted[np.arange(20), first.astype(int)], atol=1e-9)
        assert np.all(np.asarray(found.change) < 1e-8)


def test_derivatives_of_sweeps_are_those_of_the_solution() -> None:
    """The cotangent of b is A⁻ᵀ w, and that of A is -(A⁻ᵀ w) xᵀ, for x = A⁻¹b."""
    q, A, b, first = system(6)
    w = np.random.default_rng(1).normal(size=(6, 5))
    zeros = np.zeros(6)
    of_A, by_b = wd.vjp(relax, MODEL, q, A, b, first, cotangents=(w, zeros, zeros), wrt=("A", "b"))
    of_b = np.linalg.solve(np.swapaxes(A, 1, 2), w[..., None])[..., 0]
    x = np.linalg.solve(A, b[..., None])[..., 0]
    np.testing.assert_allclose(by_b, of_b, atol=1e-7)
    np.testing.assert_allclose(of_A, -of_b[:, :, None] * x[:, None, :], atol=1e-7)
    tangent, *_ = wd.jvp(relax, MODEL, q, A, b, first, tangents={"b": w})
    wanted = np.linalg.solve(A, w[..., None])[..., 0]
    np.testing.assert_allclose(tangent, wanted, atol=1e-7)


@wd.kernel
def shapes(robot: Any, q: Any) -> Any:
    """Rows of numbers and of matrices, parts of rows, indices from the end, and a single array."""

    def step(k: Any, s: Any, arrays: Any) -> Any:
        flat, deep = arrays
        deep[k, 0] = deep[k, 1] + flat[k]
        deep[k, 1, 0] = 5.0
        flat[-1] = flat[0] + q[1]
        return s + k

    s, (flat, deep) = wd.kernels.loop(3, step, q[0], (np.zeros(3) + q[0], np.ones((3, 2, 2))))
    _, alone = wd.kernels.loop(2, lambda k, s, a: a.__setitem__(k, 1.0) or s, (), np.zeros(4))
    assert flat.shape == (3,) and deep.shape == (3, 2, 2) and len(alone) == 4 and deep.ndim == 3
    return np.concatenate([np.stack([s]), flat[:], deep[:].reshape(-1), alone[:], deep[-1, 0]])


def test_rows_have_the_shapes_of_array_rows() -> None:
    """NumPy has the same shapes."""
    q = np.array([[0.5, 0.25]])
    flat = [0.5, 0.5, 0.75]
    deep = [[[1.5, 1.5], [5.0, 1.0]], [[1.5, 1.5], [5.0, 1.0]], [[1.75, 1.75], [5.0, 1.0]]]
    wanted = [3.5, *flat, *np.ravel(deep), 1.0, 1.0, 0.0, 0.0, 1.75, 1.75]
    np.testing.assert_allclose(shapes(MODEL, q)[0], wanted)
    np.testing.assert_allclose(wd.oracle(shapes, MODEL, q)[0], wanted)


def refusal_message(body: Any) -> str:
    """The message with which a kernel with this body is refused. Its line comes first."""

    @wd.kernel
    def kernel(robot: Any, q: Any) -> Any:
        return body(q)

    with pytest.raises(wd.kernels.RecordingError) as caught:
        kernel(MODEL, np.ones((2, 2)))
    message = str(caught.value)
    assert message.startswith("test_rows_in_loops.py:"), message
    return message


def test_invalid_loops_are_refused_with_line_and_remedy() -> None:
    """Each kind of mistake is tested."""
    loop = wd.kernels.loop

    def outside(q: Any) -> Any:
        _, a = loop(2, lambda k, s, a: s, (), q)
        a[0] = 1.0
        return q

    def in_a_repeat(q: Any) -> Any:
        _, a = loop(2, lambda k, s, a: s, (), q)
        return wd.kernels.repeat(2, lambda s: loop(2, lambda k, t, a: t, s, a)[0], q)

    def not_passed(q: Any) -> Any:
        def outer(k: Any, s: Any, a: Any) -> Any:
            def inner(j: Any, t: Any, _: Any) -> Any:
                a[j] = t[0]
                return t

            return loop(2, inner, s, q)[0]

        return loop(2, outer, q, q)[0]

    def slice_rows(q: Any) -> Any:
        return loop(2, lambda k, s, a: s + a[0:1], q, q)[0]

    cases = {
        "in `arrays` of wd.kernels.loop": lambda q: loop(2, lambda k, s, a: s + q[k], q, q)[0],
        "known whole number": lambda q: loop(q[0], lambda k, s, a: s, q, q),
        "in the step of a loop": outside,
        "pass it to both": in_a_repeat,
        "further in": not_passed,
        "single rows": slice_rows,
        "written row by row, a\\[k\\] = x": lambda q: loop(
            2, lambda k, s, a: a.__setitem__(slice(None), 0.0) or s, q, q
        )[0],
        "at least 0, got -1": lambda q: loop(-1, lambda k, s, a: s, q, q)[0],
        "at least 0, got 1.5": lambda q: loop(1.5, lambda k, s, a: s, q, q)[0],
        "must be a single number, got True": lambda q: loop(2, lambda k, s, a: s + a[True], q, q)[
            0
        ],
        "row 7 of an array of 2 rows": lambda q: loop(2, lambda k, s, a: s + a[7], q, q)[0],
        "has shape \\(\\), got \\(2,\\)": lambda q: loop(
            2, lambda k, s, a: a.__setitem__(k, q) or s, q, q
        )[0],
        "needs rows": lambda q: loop(2, lambda k, s, a: s, q, q[0])[0],
        "single number": lambda q: loop(2, lambda k, s, a: s + a[q], q, q)[0],
        "not taken apart": lambda q: loop(2, lambda k, s, a: s + sum(a), q, q)[0],
        "not an argument of a function": lambda q: loop(2, lambda k, s, a: s + np.sin(a), q, q)[0],
    }
    for words, body in cases.items():
        assert re.search(words, refusal_message(body)), words


def test_the_form_of_the_arrays_is_kept() -> None:
    """Nested named tuples, lists and dictionaries.

    Rows keep their order, and zero steps are allowed.
    """

    class Two(NamedTuple):
        first: Any
        second: Any

    given = Two([np.ones(2)], {"a": np.zeros((3, 1))})

    @wd.kernel
    def write_arrays(robot: Any, q: Any) -> Any:
        def step(k: Any, state: Any, arrays: Any) -> Any:
            assert isinstance(arrays, Two)
            arrays.second["a"][k, 0] = arrays.first[0][-1] + k
            return state

        _, arrays = wd.kernels.loop(3, step, (), given)
        assert isinstance(arrays, Two) and isinstance(arrays.first, list)
        _, never = wd.kernels.loop(0, step, (), Two([np.ones(2)], {"a": np.ones((3, 1))}))
        return np.concatenate([arrays.first[0][:], arrays.second["a"][:, 0], never.second["a"][1]])

    assert np.array_equal(wd.oracle(write_arrays, MODEL, np.zeros((1, 2)))[0], [1, 1, 1, 2, 3, 1])


def test_passing_an_array_twice_is_refused() -> None:
    """Plain numbers would give two arrays for two names of one memory."""

    def twice(q: Any) -> Any:
        _, a = wd.kernels.loop(2, lambda k, s, a: s, (), q)
        return wd.kernels.loop(2, lambda k, s, a: s, q, (a, a))[0]

    assert "twice" in refusal_message(twice)


@wd.kernel
def until_small(robot: Any, q: Any, x: (), most: ()) -> Any:
    """Halves a number until it is below a bound, and writes each value into a row."""

    def step(k: Any, state: Any, arrays: Any) -> Any:
        now, count = state
        arrays["seen"][k] = np.stack([0.5 * now, count])
        return 0.5 * now, count + 1.0

    (end, count), arrays = wd.kernels.loop(
        20, step, (x, 0.0), {"seen": np.zeros((20, 2))}, until=lambda state: state[0] < most
    )
    return {"end": end, "count": count, "seen": arrays["seen"][:, 0]}


def halve_by_numpy(x: np.ndarray, most: np.ndarray) -> dict[str, np.ndarray]:
    """The results of `until_small`."""
    seen = np.zeros((len(x), 20))
    end, count = x.copy(), np.zeros(len(x))
    for k in range(20):
        going = (k == 0) | ~(end < most)
        end = np.where(going, 0.5 * end, end)
        seen[:, k] = np.where(going, end, 0.0)
        count += going
    return {"end": end, "count": count, "seen": seen}


@pytest.mark.parametrize("policy", ["never", "wait"])
def test_a_loop_ends_after_the_step_in_which_its_condition_holds(
    policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each environment ends by its own condition.

    Later steps write nothing. The test covers interpreted and compiled programs, and plain numbers.
    """
    monkeypatch.setattr(wd.config, "compile", policy)
    draw = np.random.default_rng(0)
    x, most = draw.uniform(1.0, 100.0, 50), draw.uniform(0.01, 20.0, 50)
    x[7], most[8] = np.nan, 0.0
    wanted = halve_by_numpy(x, most)
    assert len({*wanted["count"]}) > 5
    # Another robot, because a kernel that is interpreted is not compiled later.
    model = MODEL if policy == "never" else wd.load_robot("panda")
    q = np.zeros((50, model.nq))
    results = [until_small(model, q, x, most)]
    if policy == "never":
        results.append(wd.oracle(until_small, model, q, x, most))
    for found in results:
        for name, numbers in wanted.items():
            np.testing.assert_array_equal(np.reshape(getattr(found, name), numbers.shape), numbers)


def test_derivatives_of_a_loop_that_ends_early_are_those_of_its_steps() -> None:
    """The derivative of 2^-n x by x, with n steps, is 2^-n."""
    x, most, q = np.array([10.0, 3.0]), np.array([1.0, 2.0]), np.zeros((2, 2))
    count = halve_by_numpy(x, most)["count"]
    seeds = (np.ones(2), np.zeros(2), np.zeros((2, 20)))
    by_x = wd.vjp(until_small, MODEL, q, x, most, cotangents=seeds, wrt=["x"])
    np.testing.assert_allclose(by_x, 0.5**count)
    rates = wd.jvp(until_small, MODEL, q, x, most, tangents={"x": np.ones(2)})
    np.testing.assert_allclose(np.ravel(rates[0]), 0.5**count)


def test_loops_that_end_early_can_be_nested() -> None:
    """Rows written by an inner loop do not change after the outer one has ended."""

    @wd.kernel
    def nested_loops(robot: Any, q: Any, x: ()) -> Any:
        def outer(_: Any, state: Any, arrays: Any) -> Any:
            def inner(k: Any, state: Any, arrays: Any) -> Any:
                arrays[k] = arrays[k] + 1.0
                return state

            wd.kernels.loop(3, inner, 0.0, arrays)
            return state - 1.0

        start = x, np.zeros(3)
        left, rows = wd.kernels.loop(5, outer, *start, until=lambda left: left < 0.5)
        return {"left": left, "rows": rows[:]}

    found = nested_loops(MODEL, np.zeros((3, 2)), np.array([1.0, 3.0, 9.0]))
    np.testing.assert_array_equal(found.left.ravel(), [0.0, 0.0, 4.0])
    np.testing.assert_array_equal(found.rows, [[1.0] * 3, [3.0] * 3, [5.0] * 3])


def test_an_array_of_conditions_stays_one() -> None:
    """As in NumPy, the sum of two conditions is their `or`. A number that is written into the array
    becomes a condition."""

    @wd.kernel
    def flags(robot: Any, x: (3,)) -> Any:  # type: ignore[valid-type]
        def step(k: Any, total: Any, chosen: Any) -> Any:
            total = total + (chosen[k] + chosen[k])
            chosen[k] = ~chosen[k]
            return total

        total, chosen = wd.kernels.loop(3, step, 0.0, x > 0)

        def second(k: Any, state: Any, chosen: Any) -> Any:
            chosen[k] = 5.0
            return state

        _, filled = wd.kernels.loop(2, second, 0.0, np.stack([x > 9, x > 9])[:, :2])
        return {"total": total, "chosen": chosen[:], "filled": filled[:]}

    x = np.array([[1.0, -2.0, 3.0], [-1.0, -1.0, 0.5]])
    for found in (flags(MODEL, x), wd.oracle(flags, MODEL, x)):
        assert np.asarray(found.total).tolist() == [2.0, 1.0]
        assert np.array_equal(found.chosen, x <= 0) and np.all(found.filled)
    assert flags(MODEL, x).chosen.dtype == bool


def test_a_row_of_one_number_is_a_scalar() -> None:
    """`new = old; new += 1` does not change `old`, in loops with and without arrays."""

    @wd.kernel
    def count_up(robot: Any, x: (3,)) -> Any:  # type: ignore[valid-type]
        def step(k: Any, total: Any, rows: Any) -> Any:
            old = new = rows[k]
            new += 1.0
            rows[k] = new
            return total + old

        total, rows = wd.kernels.loop(3, step, 0.0, x)

        def swap(state: Any) -> Any:
            first, second = state
            before = first
            first += second
            return first, before

        return total, rows[:], *wd.kernels.repeat(3, swap, (x[0], x[1]))

    x = np.array([[1.0, 2.0, 4.0]])
    total, rows, first, second = wd.oracle(count_up, MODEL, x)
    assert (total, first, second) == (7.0, 7.0, 4.0) and rows.tolist() == [[2.0, 3.0, 5.0]]
