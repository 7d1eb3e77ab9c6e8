"""Planned calls give the results of checked calls, and refuse what those refuse."""

from __future__ import annotations

import gc
from copy import copy
from typing import Any
from weakref import ref

import numpy as np
import pytest
import torch
from arm_calls import (
    ARM,
    FORMS,
    draw_states,
    each_thread_its_own,
    in_turns_within_one_array,
    its_own_result,
    refused_each_time,
)
from native_calls import plans_of

import warpdyn as wd
from warpdyn.execution.batched import FUNCTIONS, Function
from warpdyn.execution.repeat import call_cache
from warpdyn.execution.repeat import planned_call as chosen


@pytest.fixture(autouse=True)
def by_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep all calls in Python (tests/execution/native tests C)."""
    monkeypatch.setattr(call_cache, "RUNS_IN_PYTHON", 10**9)
    for function in FUNCTIONS.values():
        function._calls.clear()


def plans(function: Any) -> dict[Any, Any]:
    assert isinstance(function, Function)
    return plans_of(function)


def call_without_plans(function: Any, *args: Any, **kwargs: Any) -> Any:
    """The result of a call without plans."""
    kept = dict(plans(function))
    plans(function).clear()
    result = function(*args, **kwargs)
    plans(function).clear()
    plans(function).update(kept)
    return result


CASES: dict[str, Any] = {
    **FORMS,
    "trajectories of columns": lambda f, x: f(
        ARM, *(np.moveaxis(y.T.copy("C").reshape(6, 2, -1), 0, -1) for y in x)
    ),
    "gravity": lambda f, x: f(ARM, *x, gravity=[0.0, 0.0, -3.7]),
    "forces": lambda f, x: f(ARM, *x, f_ext={"wrist_3_link": 2 * x[1], "forearm_link": -x[2]}),
    "params": lambda f, x: f(ARM, *x, params=ARM.params(mass={"forearm_link": x[0][:, 0] + 3.0})),
}

DOUBLES = [("rows", np.float64), ("out", np.float64)]
"""Cases in float64. Plans treat both precisions alike."""


@pytest.mark.parametrize(("case", "dtype"), [*((case, np.float32) for case in CASES), *DOUBLES])
def test_the_third_call_is_planned_with_its_own_arrays(case: str, dtype: Any) -> None:
    """The result is a new array."""
    call, first, second = CASES[case], draw_states(6, 1, dtype), draw_states(6, 2, dtype)
    plans(wd.rnea).clear()
    call(wd.rnea, second)
    assert not plans(wd.rnea)
    before = call(wd.rnea, first)
    kept = before.copy()
    assert len(plans(wd.rnea)) == 1
    (plan,) = plans(wd.rnea).values()
    ran = []
    plan.run, run = lambda arrays: ran.append(run(arrays)) or ran[-1], plan.run
    found = call(wd.rnea, second)
    assert len(ran) == 1 and found is ran[0]
    wanted = call(lambda *args, **more: call_without_plans(wd.rnea, *args, **more), second)
    its_own_result(found, wanted, before, kept)


def test_one_array_for_two_arguments_is_not_confused() -> None:
    """If v was also a in earlier calls, the next call still reads its own a."""
    q, v, a = draw_states(4, 3)
    forms: list[Any] = [
        lambda f, v, a: f(ARM, q, v, a),
        lambda f, v, a: f(ARM, q, a=a, v=v),
        lambda f, v, a: f(ARM, a=a, q=q, v=v),
        lambda f, v, a: f(ARM, v=v, a=a, q=q),
    ]
    for form in forms:
        plans(wd.rnea).clear()
        for _ in range(3):
            form(wd.rnea, v, v)
        wanted = call_without_plans(wd.rnea, ARM, q, v, a)
        assert np.array_equal(form(wd.rnea, v, a), wanted)
        assert np.array_equal(form(wd.rnea, v, a), wanted)


def test_calls_with_different_frames_are_distinct() -> None:
    q = draw_states(3, 5)[0]
    poses = {name: wd.fk(ARM, q, frame=name) for name in ("forearm_link", "wrist_3_link")}
    for name, first in poses.items():
        assert np.array_equal(wd.fk(ARM, q, frame=name), first)
    assert not np.array_equal(*poses.values())


def test_several_results_have_the_type_of_the_checked_call() -> None:
    q, v, tau = draw_states(3, 6)
    for _ in range(4):
        found = wd.aba_derivatives(ARM, q, v, tau)
        wanted = call_without_plans(wd.aba_derivatives, ARM, q, v, tau)
        assert type(found) is type(wanted) and len(found) == len(wanted)
        assert all(np.array_equal(x, y) for x, y in zip(found, wanted, strict=True))


@wd.kernel
def one_result(robot: Any, q: Any) -> Any:
    return 2.0 * q


@wd.kernel
def two_results(robot: Any, q: Any) -> Any:
    return 2.0 * q, q + 1.0


@wd.kernel
def three_results(robot: Any, q: Any) -> Any:
    return 2.0 * q, q + 1.0, q[0]


@pytest.mark.parametrize("function", [one_result, two_results, three_results])
def test_a_planned_call_has_the_results_of_the_first(function: Any) -> None:
    """One array, or a tuple of as many as the function returns."""
    (q, *_) = draw_states(3, 7)
    first = function(ARM, q)
    for _ in range(3):
        found = function(ARM, q)
        assert type(found) is type(first) and len(found) == len(first)
        for x, y in zip(found, first, strict=True):
            np.testing.assert_array_equal(x, y)
    assert plans(function)


def test_params_are_read_at_each_call() -> None:
    """Params that changed in place, and others of the same names."""
    q, v, a = draw_states(3, 7)
    masses = np.full((3, 1), 2.0, np.float32)
    params = ARM.params(mass={"forearm_link": masses[:, 0]}, like=q)
    for _ in range(3):
        first = wd.rnea(ARM, q, v, a, params=params)
    next(iter(params.arrays.values()))[...] += 1.0
    second = wd.rnea(ARM, q, v, a, params=params)
    assert not np.array_equal(first, second)
    assert np.array_equal(second, call_without_plans(wd.rnea, ARM, q, v, a, params=params))


def test_refused_calls_are_refused_each_time() -> None:
    refused_each_time()


def test_results_may_alternate_with_inputs_in_one_array() -> None:
    in_turns_within_one_array()


def test_a_planned_call_updates_a_state_in_place() -> None:
    """The result of the kernel is its argument."""

    @wd.kernel
    def twice(robot: Any, x: (3,)) -> Any:  # type: ignore[valid-type]
        return {"x": 2.0 * x}

    x = np.ones((2, 3), np.float32)
    for k in range(5):
        twice(ARM, x, out={"x": x})
        assert np.array_equal(x, np.full((2, 3), 2.0 ** (k + 1)))
    y = np.ones((2, 3), np.float32)
    twice(ARM, x, out={"x": y})  # and elsewhere
    assert np.array_equal(y, 2 * x)


def test_debug_and_compiling_are_checked_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Debug mode checks numbers, and a compiling block computes nothing."""
    q, v, a = draw_states(3, 10)
    for _ in range(3):
        wd.rnea(ARM, q, v, a)
    with wd.kernels.compiling():
        assert not wd.rnea(ARM, q, v, a).any()
    monkeypatch.setattr(wd.config, "debug", True)
    with pytest.raises(ValueError, match="shoulder_pan_joint is nan"):
        wd.rnea(ARM, np.full_like(q, np.nan), v, a)


