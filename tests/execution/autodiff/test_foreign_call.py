"""Kernels that XLA calls: the results are those of calls from Python, on one thread and several,
also in a `compiling` block."""

from __future__ import annotations

import gc
import sys
from copy import copy
from typing import Any
from weakref import ref

import numpy as np
import pytest
from native_calls import plans_of

import warpdyn as wd
from warpdyn.execution import threads
from warpdyn.execution.autodiff import foreign_call, jax_gradients
from warpdyn.execution.batched import Function

jax = pytest.importorskip("jax")

ARM = wd.load_robot("ur5e")


def random_states(count: int, seed: int) -> list[np.ndarray]:
    """Random q, v and a of the arm."""
    draw = np.random.default_rng(seed)
    return [draw.uniform(-1.0, 1.0, (count, 6)).astype(np.float32) for _ in range(3)]


def jax_arrays(arrays: list[np.ndarray]) -> list[Any]:
    return [jax.numpy.asarray(x) for x in arrays]


def forbid_python_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the test fail if a Python function launches a kernel after this."""

    def launch(*args: Any) -> None:
        raise AssertionError("a kernel was launched by Python")

    monkeypatch.setattr("warpdyn.execution.launch.job.Job.launch_once", launch)


@pytest.mark.parametrize("count", [1, 7, 20_011])
@pytest.mark.parametrize("number", [1, 3, None])
def test_jit_launches_without_python(
    count: int, number: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every robot's row equals NumPy's, bit for bit, whichever thread of XLA computed it."""
    first, second = random_states(count, 1), random_states(count, 2)
    wanted = wd.rnea(ARM, *second)
    run = jax.jit(lambda *x: wd.rnea(ARM, *x))
    monkeypatch.setattr(threads, "ENOUGH", 0.0 if count > 100 else threads.ENOUGH)
    monkeypatch.setattr(threads, "SLICE", 1e-6)
    before = threads._wanted.value
    try:
        wd.runtime.set_num_threads(number)
        run(*jax_arrays(first))
        forbid_python_launches(monkeypatch)
        assert np.array_equal(run(*jax_arrays(second)), wanted)
    finally:
        wd.runtime.set_num_threads(before or None)


SHAPES: dict[str, Any] = {
    "rows": lambda x: ((ARM, *x), {}),
    "one robot": lambda x: ((ARM, *(y[0] for y in x)), {}),
    "trajectories": lambda x: ((ARM, *(y.reshape(2, -1, 6) for y in x)), {}),
    "one row for all": lambda x: ((ARM, x[0], x[1][0], x[2]), {}),
    "one array for two": lambda x: ((ARM, x[0], x[1], x[1]), {}),
    "at rest": lambda x: ((ARM, x[0], None, x[2]), {}),
    "gravity": lambda x: ((ARM, *x), {"gravity": [0.0, 0.0, -3.7]}),
    "its gravity each": lambda x: ((ARM, *x), {"gravity": x[0][:, :3]}),
    "forces": lambda x: ((ARM, *x), {"f_ext": {"wrist_3_link": 2 * x[1], "forearm_link": -x[2]}}),
    "params": lambda x: (
        (ARM, *x),
        {"params": ARM.params(mass={"forearm_link": x[0][:, 0] + 3.0})},
    ),
}


