"""Launches: a kernel for each kind of arrays, and integers that give it their addresses and
strides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from devices import DeviceArray
from robots import by_name
from states import error, states

import warpdyn as wd
from warpdyn.codegen.arguments import FIELDS, HEADER
from warpdyn.execution.compile import bytecode_checks
from warpdyn.execution.launch import job, launch
from warpdyn.execution.launch import launch as chosen
from warpdyn.execution.launch.job import Job
from warpdyn.execution.launch.launch import kernel_source, prepare
from warpdyn.execution.request.call import inputs_of

CLOSE = 1e-12
"""Relative to the largest entry: float64 compared with the oracle."""

PANDA = by_name("panda").model


def prepare_rnea(*arrays: np.ndarray, **options: object) -> Job:
    return prepare(wd.rnea.describe(PANDA, *arrays, **options))


def test_the_integers_of_a_launch_are_addresses_and_strides() -> None:
    """The header comes first. Then each array has its address, the stride from one environment to
    the next, and the strides within one: 0 if one slice is common to all, or if there is no such
    dimension."""
    s = states(PANDA, 5)
    gravity, v = np.array([0.0, 0.0, -9.81]), np.asfortranarray(s.v)
    job = prepare_rnea(s.q, v, s.a, gravity=gravity)
    head, fields = job.arguments[: len(HEADER)], job.arguments[len(HEADER) :]
    assert dict(zip(HEADER, head, strict=True)) == {
        "first": 0,
        "count": 5,
        "keep_constants": 0,
        "stream": 0,
    }
    rows = [fields[k : k + FIELDS] for k in range(0, len(fields), FIELDS)]
    arrays = [s.q, v, s.a, gravity, job.results[0]]
    assert len(rows) == len(arrays)
    for row, array in zip(rows, arrays, strict=True):
        strides = [n // 8 for n in array.strides]
        strides = [0, *strides] if array.ndim == 1 else strides
        pad = [0] * (FIELDS - 1 - len(strides))
        assert row == [array.__array_interface__["data"][0], *strides, *pad]


def test_slices_cover_the_batch_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each environment is in one launch, with any number of threads, also with Python's threads
    only.
    """
    s, first, count = states(PANDA, 20_000), HEADER.index("first"), HEADER.index("count")
    wanted = wd.rnea(PANDA, s.q, s.v, s.a)
    monkeypatch.setattr(job, "shared_launch", lambda *_: None)
    try:
        for number in (1, 2, 3):
            wd.runtime.set_num_threads(number)
            laid_out = prepare_rnea(s.q, s.v, s.a)
            _, commands = laid_out._prepare(laid_out.kernel.new_command)
            slices = [(x.arguments[first], x.arguments[count]) for x in commands]
            ends = [begin + size for begin, size in slices]
            assert [begin for begin, _ in slices] == [0, *ends[:-1]] and ends[-1] == 20_000
            assert (len(slices) > 1) is (number > 1)
            assert np.array_equal(wd.rnea(PANDA, s.q, s.v, s.a), wanted)
    finally:
        wd.runtime.set_num_threads(None)
    empty = np.zeros((0, PANDA.nq)), np.zeros((0, PANDA.nv)), np.zeros((0, PANDA.nv))
    laid_out = prepare_rnea(*empty)
    assert laid_out._prepare(laid_out.kernel.new_command)[1] == []
    assert wd.rnea(PANDA, *empty).shape == (0, PANDA.nv)


def test_large_batches_bypass_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns bypass it from one size on, rows from another size on. The results do not change."""
    s = states(PANDA, 300)
    stream, plain = HEADER.index("stream"), wd.rnea(PANDA, s.q, s.v, s.a)
    for limits, wanted in (((1 << 40, 1 << 40), 0), ((0, 1 << 40), 1), ((0, 0), 2)):
        monkeypatch.setattr(launch, "STREAM_FROM", limits[0])
        monkeypatch.setattr(launch, "ROWS_FROM", limits[1])
        assert prepare_rnea(s.q, s.v, s.a).arguments[stream] == wanted
        assert np.array_equal(wd.rnea(PANDA, s.q, s.v, s.a), plain)


def test_written_constants_count_as_memory_traffic(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that writes constants bypasses the cache at smaller batches than a bound call that
    leaves them."""
    model, B = by_name("humanoid_floating").model, 40
    q, stream = states(model, B).q, HEADER.index("stream")
    described, wanted = wd.crba.describe(model, q), wd.crba(model, q)
    source = kernel_source(described)
    # Zeros between limbs, the whole mass, and what the last joints move.
    constants = int(8 * np.count_nonzero((wanted == wanted[0]).all(0)))
    assert source.constant_bytes == constants > 0
    for limit, plain, bound in (
        (source.bytes + constants, 0, 0),
        (source.bytes + constants - 1, 1, 0),
        (source.bytes, 1, 0),
        (source.bytes - 1, 1, 1),
    ):
        monkeypatch.setattr(launch, "STREAM_FROM", B * limit)
        laid_out = prepare(described)
        assert laid_out.arguments[stream] == plain
        assert np.array_equal(laid_out.bind()(), wanted)
        assert laid_out.arguments[stream] == plain
        run = laid_out.bind("once")
        assert laid_out.arguments[stream] == bound
        assert np.array_equal(run(), wanted)