def test_plans_are_removed_with_their_model() -> None:
    """A later model at the same address does not get them."""
    plans(wd.crba).clear()
    model = copy(wd.load_robot("double_pendulum"))
    gone = ref(model)
    q = np.zeros((2, 2), np.float32)
    for _ in range(3):
        wd.crba(model, q)
    assert len(plans(wd.crba)) == 1
    del model
    gc.collect()
    assert gone() is None and not plans(wd.crba)


def test_old_plans_are_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warpdyn.execution.repeat.call_cache.MOST", 5)
    plans(wd.com).clear()
    for count in range(1, 20):
        for _ in range(3):
            wd.com(ARM, np.zeros((count, 6)))
    assert 0 < len(plans(wd.com)) <= 5


def test_calls_with_plain_numbers_that_change_have_no_plans() -> None:
    """Nor are arrays kept that repeat one number for each robot."""
    plans(wd.interpolate).clear()
    q, _, _ = draw_states(3, 11)
    for k in range(20):
        wd.interpolate(ARM, q, 2 * q, 0.01 * k)
    assert not plans(wd.interpolate)

    @wd.kernel
    def scale_by_time(robot: Any, q: Any, t: ()) -> Any:  # type: ignore[valid-type]
        return q * t

    rows = np.ones((5000, 6), np.float32)
    for _ in range(4):
        assert np.array_equal(scale_by_time(ARM, rows, 2.0), 2 * rows)
    assert not plans(scale_by_time)


