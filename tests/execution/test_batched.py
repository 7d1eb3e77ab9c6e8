"""Public functions as objects: they can be called, bound and inspected, and behave like
functions."""

from __future__ import annotations

import copy
import inspect
import pickle
import pydoc
import tracemalloc

import numpy as np
import pytest
from public_names import public_names
from robots import by_name
from states import error, states

import warpdyn as wd
from warpdyn.execution.batched import FUNCTIONS as BY_NAME
from warpdyn.execution.batched import Function, batched, bind_single, describe_call
from warpdyn.execution.request.call import Call

CLOSE = 1e-12
"""Relative to the largest entry: float64 compared with the oracle."""

FUNCTIONS = {f.__name__: f for f in public_names().values() if isinstance(f, Function)}


# Properties of functions.


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_its_name_module_and_docstring(name: str) -> None:
    """It is pickled by name, and a deep copy is the function itself."""
    function = FUNCTIONS[name]
    assert function.__name__ == name and function.__module__.startswith("warpdyn.functions.")
    assert function.__doc__ == function.describe.__doc__ and function.__doc__
    assert pickle.loads(pickle.dumps(function)) is function
    assert copy.deepcopy(function) is function
    assert repr(function) == f"<function {function.__module__}.{name}>"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_signature_is_that_of_describe_with_another_result(name: str) -> None:
    """The parameters and defaults are those of `describe`. The function does not return a
    `Call`."""
    ours, theirs = inspect.signature(FUNCTIONS[name]), inspect.signature(FUNCTIONS[name].describe)
    assert ours.parameters == theirs.parameters
    assert theirs.return_annotation == f"Call[{ours.return_annotation}]"


def test_help_shows_the_function() -> None:
    """It shows its signature, result and docstring, and not those of its class."""
    text = pydoc.plain(pydoc.render_doc(wd.rnea))
    assert "rnea(model: 'Model', q: 'Array[A]'" in text and "-> 'A'" in text
    assert "Inverse dynamics: joint forces" in text and "class Function" not in text


def test_functions_in_a_class_body_become_methods() -> None:
    """Every function does. The instance is the first argument."""

    class Robot:
        step = wd.convert.matrix_to_pose

    assert Robot.step is wd.convert.matrix_to_pose
    with pytest.raises(TypeError, match="Robot"):
        Robot().step()


def test_functions_of_models_are_distinguished_from_others() -> None:
    """The first argument decides: conversions of poses, and functions of functions, have
    another."""
    others = {name for name, function in FUNCTIONS.items() if not function.of_a_model}
    assert {"vjp", "jvp", "derivatives", "matrix_to_pose", "convert_twist"} <= others
    assert not {"rnea", "fk", "inverse_kinematics", "convert_velocity"} & others
    pose = FUNCTIONS["matrix_to_pose"](np.eye(4))
    assert np.array_equal(pose, [0, 0, 0, 0, 0, 0, 1])


def test_functions_by_name_are_warpdyns_functions_of_arrays() -> None:
    """Those that take a function are not included. A user's function of the same name changes
    nothing."""

    def rnea(model: wd.Model, q: np.ndarray) -> Call[np.ndarray]:
        """Another one."""
        raise NotImplementedError

    own = batched(rnea)
    assert isinstance(own, Function) and isinstance(batched(mine), Function)
    assert BY_NAME["rnea"] is wd.rnea and "mine" not in BY_NAME
    ours = [each for each in vars(wd).values() if isinstance(each, Function)]
    assert {"vjp", "jvp"} <= {each.__name__ for each in ours}
    for each in ours:
        is_of_arrays = next(iter(inspect.signature(each).parameters)) != "function"
        assert (BY_NAME.get(each.__name__) is each) == is_of_arrays


def mine(model: wd.Model, q: np.ndarray) -> Call[np.ndarray]:
    """A user's function."""
    raise NotImplementedError


