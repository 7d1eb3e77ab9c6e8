"""Values of several links or joints in one array, whatever their types."""

from __future__ import annotations

import numpy as np
import pytest
from array_kinds import LIBRARIES, host, make_array, usable

from warpdyn.arrays.stacking import count_of, shape_of, stack_values

DRAW = np.random.default_rng(2)
MANY, ONE = DRAW.normal(size=(9, 3)), DRAW.normal(size=3)


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest, device: str) -> str:
    usable(request.param, device=device)
    return request.param


def test_stacked_values_are_entries_of_the_result(
    library: str, dtype: np.dtype, device: str
) -> None:
    """Entry [e, k] is environment e's value k. A single value, an array or a list, is used for all
    environments."""
    many, one = (
        make_array(library, MANY.astype(dtype), device=device),
        make_array(library, ONE.astype(dtype), device=device),
    )
    found = stack_values([many, one, ONE.tolist()], (3,), 9)
    assert type(found) is type(many) and found.dtype == many.dtype and found.shape == (9, 3, 3)
    assert np.array_equal(host(found)[:, 0], MANY.astype(dtype))
    for k in (1, 2):
        assert np.array_equal(host(found)[:, k], np.tile(ONE.astype(dtype), (9, 1)))


def test_scalars_are_stacked(library: str, device: str) -> None:
    """Their shape is ()."""
    found = stack_values([make_array(library, MANY[:, 0], device=device), 2.0], (), 9)
    assert np.array_equal(host(found), np.stack([MANY[:, 0], np.full(9, 2.0)], 1))


def test_single_values_have_no_environments(library: str, device: str) -> None:
    """The shape is (k, *shape) if `count` is None."""
    found = stack_values(
        [make_array(library, ONE, device=device), make_array(library, 2 * ONE, device=device)],
        (3,),
        None,
    )
    assert np.array_equal(host(found), np.stack([ONE, 2 * ONE]))


@pytest.mark.parametrize("name", ["numpy", "torch", "warp"])
def test_stacked_environments_are_adjacent(name: str, device: str) -> None:
    """A kernel reads them one vector at a time."""
    usable(name, device=device)
    found = stack_values(
        [make_array(name, MANY, device=device), make_array(name, ONE, device=device)], (3,), 9
    )
    first = found.stride()[0] if name == "torch" else found.strides[0] // 8
    assert first == 1


def test_a_dtype_may_be_requested(library: str, device: str) -> None:
    """Every library takes NumPy's name of it. Otherwise it is that of the first array, or
    float64."""
    assert (
        host(
            stack_values([make_array(library, MANY, device=device), ONE], (3,), 9, np.float32)
        ).dtype
        == np.float32
    )
    assert (
        host(
            stack_values([make_array(library, MANY, device=device), ONE], (3,), 9, "float32")
        ).dtype
        == np.float32
    )
    assert stack_values([[1, 2], [3, 4]], (2,), None).dtype == np.float64


def test_numpys_values_may_be_stacked_with_other_libraries(library: str, device: str) -> None:
    """The result is the other library's array, in any order."""
    found = stack_values([MANY, make_array(library, ONE, device=device)], (3,), 9)
    assert type(found) is type(make_array(library, ONE, device=device))
    assert np.array_equal(host(found)[:, 0], MANY)


def test_count_of_gives_the_number_of_environments() -> None:
    """It is the leading dimension of a value that has one, None if all are single, or `envs` if it
    is given."""
    assert count_of("mass", {"a": 1.0, "b": np.zeros(4)}, (), None) == 4
    assert count_of("com", {"a": ONE, "b": [1, 2, 3]}, (3,), None) is None
    assert count_of("com", {"a": ONE}, (3,), 6) == 6
    assert shape_of([[1, 2, 3]]) == shape_of(np.zeros((1, 3))) == (1, 3) and shape_of(1.0) == ()


@pytest.mark.parametrize(
    ("shape", "values", "envs", "message"),
    [
        ((3,), {"a": np.zeros(4)}, None, r'com of "a" must be \(3,\) or \(B, 3\), got \(4,\)'),
        ((), {"a": np.zeros((4, 1))}, None, r'com of "a" must be a number or \(B,\), got \(4, 1\)'),
        ((2, 2), {"a": 1.0}, None, r"must be \(2, 2\) or \(B, 2, 2\), got \(\)"),
        ((), {"a": np.zeros(4), "b": np.zeros(5)}, None, '"a": 4, "b": 5; give all of them'),
        ((), {"a": np.zeros(4)}, 3, 'different numbers of environments: envs: 3, "a": 4'),
    ],
)
def test_values_of_a_wrong_shape_are_refused(shape, values, envs, message: str) -> None:
    """The message has the shapes for one and for all environments, the shape that arrived, and the
    name."""
    with pytest.raises(ValueError, match=message):
        count_of("com", values, shape, envs)
