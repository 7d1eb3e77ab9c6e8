"""Arguments of a user's kernel: plain numbers, defaults, numbered environments, missing arguments."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.arrays.libraries import library_of
from warpdyn.user_kernels import own_kernel

MODEL = wd.load_robot("cartpole")


@wd.kernel
def scale(robot: Any, q: Any, by: () = 2.0, *, power: int = 1) -> Any:  # type: ignore[valid-type]
    """q times a number to a power."""
    return q * by**power


def test_a_kernel_of_a_module_is_pickled_by_its_name() -> None:
    assert pickle.loads(pickle.dumps(scale)) is scale


def test_a_kernel_needs_an_array() -> None:
    """Defaults do not determine the number of environments."""

    @wd.kernel
    def alone(robot: Any, by: () = 2.0) -> Any:  # type: ignore[valid-type]
        return by

    with pytest.raises(TypeError) as refused:
        alone(MODEL)
    wanted = f"{alone.__name__} needs an array, to know how many environments there are"
    assert str(refused.value) == wanted
    assert np.array_equal(wd.oracle(alone, MODEL, np.array([1.0, 3.0])), [1.0, 3.0])


def test_options_and_arrays_are_accepted_by_name_in_any_order() -> None:
    """The array `by` and the option `power` have defaults."""
    q = np.array([[1.0, -3.0]])
    for found in (
        wd.oracle(scale, MODEL, q, 3.0, power=2),
        wd.oracle(scale, MODEL, power=2, by=3.0, q=q),
        wd.oracle(scale, MODEL, q, by=3.0, power=2),
    ):
        assert np.array_equal(found, 9.0 * q)
    assert np.array_equal(wd.oracle(scale, MODEL, q), 2.0 * q)


@pytest.mark.parametrize(
    ("given", "named", "said"),
    [
        (((0.0, 0.0), 1.0, 2.0), {}, "too many positional arguments"),
        ((), {}, "missing a required argument: 'q'"),
        (((0.0, 0.0),), {"q": (0.0, 0.0)}, "multiple values for argument 'q'"),
        (((0.0, 0.0),), {"nonsense": 1}, "got an unexpected keyword argument 'nonsense'"),
    ],
)
def test_arguments_that_do_not_fit_the_signature_are_refused(
    given: tuple, named: dict, said: str
) -> None:
    """The message is Python's, after the kernel's name and signature."""
    with pytest.raises(TypeError) as refused:
        scale(MODEL, *given, **named)
    assert str(refused.value) == f"scale{scale.signature.call}: {said}"


def test_an_option_without_a_default_is_required() -> None:
    @wd.kernel
    def raise_to_power(robot: Any, q: Any, *, power: int) -> Any:
        return q**power

    with pytest.raises(TypeError, match="missing a required argument: 'power'"):
        raise_to_power(MODEL, np.ones((1, 2)))
    assert np.array_equal(
        wd.oracle(raise_to_power, MODEL, np.full((1, 2), 3.0), power=2), [[9.0, 9.0]]
    )


def test_an_unhashable_option_is_refused() -> None:
    """The first one is named, with the remedy."""
    with pytest.raises(TypeError) as refused:
        scale(MODEL, np.ones((1, 2)), power=[1])
    assert str(refused.value) == (
        "scale: the option power is a list, which is not hashable: options are constants of the "
        "program (numbers, words, tuples); if it changes from call to call, make power an array: "
        "put it before the *"
    )


@pytest.mark.parametrize("on_cuda", [False, True])
def test_plain_numbers_become_arrays(on_cuda: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """One entry per environment, of the first array's dtype.

    On CUDA it is one number, passed by value.
    """
    q = np.zeros((3, 4, 2), np.float32)
    monkeypatch.setattr(type(library_of(q)), "on_cuda", lambda *_: on_cuda)
    found = own_kernel._as_arrays({"q": q, "by": 2.5}, {"q": (2,), "by": ()})
    assert found["q"] is q and found["by"].dtype == np.float32
    assert found["by"].shape == (() if on_cuda else (3, 4)) and np.all(found["by"] == 2.5)
    alone = own_kernel._as_arrays({"by": 2.5}, {"by": ()})["by"]
    assert alone.shape == () and alone.dtype == np.float64


def test_lists_become_arrays_of_float64() -> None:
    found = own_kernel._as_arrays({"q": [1, 2], "by": (3,)}, {"q": (2,), "by": ()})
    assert found["q"].dtype == found["by"].dtype == np.float64
    assert found["q"].shape == (2,) and found["by"].shape == (1,)


def test_more_environments_than_float32_can_number_are_refused() -> None:
    """2^24 can be numbered, and more in float64."""
    most = 1 << 24
    assert own_kernel._environments({"t": np.zeros((2, 3), np.float32)}, {"t": ()}).shape == (
        2,
        3,
        1,
    )
    numbers = own_kernel._environments(_without_memory(most, "f4"), {"t": ()})
    assert numbers.dtype == np.float32 and numbers[-1, 0] == most - 1
    with pytest.raises(ValueError) as refused:
        own_kernel._environments(_without_memory(most + 1, "f4"), {"t": ()})
    assert str(refused.value) == (
        "robot.env of 16777217 environments has no float32 numbers beyond 2^24; use float64"
    )
    assert own_kernel._environments(_without_memory(most + 1, "f8"), {"t": ()})[-1, 0] == most


def _without_memory(count: int, dtype: str) -> dict[str, np.ndarray]:
    return {"t": np.broadcast_to(np.zeros((), dtype), (count,))}


@wd.kernel
def weigh(robot: Any, x: (3,), weights: (3,) = (1.0, 2.0, 3.0), offset: (2,) = 0.5) -> Any:  # type: ignore[valid-type]
    """Twice the weighted numbers, and an offset of two entries."""
    weights[0] += 1.0  # a write reaches no later recording
    return np.concatenate([x * (weights * 2), offset[:2] + x[:2]])


def test_a_default_is_an_array_like_a_passed_one() -> None:
    """A tuple times 2 would be twice as long."""
    x = np.array([[1.0, 2.0, -1.0]])
    wanted = [[4.0, 8.0, -6.0, 1.5, 2.5]]
    for _ in range(2):
        assert wd.oracle(weigh, MODEL, x).tolist() == wanted
    weights = np.array([[1.0, 2.0, 3.0]])
    assert wd.oracle(weigh, MODEL, x, weights.copy(), np.full((1, 2), 0.5)).tolist() == wanted

    @wd.kernel
    def outer(robot: Any, x: (3,)) -> Any:  # type: ignore[valid-type]
        return weigh(robot, x) + weigh(robot, [*x], weights=(1.0, 2.0, 3.0), offset=[0.5, 0.5])

    assert wd.oracle(outer, MODEL, x).tolist() == (2 * np.array(wanted)).tolist()


def test_a_default_of_another_shape_is_refused() -> None:
    @wd.kernel
    def short(robot: Any, x: (3,), w: (3,) = (1.0, 2.0)) -> Any:  # type: ignore[valid-type]
        return x + np.sum(w)

    @wd.kernel
    def words(robot: Any, x: (3,), w: (3,) = "abc") -> Any:  # type: ignore[valid-type, assignment]
        return x

    for kernel in (short, words):
        with pytest.raises(TypeError, match=r"the default of 'w' must be one number, or numbers"):
            wd.oracle(kernel, MODEL, np.ones((1, 3)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda robot, x: weigh(robot, x[0]), r"weigh: x must have the shape \(3,\), got \(\)"),
        (
            lambda robot, x: weigh(robot, x, x[:2]),
            r"weights must have the shape \(3,\), got \(2,\)",
        ),
        (lambda robot, x: weigh(robot, x, out=x), "out= belongs to the call of the outer kernel"),
        (lambda robot, x: weigh(robot), "missing a required argument: 'x'"),
    ],
)
def test_a_kernel_in_a_kernel_refuses_arrays_of_other_shapes(call: Any, message: str) -> None:
    """As a call from outside does; a smaller array would be broadcast."""

    @wd.kernel
    def outer(robot: Any, x: (3,)) -> Any:  # type: ignore[valid-type]
        return call(robot, x)

    with pytest.raises(TypeError, match=message):
        wd.oracle(outer, MODEL, np.ones((1, 3)))