def test_batched_runs_a_users_algorithm() -> None:
    """It runs like the algorithms of the package."""

    def double(tree, q):
        return [x + x for x in q]

    @batched
    def twice(model: wd.Model, q: np.ndarray) -> Call[np.ndarray]:
        return Call("doubled", model, (double,), {"q": q})

    model = by_name("cartpole").model
    q = states(model, 3).q
    assert np.array_equal(twice(model, q), 2 * q)
    assert np.array_equal(twice(model, q=q), 2 * q)
    assert np.array_equal(twice(q=q, model=model), 2 * q)
    assert np.array_equal(wd.bind(twice, model, q)(), 2 * q)
    assert describe_call(twice, (model, q), {}).name == "doubled"
    with pytest.raises(TypeError, match=r"the first argument must be a Model.*got ndarray"):
        twice(q, q)
    with pytest.raises(TypeError, match=r"the first argument must be a Model.*got ndarray"):
        twice(q, q=q)


# Bound calls.


def test_a_bound_call_reads_its_arrays_at_each_run(device: str) -> None:
    """It writes into the same result array, and returns it."""
    model = by_name("panda").model
    s = states(model, 33)
    given = [x.copy() for x in (s.q, s.v, s.a)]
    if device != "cpu":
        pytest.skip("changes NumPy arrays in place")
    tau = np.full_like(s.v, np.nan)
    run = wd.bind(wd.rnea, model, *given, out=tau)
    for turn in range(3):
        later = states(model, 33, seed=turn + 1)
        for array, values in zip(given, (later.q, later.v, later.a), strict=True):
            array[...] = values
        tau[...] = np.nan
        assert run() is tau
        assert error(tau, wd.oracle(wd.rnea, model, later.q, later.v, later.a)) <= CLOSE


def test_a_bound_call_allocates_its_result_once() -> None:
    """The call is bound without out=. Each run returns the same array."""
    model = by_name("cartpole").model
    s = states(model, 8)
    run = wd.bind(wd.crba, model, s.q)
    first = run()
    assert run() is first and error(first, wd.oracle(wd.crba, model, s.q)) <= CLOSE


@pytest.mark.parametrize("dtype", (np.float64, np.float32))
@pytest.mark.parametrize("columns", (False, True), ids=("rows", "columns"))
@pytest.mark.parametrize("count", (1, 8, 16, 64, 1024))
def test_two_bound_calls_may_write_one_array(count: int, columns: bool, dtype: type) -> None:
    """The result is complete after each run, with its constant entries, whatever else wrote into
    the array.
    """
    model = by_name("cartpole").model
    q = states(model, count).q.astype(dtype)
    wanted = [wd.fk(model, q[:, [0, 1]]), wd.fk(model, q[:, [1, 0]])]
    shape = (count, model.nlinks, 4, 4)
    T = np.zeros((*shape[1:], count), dtype) if columns else np.zeros(shape, dtype)
    T = np.moveaxis(T, -1, 0) if columns else T
    runs = [wd.bind(wd.fk, model, q[:, order].copy(), out=T) for order in ([0, 1], [1, 0])]
    for _ in range(2):
        for run, right in zip(runs, wanted, strict=True):
            T[...] = np.nan
            assert run() is T and np.array_equal(T, right)
    mass = np.zeros((count, model.nv, model.nv), dtype)
    runs = [wd.bind(wd.crba, model, q, out=mass), wd.bind(zero_matrix, model, q, out=mass)]
    for _ in range(2):
        assert np.array_equal(runs[1](), 0 * mass)
        assert np.array_equal(runs[0](), wd.crba(model, q))


@wd.kernel
def zero_matrix(robot: wd.kernels.Robot, q: np.ndarray) -> np.ndarray:
    return np.zeros((2, 2))


def test_constants_can_be_written_once() -> None:
    """The caller must not overwrite structural zeros and ones with constants="once". Other words
    are refused.
    """
    model = by_name("cartpole").model
    q, T = states(model, 20).q, np.full((20, model.nlinks, 4, 4), np.nan)
    run = wd.bind(wd.fk, model, q, out=T, constants="once")
    run()
    assert error(T, wd.oracle(wd.fk, model, q)) <= CLOSE
    with pytest.raises(ValueError, match='constants must be "each_run" or "once", got \'twice\''):
        wd.bind(wd.fk, model, q, out=T, constants="twice")  # type: ignore[call-overload]