def test_many_threads_share_a_plan() -> None:
    """Each thread gets the result of its own arrays."""
    given = [draw_states(2, seed) for seed in range(8)]
    wanted = [call_without_plans(wd.rnea, ARM, *x) for x in given]
    each_thread_its_own(given, wanted)


def test_a_planned_call_of_a_large_batch_uses_threads() -> None:
    """A plan of a batch that is worth several threads."""
    before = wd.runtime.get_num_threads()
    try:
        wd.runtime.set_num_threads(2)
        for seed in (1, 2, 3, 4):
            x = draw_states(30_000, seed)
            assert np.array_equal(wd.rnea(ARM, *x), call_without_plans(wd.rnea, ARM, *x))
    finally:
        wd.runtime.set_num_threads(before)


def tensors(seed: int) -> list[torch.Tensor]:
    return [torch.from_numpy(x) for x in draw_states(3, seed, np.float64)]


def test_torch_differentiates_after_a_planned_call() -> None:
    """Gradients, forward mode and vmap follow a planned plain call, and then a plain call again."""
    q, v, a = tensors(1)
    plain = wd.rnea(ARM, q, v, a)
    for _ in range(3):
        assert torch.equal(wd.rnea(ARM, q, v, a), plain) and plain.grad_fn is None
    asked = q.clone().requires_grad_()
    result = wd.rnea(ARM, asked, v, a)
    (slope,) = torch.autograd.grad(result.sum(), asked)
    assert slope.abs().sum() > 0
    with torch.no_grad():
        assert wd.rnea(ARM, asked, v, a).grad_fn is None
    _, moved = torch.func.jvp(lambda x: wd.rnea(ARM, x, v, a), (q,), (torch.ones_like(q),))
    assert torch.allclose(moved.sum(), slope.sum())
    by_map = torch.func.vmap(lambda x, y, z: wd.rnea(ARM, x, y, z))(q, v, a)
    assert torch.allclose(by_map, plain)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(q, torch.ones_like(q))
        primal, tangent = torch.autograd.forward_ad.unpack_dual(wd.rnea(ARM, dual, v, a))
        assert torch.allclose(primal, plain) and torch.allclose(tangent, moved)


def test_torch_is_notified_of_written_results() -> None:
    """A backward pass that would read overwritten numbers raises, at every call."""
    q, v, a = tensors(2)
    for _ in range(3):
        out = torch.zeros(3, 6, dtype=torch.float64)
        factor = torch.ones(3, 6, dtype=torch.float64, requires_grad=True)
        product = out * factor
        wd.rnea(ARM, q, v, a, out=out)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            product.sum().backward()


PENDULUM = wd.load_robot("double_pendulum")
LYING = np.array([1.8, -0.45])
"""Joint angles at which the tip touches the ground."""


def ends() -> wd.ContactPoints:
    """A sphere at the end of each rod."""
    points = wd.ContactPoints(PENDULUM).with_sphere("upper_rod", (0.0, 0.0, -1.0), 0.02)
    return points.with_sphere("lower_rod", (0.0, 0.0, -1.0), 0.02)


def step_pendulum(v: np.ndarray, **settings: Any) -> Any:
    """One step of a pendulum on the ground with drives. The records are new objects in each
    call."""
    q = np.tile(LYING.astype(np.float32), (len(v), 1))
    given = {"points": ends(), "ground": wd.Ground(), "control": wd.PD(40.0, 1.0)} | settings
    return wd.step(PENDULUM, q, v, np.zeros_like(v), targets=q, **given)


