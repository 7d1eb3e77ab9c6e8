"""Arrays of every library as arguments and results; refusals say what is needed, what arrived, and
what to do."""

from __future__ import annotations

import numpy as np
import pytest
import warp as wp
from array_kinds import LIBRARIES, host, make_array, usable
from robots import by_name
from states import error, states

import warpdyn as wd
from warpdyn.arrays import views
from warpdyn.arrays.views import view

CLOSE = {"float64": 1e-12, "float32": 1e-5}
"""Relative to the largest entry, compared with the oracle."""

LAYOUTS = ("rows", "environments_last")


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest) -> str:
    usable(request.param)
    return request.param


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("count", [1, 37, None])
def test_results_have_the_library_dtype_and_device_of_the_inputs(
    library: str, layout: str, count: int | None, dtype: np.dtype, device: str
) -> None:
    """The numbers are the oracle's, and the inputs do not change."""
    usable(library, device)
    model = by_name("panda").model
    s = states(model, count or 1).rounded(dtype)
    rows = [x.astype(dtype) if count else x[0].astype(dtype) for x in (s.q, s.v, s.a)]
    given = [make_array(library, x, device, layout if count else "rows") for x in rows]
    result = wd.rnea(model, *given)
    assert type(result) is type(given[0])
    assert host(result).dtype == dtype and tuple(result.shape) == (*rows[0].shape[:-1], model.nv)
    assert str(result.device) == str(given[0].device)
    wanted = wd.oracle(wd.rnea, model, *(x.astype(float) for x in rows))
    assert error(host(result), wanted) <= CLOSE[str(dtype)]
    assert all(np.array_equal(host(a), x) for a, x in zip(given, rows, strict=True))
    poses = wd.fk(model, given[0])
    assert type(poses) is type(given[0]) and tuple(poses.shape) == (
        *rows[0].shape[:-1],
        model.nlinks,
        4,
        4,
    )
    assert error(host(poses), wd.oracle(wd.fk, model, rows[0].astype(float))) <= CLOSE[str(dtype)]


def test_arguments_may_be_given_by_name(library: str, device: str) -> None:
    """The result of q=array is also an array of its library."""
    usable(library, device)
    model = by_name("cartpole").model
    q = make_array(library, states(model, 5).q, device)
    assert type(wd.crba(model, q=q)) is type(q)
    assert type(wd.crba(model=model, q=q)) is type(q)


@pytest.mark.parametrize("library", ["numpy", "torch", "warp"])
def test_results_are_written_into_out(library: str, dtype: np.dtype, device: str) -> None:
    """The returned array is `out` itself, without a copy. A second call writes into it again."""
    usable(library, device)
    model = by_name("cartpole").model
    s = states(model, 21)
    q = make_array(library, s.q.astype(dtype), device)
    out = make_array(library, np.full((21, model.nv, model.nv), np.nan, dtype), device)
    address = view("out", out).address
    assert wd.crba(model, q, out=out) is out and view("out", out).address == address
    assert error(host(out), wd.oracle(wd.crba, model, s.q)) <= CLOSE[str(dtype)]


def test_forces_and_gravity_may_be_arrays_of_any_library(library: str, device: str) -> None:
    """Forces in both forms, and gravity as (B, 3), (3,) or a list."""
    usable(library, device)
    model = by_name("mimic_branches").model
    s = states(model, 9)
    q, v, a = (make_array(library, x, device) for x in (s.q, s.v, s.a))
    wanted = wd.oracle(wd.rnea, model, s.q, s.v, s.a, gravity=s.gravity, f_ext=s.forces)
    found = wd.rnea(
        model,
        q,
        v,
        a,
        gravity=make_array(library, s.gravity, device),
        f_ext=make_array(library, s.forces, device),
    )
    assert error(host(found), wanted) <= CLOSE["float64"]
    one = [1.0, -2.0, 3.0]
    wanted = wd.oracle(wd.rnea, model, s.q, s.v, s.a, gravity=one, f_ext={"tip": s.forces[:, 0]})
    forces = {"tip": make_array(library, s.forces[:, 0].copy(), device)}
    for gravity in (one, tuple(one), np.array(one), make_array(library, np.array(one), device)):
        assert (
            error(host(wd.rnea(model, q, v, a, gravity=gravity, f_ext=forces)), wanted)
            <= CLOSE["float64"]
        )


def test_lists_give_float64_numpy_arrays() -> None:
    """They may contain the numbers of one robot or of several."""
    model = by_name("cartpole").model
    tau = wd.rnea(model, [0.1, 0.2], (0.0, 0.0), [0.0, 1.0])
    assert isinstance(tau, np.ndarray) and tau.dtype == np.float64 and tau.shape == (2,)
    assert wd.rnea(model, [[0.1, 0.2]] * 3, [[0.0, 0.0]] * 3, [[0.0, 0.0]] * 3).shape == (3, 2)


def test_results_have_the_memory_order_of_q() -> None:
    """So results in columns stay fast inputs for the next call."""
    model = by_name("cartpole").model
    q = np.ascontiguousarray(states(model, 64).q.T).T
    assert wd.crba(model, q).strides[0] == 8 and wd.crba(model, q.copy()).strides[-1] == 8


# Refusals.


def arguments(count: int = 4) -> tuple:
    model = by_name("panda").model
    s = states(model, count)
    return model, s.q, s.v, s.a


