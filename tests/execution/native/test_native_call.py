"""Calls from Python to a kernel in one C function give the results of checked calls. They leave
arrays of another kind to the checked path."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from copy import copy
from typing import Any
from weakref import ref

import numpy as np
import pytest
import warp as wp
from arm_calls import (
    ARM,
    FORMS,
    draw_states,
    each_thread_its_own,
    in_turns_within_one_array,
    its_own_result,
    refused_each_time,
)
from native_calls import forget, in_c, natively, nothing_known_of, plans_of, set_in_c

import warpdyn as wd
from warpdyn.execution.native import c_functions, native_call
from warpdyn.execution.native import native_call as chosen
from warpdyn.execution.repeat.planned_call import MISS, LaunchPlan


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    with nothing_known_of(wd.rnea):
        yield


def plan_count(function: Any) -> int:
    """The number of plans of a function in C."""
    return len(in_c(function))


CASES: dict[str, Any] = {
    **FORMS,
    "one array twice": lambda f, x: f(ARM, x[0], a=x[2], v=x[2]),
    "out before others": lambda f, x: f(ARM, x[0], out=np.empty_like(x[0]), a=x[2], v=x[1]),
}


DOUBLES = [("rows", np.float64), ("out", np.float64)]
"""Cases in float64. The C function compares the type of an array and never reads it."""


@pytest.mark.parametrize(("case", "dtype"), [*((case, np.float32) for case in CASES), *DOUBLES])
def test_the_third_call_uses_c_with_its_own_arrays(case: str, dtype: Any) -> None:
    """The result is a new array. Arrays of other sizes take the checked path."""
    call, first, second = CASES[case], draw_states(6, 1, dtype), draw_states(6, 2, dtype)
    wanted = call(wd.rnea, second)
    before = call(wd.rnea, first)
    kept = before.copy()
    assert plan_count(wd.rnea) == 1
    found = call(lambda *x, **y: natively(wd.rnea, *x, **y), second)
    assert found is not MISS
    its_own_result(found, wanted, before, kept)
    if case != "one robot":
        assert call(lambda *x, **y: natively(wd.rnea, *x, **y), draw_states(8, 2, dtype)) is MISS


OTHERS: dict[str, Any] = {
    "gravity": lambda f, x: f(ARM, *x, gravity=[0.0, 0.0, -3.7]),
    "forces": lambda f, x: f(ARM, *x, f_ext={"wrist_3_link": 2 * x[1]}),
    "params": lambda f, x: f(ARM, *x, params=ARM.params(mass={"forearm_link": x[0][:, 0] + 3.0})),
    "trajectories in columns": lambda f, x: f(
        ARM, *(np.asfortranarray(y).reshape(2, -1, 6, order="F") for y in x)
    ),
}


@pytest.mark.parametrize("case", OTHERS)
def test_calls_with_gravity_forces_or_params_do_not_use_c(case: str) -> None:
    call, first, second = OTHERS[case], draw_states(6, 1), draw_states(6, 2)
    wanted = call(wd.rnea, second)
    for _ in range(3):
        call(wd.rnea, first)
    assert plan_count(wd.rnea) == 0
    assert np.array_equal(call(wd.rnea, second), wanted)


def test_arrays_of_another_kind_take_the_checked_path() -> None:
    """Another type, dtype, shape, stride, alignment, or other names, numbers and values of
    arguments."""
    q, v, a = draw_states(6, 3)
    for _ in range(3):
        wd.rnea(ARM, q, v, a)
    assert plan_count(wd.rnea) == 1 and natively(wd.rnea, ARM, q, v, a) is not MISS
    odd = np.empty(q.nbytes + 1, np.uint8)[1:].view(np.float32).reshape(q.shape)
    other = wd.load_robot("panda")
    for x in (odd, q.astype(float), q.view(np.int32), q[:5], q[:, :5], q.T, q[::-1], q.tolist()):
        assert natively(wd.rnea, ARM, x, v, a) is MISS
        assert natively(wd.rnea, ARM, q, v, x) is MISS
    for y in (np.asfortranarray(q), q.view(np.recarray), q[0], q[None], None, 0, q.byteswap):
        assert natively(wd.rnea, ARM, y, v, a) is MISS
    assert natively(wd.rnea, other, q, v, a) is MISS
    assert natively(wd.rnea, ARM, q, v) is MISS and natively(wd.rnea) is MISS
    assert natively(wd.rnea, ARM, q, v, a, q) is MISS
    assert natively(wd.rnea, ARM, q, v, a=a) is MISS
    assert natively(wd.rnea, ARM, q, v, a, gravity=None) is MISS
    assert natively(wd.rnea, ARM, q, v, a, out=np.empty_like(q)) is MISS


def test_refused_calls_are_refused_each_time() -> None:
    refused_each_time()
    assert plan_count(wd.rnea) == 1


def test_results_may_alternate_with_inputs_in_one_array() -> None:
    both = in_turns_within_one_array()
    _, v, a = draw_states(4, 9)
    assert natively(wd.rnea, ARM, both[::2], v, a, out=both[1::2]) is not MISS


def test_several_results_have_the_type_of_the_checked_call() -> None:
    q, v, tau = draw_states(3, 6)
    forget(wd.aba_derivatives)
    wanted = wd.aba_derivatives(ARM, q, v, tau)
    wd.aba_derivatives(ARM, q, v, tau)
    found = natively(wd.aba_derivatives, ARM, q, v, tau)
    assert type(found) is type(wanted) and len(found) == len(wanted)
    assert all(np.array_equal(x, y) for x, y in zip(found, wanted, strict=True))


def test_calls_with_different_options_are_distinct() -> None:
    q = draw_states(3, 5)[0]
    forget(wd.fk)
    frames = ("forearm_link", "wrist_3_link")
    poses = {name: wd.fk(ARM, q, frame=name) for name in frames}
    for name in frames * 2:
        assert np.array_equal(wd.fk(ARM, q, frame=name), poses[name])
    assert plan_count(wd.fk) == 2
    assert np.array_equal(natively(wd.fk, ARM, q, frame=frames[1]), poses[frames[1]])
    equal = "".join(frames[1])  # another object may be equal
    assert np.array_equal(wd.fk(ARM, q, frame=equal), poses[frames[1]])


def test_a_users_kernel_uses_c() -> None:
    @wd.kernel
    def multiply(robot: Any, x: (3,), *, times: Any = 2) -> Any:  # type: ignore[valid-type]
        return times * x

    x = np.ones((2, 3), np.float32)
    for k in range(4):
        assert np.array_equal(multiply(ARM, x + k), 2 * (x + k))
        assert np.array_equal(multiply(ARM, x + k, times=3), 3 * (x + k))
    assert plan_count(multiply) == 2


def test_debug_compiling_and_captures_are_checked_at_each_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Debug mode checks numbers, a compiling block computes nothing, and a capture records each
    call."""
    q, v, a = draw_states(3, 10)
    for _ in range(3):
        wd.rnea(ARM, q, v, a)
    with wd.kernels.compiling():
        assert not wd.rnea(ARM, q, v, a).any()
    with monkeypatch.context() as there:
        there.setattr(wp._src.context.runtime, "_apic_capture", object())  # type: ignore[attr-defined]
        assert natively(wd.rnea, ARM, q, v, a) is MISS
    assert natively(wd.rnea, ARM, q, v, a) is not MISS
    monkeypatch.setattr(wd.config, "debug", True)
    with pytest.raises(ValueError, match="shoulder_pan_joint is nan"):
        wd.rnea(ARM, np.full_like(q, np.nan), v, a)