def test_steps_with_records_of_numbers_are_planned() -> None:
    """The values of ground, drives and points are part of the key."""
    plans(wd.step).clear()
    speeds = np.random.default_rng(5).uniform(-0.1, 0.1, (3, 4, 2)).astype(np.float32)
    results = [step_pendulum(v) for v in speeds]
    assert len(plans(wd.step)) == 1
    plans(wd.step).clear()
    for v, result in zip(speeds, results, strict=True):
        plans(wd.step).clear()
        assert all(np.array_equal(x, y) for x, y in zip(result, step_pendulum(v), strict=True))
    others: tuple[dict[str, Any], ...] = (
        {"ground": wd.Ground(friction=0.01)},
        {"control": wd.PD(20.0, 1.0)},
        {"points": ends().only("upper*")},
    )
    for other in others:
        found = [step_pendulum(speeds[0], **other).v for _ in range(3)]
        assert np.array_equal(found[0], found[2]) and not np.array_equal(found[0], results[0].v)


def test_arrays_in_records_are_checked_at_each_call() -> None:
    """Numbers that are too small are refused at any call."""
    stiffness, v = np.full(4, 3e4, np.float32), np.zeros((4, 2), np.float32)
    for _ in range(3):
        step_pendulum(v, ground=wd.Ground(stiffness=stiffness))
    stiffness[2] = -1.0
    with pytest.raises(ValueError, match="stiffness must be above 0"):
        step_pendulum(v, ground=wd.Ground(stiffness=stiffness))


def test_a_later_out_that_overlaps_an_input_is_refused() -> None:
    """This holds after many calls with separate arrays, too."""
    memory = np.zeros((20, 6), np.float32)
    q, out = memory[:8], memory[8:16]
    for _ in range(4):
        assert wd.gravity_torques(ARM, q, out=out) is out
    with pytest.raises(ValueError, match="out shares memory with q"):
        wd.gravity_torques(ARM, q, out=memory[4:12])
    assert wd.gravity_torques(ARM, q, out=out) is out


def test_later_results_that_overlap_each_other_are_refused() -> None:
    q, memory = draw_states(4, 7)[0], np.zeros(200, np.float32)
    pose, apart = memory[:64].reshape(4, 4, 4), np.zeros((4, 6, 6), np.float32)
    for _ in range(4):
        wd.pose_and_jacobian(ARM, q, frame="tool0", out=(pose, apart))
    with pytest.raises(ValueError, match="shares memory"):
        wd.pose_and_jacobian(ARM, q, frame="tool0", out=(pose, memory[56:].reshape(4, 6, 6)))


def test_a_planned_call_tells_torch_that_it_has_written_the_result() -> None:
    """A backward pass that reads the old numbers then raises."""
    q = torch.from_numpy(draw_states(4, 7)[0])
    out, before = torch.empty_like(q), -1
    for _ in range(4):
        wd.gravity_torques(ARM, q, out=out)
        assert out._version > before
        before = out._version


def test_a_plan_holds_numbers_that_the_caller_does_not() -> None:
    q, v, a = draw_states(4, 7)
    plans(wd.rnea).clear()
    for _ in range(3):
        wd.rnea(ARM, q, v, a, gravity=[0.0, 0.0, -3.5])
    (plan,) = plans(wd.rnea).values()
    assert [np.ravel(x).tolist() for x in plan.kept] == [[0.0, 0.0, -3.5]]


@pytest.mark.parametrize(
    ("offset", "is_apart"), [(-80, True), (-79, False), (0, False), (31, False), (32, True)]
)
def test_arrays_may_be_adjacent_but_not_overlap(offset: int, is_apart: bool) -> None:
    """The arrays have bytes -16 to 32 and 0 to 64 from two addresses. At the offset of the first
    call an overlap is accepted."""
    pair = chosen.Pair(0, 1, -16, 32, 0, 64, None)
    addresses = [1000, 1000 + offset]
    assert chosen._is_allowed(pair, addresses) == is_apart
    assert chosen._is_allowed(pair._replace(between=offset), addresses)


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.MOST_KEPT == 1024