def test_mixed_libraries_are_refused() -> None:
    """The message says which array has which library, and which one to convert."""
    model, q, v, a = arguments()
    with pytest.raises(TypeError, match=r"one library: q is numpy, v is warp; convert v to numpy"):
        wd.rnea(model, q, wp.array(v), a)
    with pytest.raises(TypeError, match=r"q is numpy, out is warp; convert out to numpy"):
        wd.crba(model, q, out=wp.zeros((4, model.nv, model.nv), dtype=wp.float64))
    with pytest.raises(TypeError, match=r"f_ext:\w+ is warp; convert"):
        wd.rnea(model, q, v, a, f_ext={model.link_names[-1]: wp.zeros((4, 6), dtype=wp.float64)})


def test_mixed_dtypes_are_refused() -> None:
    """float32 and float64 cannot be mixed in one call."""
    model, q, v, a = arguments()
    with pytest.raises(
        TypeError, match=r"one dtype: q is float64, a is float32; convert a to float64"
    ):
        wd.rnea(model, q, v, a.astype(np.float32))
    with pytest.raises(
        TypeError, match=r"one dtype: q is float32, out is float64; convert out to float32"
    ):
        wd.crba(model, q.astype(np.float32), out=np.zeros((4, model.nv, model.nv)))


@pytest.mark.parametrize("thing", [3.0, "q", {"q": 1}, object()])
def test_objects_that_are_not_arrays_are_refused(thing: object) -> None:
    """The message says what is accepted and what arrived."""
    model, q, _, a = arguments()
    with pytest.raises(
        TypeError,
        match=f"v must be a NumPy, Torch, Warp or JAX array of float32 or float64, got {type(thing).__name__}",
    ):
        wd.rnea(model, q, thing, a)
    with pytest.raises(TypeError, match=r"q must be a NumPy, Torch.* array .*, got NoneType"):
        wd.rnea(model, None, a, a)


def test_wrong_shapes_are_explained() -> None:
    """The error says what is needed in letters and numbers, what arrived, and what the numbers may
    have meant.
    """
    model, q, v, a = arguments()
    n = model.nv
    fingers = "mimic joint|mimic joints"
    with pytest.raises(
        ValueError,
        match=rf"q must be \(B, nq\) = \(B, {n}\), got \(4, {n + 1}\)\. panda has {n} coordinates: .*({fingers})",
    ):
        wd.rnea(model, np.hstack([q, q[:, :1]]), v, a)
    with pytest.raises(ValueError, match=rf"v must be \(B, nv\) = \(4, {n}\), got \(5, {n}\)"):
        wd.rnea(model, q, np.vstack([v, v[:1]]), a)
    with pytest.raises(
        ValueError, match=rf"a must be \(nv,\) = \({n},\), as q is of one robot, got \({n - 1},\)"
    ):
        wd.rnea(model, q[0], v[0], a[0, 1:])
    with pytest.raises(ValueError, match=rf"q must be .*\({n},\).*got \(3,\)"):
        wd.crba(model, q[0, :3])
    with pytest.raises(ValueError, match=r"q must be"):
        wd.crba(model, np.array(1.0))
    with pytest.raises(ValueError, match=rf"out must be \(4, {n}, {n}\), got \(4, {n}\)"):
        wd.crba(model, q, out=np.zeros((4, n)))
    with pytest.raises(ValueError, match=r"gravity must be \(B, 3\) = \(4, 3\), got \(4, 2\)"):
        wd.rnea(model, q, v, a, gravity=np.zeros((4, 2)))
    with pytest.raises(
        ValueError,
        match=rf"f_ext must be \(B, nlinks, 6\) = \(4, {model.nlinks}, 6\), got \(4, 6\)",
    ):
        wd.rnea(model, q, v, a, f_ext=np.zeros((4, 6)))
    floating = by_name("quadruped_floating").model
    with pytest.raises(
        ValueError,
        match=r"q must be .*\(B, 19\), got \(4, 18\)\. \w+ has 19 coordinates, the base's first",
    ):
        wd.crba(floating, np.zeros((4, 18)))


@pytest.mark.parametrize("count", [1, 5, None])
def test_a_number_for_each_row_is_a_column(library: str, count: int | None) -> None:
    """A single number becomes a list. An array has one entry for each row of the other array."""
    like = make_array(library, np.ones((count, 3) if count else 3))
    for one in (2, 2.0, np.float32(2.0), np.array(2.0)):
        assert views.column("t", one, like) == [2.0]
    if count:
        rows = np.arange(count) + 1.0
        found = views.column("t", make_array(library, rows), like)
        np.testing.assert_array_equal(host(found), rows[:, None])
    elif library != "warp":  # whose arrays have a dimension at least
        (found,) = host(views.column("t", make_array(library, np.array(2.0)), like))
        assert found == 2.0
    with pytest.raises(ValueError, match=r"t must be a number, or one for each row"):
        views.column("t", make_array(library, np.ones(7)), like)
    with pytest.raises(TypeError, match="got list"):
        views.column("t", [1.0], like)


@pytest.mark.parametrize("values", [None, "0.5", [0.0, None], [[0.0], ["a"]], (b"1",)])
def test_entries_that_are_no_numbers_are_refused(values: object) -> None:
    """NumPy takes None for NaN, and text for a number."""
    with pytest.raises(TypeError, match=r"^q must be numbers, got "):
        views.check_entries("q", values)
    views.check_entries("q", [[0.0, 1], np.zeros(2)])