def test_plans_are_removed_with_their_model() -> None:
    """A later model at the same address does not get them."""
    forget(wd.crba)
    model = copy(wd.load_robot("double_pendulum"))
    gone = ref(model)
    q = np.zeros((2, 2), np.float32)
    for _ in range(3):
        wd.crba(model, q)
    assert plan_count(wd.crba) == 1
    plans_of(wd.crba).clear()  # as where there are too many
    del model
    gc.collect()
    assert gone() is None and plan_count(wd.crba) == 0


def test_reference_counts_do_not_change() -> None:
    """Those of arguments, options, results and the plan are compared after many calls."""
    q, v, a = draw_states(3, 12)
    out = np.empty_like(q)
    for _ in range(3):
        wd.rnea(ARM, q, v, a)
        wd.rnea(ARM, q, v, a, out=out)
    (plan, _) = in_c(wd.rnea)
    held = (q, v, a, out, ARM, plan, q.dtype, MISS, wd.rnea)
    before = [sys.getrefcount(x) for x in held]
    for _ in range(1000):
        result = wd.rnea(ARM, q, v, a)
        wd.rnea(ARM, q, v, a, out=out)
        assert natively(wd.rnea, ARM, q) is MISS
    assert sys.getrefcount(result) == 2
    del result
    assert [sys.getrefcount(x) for x in held] == before