@pytest.mark.parametrize("case", SHAPES)
def test_the_third_plain_call_is_executed_by_xla(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The result equals NumPy's."""
    given = [SHAPES[case](jax_arrays(random_states(6, seed))) for seed in (1, 2, 3)]
    wd.gravity_torques(ARM, given[0][0][1])  # by which JAX' arrays are known
    args, words = SHAPES[case](random_states(6, 3))
    wanted = wd.rnea(*args, **words)
    for args, words in given[:2]:
        wd.rnea(*args, **words)
    forbid_python_launches(monkeypatch)
    args, words = given[2]
    found = wd.rnea(*args, **words)
    assert isinstance(found, jax.Array) and found.shape == wanted.shape
    assert np.array_equal(found, wanted)


def test_calls_by_xla_return_large_batches_and_several_results() -> None:
    """The batch is large enough for several threads. Results are a tuple or have names."""
    wanted = wd.rnea_derivatives(ARM, *random_states(9_000, 3))
    for seed in (1, 2, 3):
        found = wd.rnea_derivatives(ARM, *jax_arrays(random_states(9_000, seed)))
    assert len(found) == len(wanted)
    assert all(np.array_equal(x, y) for x, y in zip(found, wanted, strict=True))


def test_a_cached_call_can_be_part_of_a_trace() -> None:
    """Arrays that JAX does not trace may be constants of a compiled function."""
    arrays = jax_arrays(random_states(2, 1))
    for _ in range(3):
        outside = wd.rnea(ARM, *arrays)
    found = jax.jit(lambda scale: scale * wd.rnea(ARM, *arrays))(2.0)
    assert np.array_equal(found, 2.0 * outside)


def test_cached_calls_do_not_keep_their_model_alive() -> None:
    """The cached plans are removed with the model."""
    model, arrays = copy(wd.load_robot("ur5e")), jax_arrays(random_states(2, 1))
    assert isinstance(wd.rnea, Function)
    known = len(plans_of(wd.rnea))
    for _ in range(3):
        wd.rnea(model, *arrays)
    assert len(plans_of(wd.rnea)) == known + 1
    gone = ref(model)
    del model
    gc.collect()
    assert gone() is None and len(plans_of(wd.rnea)) == known


def test_kernels_of_a_compiling_block_are_compiled_at_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A jitted function returns zeros inside the block. After the block it runs the kernel."""
    arrays = jax_arrays(random_states(3, 4))
    run = jax.jit(lambda *x: wd.rnea(ARM, *x, gravity=[0.0, 0.0, -1.6]))
    with wd.kernels.compiling():
        assert not np.any(run(*arrays))
    wanted = wd.rnea(ARM, *random_states(3, 4), gravity=[0.0, 0.0, -1.6])
    assert np.array_equal(run(*arrays), wanted)
    forbid_python_launches(monkeypatch)
    assert np.array_equal(run(*arrays), wanted)


def test_a_kernel_that_cannot_be_compiled_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel was noted in a block that raised, and its later compile fails: there is no result,
    and the cause is on stderr."""
    arrays = jax_arrays(random_states(3, 4))
    run = jax.jit(lambda *x: wd.rnea(ARM, *x, gravity=[0.0, 0.0, -1.6]))
    with pytest.raises(ZeroDivisionError), wd.kernels.compiling():
        run(*arrays)
        raise ZeroDivisionError

    def fail(call: Any) -> int:
        raise OSError("no room")

    causes: list[str] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda each: causes.append(str(each.exc_value)))
    monkeypatch.setattr(foreign_call.ForeignCall, "_load", fail)
    with pytest.raises(Exception, match="a kernel of warpdyn could not be compiled: see stderr"):
        run(*arrays).block_until_ready()
    assert causes == ["no room"]


def test_debug_mode_checks_numbers_inside_jit() -> None:
    """A function compiled in debug mode refuses numbers that are not finite."""
    bad = jax_arrays(random_states(3, 4))
    bad[0] = bad[0].at[1, 2].set(np.nan)
    wd.config.debug = True
    try:
        with pytest.raises(Exception, match="q"):
            jax.jit(lambda *x: wd.rnea(ARM, *x))(*bad).block_until_ready()
    finally:
        wd.config.debug = False


def test_python_is_called_if_warp_has_no_address_of_a_kernel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only time is lost."""
    monkeypatch.setattr(jax_gradients, "_register_handler", lambda: False)
    arrays = random_states(5, 6)
    found = jax.jit(lambda *x: wd.rnea(ARM, *x))(*jax_arrays(arrays))
    assert np.array_equal(found, wd.rnea(ARM, *arrays))