@wd.kernel
def add_constant(
    robot: wd.kernels.Robot, q: np.ndarray, *, constants: str = "each_run"
) -> np.ndarray:
    return q + (2.0 if constants == "twice" else 1.0)


def test_an_option_named_constants_belongs_to_the_kernel() -> None:
    model = by_name("cartpole").model
    q = states(model, 3).q
    assert np.array_equal(wd.bind(add_constant, model, q, constants="twice")(), q + 2.0)  # type: ignore[call-overload]


def test_bound_calls_keep_their_arrays_alive() -> None:
    """The memory of arrays that the caller has released is not freed."""
    model = by_name("panda").model
    s = states(model, 500)
    run = wd.bind(wd.rnea, model, s.q.copy(), s.v.copy(), s.a.copy())
    rubbish = [np.full_like(s.q, np.nan) for _ in range(50)]
    assert (
        error(run(), wd.oracle(wd.rnea, model, s.q, s.v, s.a)[:500]) <= CLOSE and len(rubbish) == 50
    )


def test_a_bound_call_allocates_no_array() -> None:
    """NumPy's memory grows by far less than one array of the call while it runs."""
    model = by_name("panda").model
    s = states(model, 5000)
    run = wd.bind(wd.rnea, model, s.q, s.v, s.a)
    run()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(20):
            run()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak - before < s.q.nbytes / 10


def test_bound_calls_of_one_kernel_are_independent() -> None:
    """Two bound calls and plain calls between them use their own arrays."""
    model = by_name("cartpole").model
    one, two = states(model, 8, seed=1), states(model, 13, seed=2)
    runs = [wd.bind(wd.crba, model, s.q) for s in (one, two)]
    for _ in range(2):
        for run, s in zip(runs, (one, two), strict=True):
            wd.crba(model, s.q[::-1])
            assert error(run(), wd.oracle(wd.crba, model, s.q)) <= CLOSE


def test_bind_single_binds_one_environment() -> None:
    """The results are those of a call. More environments are refused."""
    model = wd.load_robot("panda")
    s = states(model, 2)
    run = bind_single(wd.rnea, model, s.q[:1], s.v[:1], s.a[:1])
    assert np.allclose(run(), wd.rnea(model, s.q[:1], s.v[:1], s.a[:1]), atol=1e-9)
    with pytest.raises(ValueError, match="for one environment on the CPU, got 2 on cpu"):
        bind_single(wd.rnea, model, s.q, s.v, s.a)


def test_bind_needs_a_batched_function() -> None:
    """The message for any other function says which can be bound."""
    with pytest.raises(
        TypeError, match=r"one of warpdyn's batched functions, such as wd\.rnea, got sin"
    ):
        wd.bind(np.sin, 1.0)
    with pytest.raises(TypeError, match="one of warpdyn's batched functions"):
        wd.oracle(print)
    with pytest.raises(TypeError, match="got Model"):
        wd.bind(wd.load_robot("ur5e"), wd.rnea)


def test_a_bound_call_reads_its_gravity_at_each_run() -> None:
    """Gravity is an array of three numbers."""
    model = by_name("panda").model
    s, gravity = states(model, 5), np.array([0.0, 0.0, -9.81])
    zero = np.zeros_like(s.v)
    run = wd.bind(wd.rnea, model, s.q, zero, zero, gravity=gravity)
    once = run().copy()
    gravity *= 2.0
    np.testing.assert_allclose(run(), 2.0 * once, rtol=1e-12, atol=1e-12)


def test_a_bound_call_refuses_lists() -> None:
    """It would read them once, so that a change between two runs had no effect."""
    model = wd.load_robot("double_pendulum")
    with pytest.raises(
        TypeError, match="bind reads v at each run, so it must be an array, got a list"
    ):
        wd.bind(wd.rnea, model, np.zeros(2), [0.0, 0.0], np.zeros(2))
    with pytest.raises(TypeError, match="bind reads q at each run"):
        wd.bind(wd.gravity_torques, model, (0.0, 0.0))