def test_each_kind_of_call_has_its_own_kernel() -> None:
    """Another batch or other values use the same kernel. Another dtype, option or set of inputs
    does not."""
    s = states(PANDA, 4)
    double = prepare_rnea(s.q, s.v, s.a).kernel
    assert prepare_rnea(s.q[:2], s.v[:2] + 1, s.a[:2]).kernel is double
    assert prepare_rnea(s.q[0], s.v[0], s.a[0]).kernel is double
    assert prepare_rnea(*(x.astype(np.float32) for x in (s.q, s.v, s.a))).kernel is not double
    assert prepare_rnea(s.q, s.v, s.a, gravity=(0, 0, 1)).kernel is not double
    assert kernel_source(wd.rnea.describe(PANDA, s.q, s.v, s.a)) is double.source
    # An angle about the vertical moves no weight, so that not all of q is read.
    width = PANDA.nq + 3 * PANDA.nv
    assert double.source.operations > 0 and 8 * PANDA.nv < double.source.bytes <= 8 * width


def _loops(number: int) -> Any:
    """A kernel of this many loops, each of which adds 2."""

    @wd.kernel
    def adds(robot: Any, q: Any) -> Any:
        for _ in range(number):
            q = wd.kernels.repeat(2, lambda x: x + 1.0, q)
        return q

    return adds


def test_a_program_of_many_loops_is_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """All pairs of a panda's shapes have 923 loops."""
    monkeypatch.setattr(wd.config, "compile", "never")
    model = wd.load_robot("cartpole")
    assert (_loops(300)(model, np.zeros((3, 2))) == 600.0).all()


def test_a_program_that_is_too_large_for_the_interpreter_is_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The policy "never" refuses the program. The error says what to do."""
    monkeypatch.setattr(bytecode_checks, "LOOPS", 1)
    model, q = wd.load_robot("cartpole"), np.zeros((3, 2))
    monkeypatch.setattr(wd.config, "compile", "never")
    with pytest.raises(ValueError, match=r'2 loops, at most 1.*config\.compile = "background"'):
        _loops(2)(model, q)
    monkeypatch.setattr(wd.config, "compile", "background")
    assert (_loops(2)(model, q) == 4.0).all()


def test_launch_commands_are_reused() -> None:
    """A call leaves its command with the kernel, and the next call takes it."""
    s = states(PANDA, 4)
    job = prepare_rnea(s.q, s.v, s.a)
    job.launch_once()
    idle = list(job.kernel.idle)
    assert idle
    wd.rnea(PANDA, s.q, s.v, s.a)
    assert job.kernel.idle == idle


def test_results_have_the_memory_order_of_the_first_input() -> None:
    """It is columns for an array in columns, and rows for one in rows."""
    s = states(PANDA, 40)
    by_rows = wd.crba(PANDA, s.q)
    by_columns = wd.crba(PANDA, np.asfortranarray(s.q))
    assert by_rows.flags.c_contiguous and by_columns.strides[0] == 8
    assert error(by_columns, by_rows) <= CLOSE


def test_results_do_not_depend_on_earlier_calls(device: str) -> None:
    """The same call between calls of other sizes, dtypes and options gives the same bits."""
    model = by_name("panda").model
    s = states(model, 20)

    def once() -> bytes:
        out = DeviceArray(np.full_like(s.v, np.nan), device)
        wd.rnea(model, *(DeviceArray(x, device).array for x in (s.q, s.v, s.a)), out=out.array)
        return np.ascontiguousarray(out.back()).tobytes()

    first = once()
    if device == "cpu":
        wd.rnea(
            model,
            s.q[:3].astype(np.float32),
            s.v[:3].astype(np.float32),
            s.a[:3].astype(np.float32),
        )
        wd.rnea(model, s.q[0], s.v[0], s.a[0])
        wd.rnea(model, s.q, s.v, s.a, gravity=(1, 2, 3))
    assert once() == first


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.LONG == 10.0


@pytest.mark.parametrize("policy", ["wait", "background"])
def test_the_interpreter_is_not_asked_for_what_will_be_compiled(
    policy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Policy "wait" compiles first. So does a program for a target that the caller names."""
    monkeypatch.setattr(wd.config, "compile", policy)
    asked: list[bool] = []
    monkeypatch.setattr(launch, "interpreter", lambda single: asked.append(single))
    call = wd.fk.describe(by_name("mimic_chain").model, np.zeros((2, 2)), frame="l4")
    shapes = {name: x.shape for name, x in inputs_of(call).items()}
    launch._make_kernel(call, shapes, True, "cpu", None)
    assert asked == ([] if policy == "wait" else [True])
    launch._make_kernel(call, shapes, True, "cpu", "cpu")
    assert len(asked) == (policy != "wait")