def test_a_failed_allocation_is_an_error() -> None:
    """The results that were made before are freed."""
    q, v, tau = draw_states(3, 6)
    forget(wd.aba_derivatives)
    for _ in range(3):
        wd.aba_derivatives(ARM, q, v, tau)
    (plan,) = in_c(wd.aba_derivatives)
    made, known = [], plan.known

    def failing() -> Any:
        raise MemoryError("no more")

    def first() -> np.ndarray:
        made.append(ref(x := np.empty((3, 6, 6), np.float32)))
        return x

    known.result_makers[:2] = [first, failing]
    again = native_call._plan((), known, (ARM, q, v, tau), {})
    assert again is not None
    set_in_c(wd.aba_derivatives, again)
    with pytest.raises(MemoryError, match="no more"):
        wd.aba_derivatives(ARM, q, v, tau)
    assert len(made) == 1 and made[0]() is None
    forget(wd.aba_derivatives)


def test_a_plan_survives_its_removal_during_a_run() -> None:
    """Python code makes the result, and may remove the plan."""
    q, v, a = draw_states(3, 13)
    for _ in range(2):
        wanted = wd.rnea(ARM, q, v, a)
    (plan,) = in_c(wd.rnea)
    known: LaunchPlan = plan.known

    def making() -> np.ndarray:
        forget(wd.rnea)
        gc.collect()
        return np.empty((3, 6), np.float32)

    known.result_makers[:] = [making]
    again = native_call._plan((), known, (ARM, q, v, a), {})
    assert again is not None
    set_in_c(wd.rnea, again)
    del plan, again, known
    assert np.array_equal(natively(wd.rnea, ARM, q, v, a), wanted)


def test_the_last_eight_calls_have_plans_in_c() -> None:
    """Older ones take the path in Python again."""
    for count in range(1, 12):
        x = draw_states(count, count)
        wanted = wd.rnea(ARM, *x)
        for _ in range(2):
            assert np.array_equal(wd.rnea(ARM, *x), wanted)
    assert plan_count(wd.rnea) == native_call.MOST
    assert natively(wd.rnea, ARM, *draw_states(1, 1)) is MISS
    for count in range(1, 12):
        x = draw_states(count, count)
        assert np.array_equal(wd.rnea(ARM, *x), natively(wd.rnea, ARM, *x)) or count < 4


@pytest.mark.parametrize("long", [0.0, 1.0])
def test_many_threads_share_a_plan(long: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each thread gets the result of its own arrays, with and without the interpreter's lock."""
    monkeypatch.setattr(c_functions, "LONG", long)
    given = [draw_states(2, seed) for seed in range(8)]
    wanted = [wd.rnea(ARM, *x) for x in given]
    assert plan_count(wd.rnea) == 1
    each_thread_its_own(given, wanted)


def test_without_the_c_function_calls_use_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """The function is missing if CPython or NumPy have another memory layout."""
    monkeypatch.setattr(native_call, "methods", lambda: None)
    q, v, a = draw_states(4, 14)
    results = [wd.rnea(ARM, q, v, a) for _ in range(4)]
    assert plan_count(wd.rnea) == 0
    assert all(np.array_equal(x, results[0]) for x in results)


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.MOST == 8
