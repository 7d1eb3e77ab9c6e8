"""Kernels compared with themselves: batch sizes, memory layouts, lanes, threads, NaN. On a GPU the
same rules are checked for its kernels."""

from __future__ import annotations

import gc
import math
import weakref
from collections.abc import Callable

import numpy as np
import pytest
from devices import DeviceArray, result_shape
from memory_layouts import (
    LAYOUTS,
    environments_last,
    every_third_entry,
    offset_by_one,
    padded_columns,
    same_bits,
)
from robots import by_name
from states import error, states

import warpdyn as wd
from warpdyn.arrays import views
from warpdyn.arrays.libraries import NUMPY
from warpdyn.codegen import cpu as chosen
from warpdyn.execution.launch import launch
from warpdyn.recording.program import Program, record

SIZES = (0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 64, 67, 1000)
CLOSE = {"float64": 1e-12, "float32": 1e-5}
"""Relative to the largest entry, compared with the oracle."""

# Entries per environment of q and of the result, fewer and more than the lanes, one, two and three trailing dimensions.
JOBS: dict[str, tuple[str, Callable, tuple[str, ...], dict]] = {
    "rnea": ("panda", wd.rnea, ("q", "v", "a"), {}),
    "rnea_34": ("humanoid_floating", wd.rnea, ("q", "v", "a"), {}),
    "crba": ("panda", wd.crba, ("q",), {}),
    "aba": ("cartpole", wd.aba, ("q", "v", "tau"), {}),
    "fk": ("panda", wd.fk, ("q",), {}),
    "fk_one": ("single", wd.fk, ("q",), {"frame": "arm"}),
    "jacobian": ("quadruped_floating", wd.jacobian, ("q",), {"frame": "trunk"}),
}


class Job:
    """One algorithm on one robot: inputs, the oracle's result, and calls with given arrays."""

    def __init__(self, name: str, dtype: np.dtype, device: str, count: int):
        robot, self.function, keys, self.options = JOBS[name]
        self.model, self.dtype, self.device = by_name(robot).model, dtype, device
        if "frame" in self.options and self.options["frame"] not in self.model.link_names:
            self.options = {"frame": self.model.link_names[-1]}
        s = states(self.model, max(count, 1)).rounded(dtype)
        self.inputs = [getattr(s, key)[:count].astype(dtype) for key in keys]
        self.shape = (count, *result_shape(self.function, self.model, self.options))

    def run(
        self, inputs: list[np.ndarray] | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """The result in `out`, which is full of NaN before; by default in C order."""
        places = [DeviceArray(x, self.device) for x in (self.inputs if inputs is None else inputs)]
        if out is None:
            out = np.empty(self.shape, self.dtype)
        out[...] = np.nan
        result = DeviceArray(out, self.device)
        assert (
            self.function(self.model, *(p.array for p in places), out=result.array, **self.options)
            is result.array
        )
        return result.back()

    def oracle(self) -> np.ndarray:
        return wd.oracle(
            self.function, self.model, *(x.astype(float) for x in self.inputs), **self.options
        )


@pytest.mark.parametrize("name", JOBS)
def test_results_do_not_depend_on_the_batch_size(name: str, dtype: np.dtype, device: str) -> None:
    """Every environment gets the oracle's result, and the bits of a single environment."""
    whole = Job(name, dtype, device, max(SIZES))
    wanted = whole.run()
    assert error(wanted[:37], whole_part(whole, slice(0, 37)).oracle()) <= CLOSE[str(dtype)]
    for count in SIZES:
        found = whole_part(whole, slice(0, count)).run()
        assert same_bits(found, wanted[:count]), count


def whole_part(job: Job, rows: slice) -> Job:
    part = Job.__new__(Job)
    part.__dict__.update(job.__dict__)
    part.inputs = [x[rows] for x in job.inputs]
    part.shape = (len(part.inputs[0]), *job.shape[1:])
    return part


@pytest.mark.parametrize("name", JOBS)
def test_one_robot_gives_the_row_of_a_batch(name: str, dtype: np.dtype, device: str) -> None:
    """(n,) arrays and (B, n) arrays give the same bits."""
    job = Job(name, dtype, device, 20)
    wanted = job.run()
    for e in (0, 7, 19):
        places = [DeviceArray(x[e], device) for x in job.inputs]
        out = DeviceArray(np.full(job.shape[1:], np.nan, dtype), device)
        assert (
            job.function(job.model, *(p.array for p in places), out=out.array, **job.options)
            is out.array
        )
        assert same_bits(out.back(), wanted[e])


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", JOBS)
@pytest.mark.parametrize("count", [1, 37, 128])
def test_results_do_not_depend_on_the_memory_layout(
    name: str, layout: Callable, count: int, dtype: np.dtype, device: str
) -> None:
    """Inputs and results have each layout. Nothing outside the result is written."""
    job = Job(name, dtype, device, count)
    wanted = job.run()
    assert same_bits(job.run([layout(x) for x in job.inputs]), wanted)
    out = layout(np.zeros(job.shape, dtype))
    memory = out
    while memory.base is not None:
        memory = memory.base
    memory[...] = 12345.0
    found = job.run(out=out)
    assert same_bits(found, wanted)
    if device == "cpu":
        out[...] = 12345.0
        assert np.all(memory == 12345.0)
    assert same_bits(
        job.run([layout(x) for x in job.inputs], layout(np.zeros(job.shape, dtype))), wanted
    )


@pytest.mark.parametrize("rows_from", [0, 1 << 40])
@pytest.mark.parametrize("side_by_side", [False, True], ids=["rows", "columns"])
@pytest.mark.parametrize("name", JOBS)
def test_stores_that_bypass_the_cache_write_the_same_bits(
    name: str,
    side_by_side: bool,
    rows_from: int,
    dtype: np.dtype,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Results of a large batch bypass the cache, and rows are assembled in a buffer first. The
    address of the result does not matter, and nothing after its end is written."""
    job = Job(name, dtype, "cpu", 133)
    wanted = job.run()
    monkeypatch.setattr(launch, "STREAM_FROM", 0)
    monkeypatch.setattr(launch, "ROWS_FROM", rows_from)
    for first in (0, 1, 16, 133):
        memory = views.empty(NUMPY, "cpu", dtype == np.float32, 300, job.shape[1:], side_by_side)
        memory[...] = 12345.0
        out = memory[first : first + 133]
        assert same_bits(job.run(out=out), wanted)
        out[...] = 12345.0
        assert np.all(memory == 12345.0)


def test_rows_of_complete_cache_lines_may_begin_anywhere(dtype: np.dtype) -> None:
    """Nothing next to them is written, also if constants are kept."""
    job = Job("fk", dtype, "cpu", 50)
    wanted = job.run()
    assert wanted[0].size % 16 == 0 and wanted[0].size >= 64
    for shift in range(16):
        memory = np.full(wanted.size + 32, 12345.0, dtype)
        out = memory[shift : shift + wanted.size].reshape(wanted.shape)
        assert same_bits(job.run(out=out), wanted)
        wd.bind(job.function, job.model, *job.inputs, out=out)()
        assert same_bits(out, wanted)
        out[...] = 12345.0
        assert np.all(memory == 12345.0)


@pytest.mark.parametrize("mixed", range(6))
@pytest.mark.parametrize("name", ["rnea", "rnea_34"])
def test_each_array_of_a_call_may_have_its_own_layout(
    name: str, mixed: int, dtype: np.dtype, device: str
) -> None:
    """Inputs and the result of one call have different layouts."""
    job = Job(name, dtype, device, 50)
    chosen = [LAYOUTS[(mixed * 4 + 3 * k) % len(LAYOUTS)] for k in range(4)]
    inputs = [layout(x) for layout, x in zip(chosen, job.inputs, strict=False)]
    assert same_bits(job.run(inputs, chosen[3](np.zeros(job.shape, dtype))), job.run())


@pytest.mark.parametrize("which", range(3))
@pytest.mark.parametrize("name", ["rnea", "rnea_34"])
def test_an_input_with_stride_zero_is_one_row_for_all(
    name: str, which: int, dtype: np.dtype, device: str
) -> None:
    """An input that repeats one row (stride 0) is read as that row in every environment."""
    job = Job(name, dtype, device, 37)
    rows = [np.repeat(x[:1], 37, axis=0) if k == which else x for k, x in enumerate(job.inputs)]
    repeated = [
        np.broadcast_to(x[:1], x.shape) if k == which else x for k, x in enumerate(job.inputs)
    ]
    assert same_bits(job.run(repeated), job.run(rows))


def test_both_strides_of_an_input_may_be_zero(device: str) -> None:
    """All joints of all environments then have the same number."""
    job = Job("rnea", np.dtype("float64"), device, 19)
    zero = np.broadcast_to(np.zeros(1), job.inputs[1].shape)
    assert same_bits(
        job.run([job.inputs[0], zero, zero]),
        job.run([job.inputs[0], np.array(zero), np.array(zero)]),
    )


@pytest.mark.parametrize("name", JOBS)
def test_the_order_of_environments_does_not_matter(name: str, dtype: np.dtype, device: str) -> None:
    """A permuted batch gives the permuted result, bit for bit. So the lane of a robot has no
    influence."""
    job = Job(name, dtype, device, 67)
    order = np.random.default_rng(1).permutation(67)
    wanted = job.run()
    assert same_bits(job.run([x[order] for x in job.inputs]), wanted[order])
    same = [np.repeat(x[3:4], 67, axis=0) for x in job.inputs]
    assert same_bits(job.run(same), np.repeat(wanted[3:4], 67, axis=0))


@pytest.mark.parametrize(
    "layout", [np.ascontiguousarray, environments_last, every_third_entry], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("name", JOBS)
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_nan_and_infinity_do_not_affect_other_environments(
    name: str, bad: float, layout: Callable, dtype: np.dtype, device: str
) -> None:
    """NaN or infinity in one robot's angles makes that robot's result NaN. The others keep every
    bit."""
    job = Job(name, dtype, device, 37)
    clean = job.run()
    for e in (0, 5, 15, 16, 31, 36):
        inputs = [np.array(x) for x in job.inputs]
        inputs[0][e, -1] = bad
        found = job.run([layout(x) for x in inputs])
        others = np.arange(37) != e
        assert same_bits(found[others], clean[others])
        assert np.any(np.isnan(found[e])), (e, found[e])


@pytest.mark.parametrize("dirty", ["v", "tau"])
def test_a_bad_velocity_or_torque_does_not_affect_other_environments(
    dirty: str, dtype: np.dtype, device: str
) -> None:
    """All accelerations of that robot are NaN."""
    job = Job("aba", dtype, device, 37)
    clean = job.run()
    inputs = [np.array(x) for x in job.inputs]
    inputs[1 if dirty == "v" else 2][20, -1] = math.nan
    found = job.run(inputs)
    others = np.arange(37) != 20
    assert same_bits(found[others], clean[others]) and np.all(np.isnan(found[20]))


@pytest.mark.parametrize("name", ["rnea", "crba", "fk"])
def test_results_do_not_depend_on_the_number_of_threads(
    name: str, dtype: np.dtype, device: str
) -> None:
    """One, two, three and seven threads give the same bits. The batch is a multiple of none."""
    job = Job(name, dtype, device, 40_003)
    results = []
    try:
        for number in (1, 2, 3, 7):
            wd.runtime.set_num_threads(number)
            results += [
                job.run(),
                job.run(
                    [environments_last(x) for x in job.inputs],
                    environments_last(np.zeros(job.shape, dtype)),
                ),
            ]
    finally:
        wd.runtime.set_num_threads(None)
    assert all(same_bits(r, results[0]) for r in results[1:])
    last = whole_part(job, slice(40_000, 40_003))
    assert error(results[0][40_000:], last.oracle()) <= CLOSE[str(dtype)]


@pytest.mark.parametrize("count", [4096, 9000])
def test_results_larger_than_the_cache_have_the_same_bits(
    count: int, dtype: np.dtype, device: str
) -> None:
    """Results of many megabytes bypass the cache. They may be aligned or not, padded or not."""
    job = Job("fk", dtype, device, count)
    wanted = job.run()
    ends = whole_part(job, slice(count - 3, count))
    assert error(wanted[-3:], ends.oracle()) <= CLOSE[str(dtype)]
    for layout in (environments_last, padded_columns, offset_by_one):
        assert same_bits(job.run(out=layout(np.zeros(job.shape, dtype))), wanted)
    if device == "cpu":
        own = wd.fk(job.model, environments_last(job.inputs[0]))
        assert same_bits(np.array(own), wanted) and own.strides[0] == dtype.itemsize


@pytest.mark.parametrize("name", ["crba", "fk"])
def test_bound_calls_write_all_entries_that_are_not_constant(
    name: str, dtype: np.dtype, device: str
) -> None:
    """A bound call skips constant entries, in any layout of the result."""
    job = Job(name, dtype, device, 37)
    wanted = job.run()
    for layout in (np.array, environments_last, padded_columns, every_third_entry):
        q, out = (
            DeviceArray(np.zeros_like(job.inputs[0]) + 0.5, device),
            DeviceArray(layout(np.full(job.shape, np.nan, dtype)), device),
        )
        launch = wd.bind(job.function, job.model, q.array, out=out.array, **job.options)
        if device == "cpu":
            q.host[...] = job.inputs[0]
            assert launch() is out.array
            assert same_bits(out.back(), wanted)


# Interleaved and overlapping memory.


def test_inputs_and_result_may_be_columns_of_one_array(dtype: np.dtype, device: str) -> None:
    """q, v, a and the result are different entries."""
    job = Job("rnea", dtype, device, 50)
    wanted, n = job.run(), job.shape[1]
    memory = np.full((50, 4 * n), np.nan, dtype)
    parts = [memory[:, k * n : (k + 1) * n] for k in range(4)]
    for part, given in zip(parts, job.inputs, strict=False):
        part[...] = given
    if device == "cpu":
        assert wd.rnea(job.model, *parts[:3], out=parts[3]) is parts[3]
        assert same_bits(np.array(parts[3]), wanted)
        assert all(same_bits(np.array(p), x) for p, x in zip(parts, job.inputs, strict=False))


@pytest.mark.parametrize("shift", [0, 1, 3, 8])
def test_out_that_overlaps_an_input_is_refused(shift: int) -> None:
    """Results are written while inputs are still read. The message names the input."""
    job = Job("rnea", np.dtype("float64"), "cpu", 20)
    q, v, a = job.inputs
    memory = np.zeros(v.size + shift)
    v_view, out = memory[: v.size].reshape(v.shape), memory[shift:].reshape(v.shape)
    v_view[...] = v
    with pytest.raises(ValueError, match=r"out shares memory with v.*pass another array"):
        wd.rnea(job.model, q, v_view, a, out=out)
    with pytest.raises(ValueError, match="out shares memory with a"):
        wd.rnea(job.model, q, v, a, out=a[::-1])


def test_out_next_to_an_input_is_accepted() -> None:
    """Adjacent arrays in one block of memory do not overlap."""
    job = Job("rnea", np.dtype("float64"), "cpu", 20)
    memory = np.zeros((2, 20, job.shape[1]))
    memory[0] = job.inputs[1]
    wd.rnea(job.model, job.inputs[0], memory[0], job.inputs[2], out=memory[1])
    assert same_bits(memory[1], job.run())


def test_out_whose_rows_overlap_is_refused() -> None:
    """Environments that write the same entry would race."""
    job = Job("rnea", np.dtype("float64"), "cpu", 20)
    n = job.shape[1]
    strided = np.lib.stride_tricks.as_strided
    for strides in ((0, 8), (8, 0), (8, 8), (8 * (n - 1), 8), (-8 * (n - 1), 8)):
        with pytest.raises(ValueError, match="out"):
            wd.rnea(
                job.model, *job.inputs, out=strided(np.zeros(40 * n)[20 * n :], (20, n), strides)
            )


def test_a_written_program_is_freed_without_garbage_collection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Garbage collection is off while programs are written, so a reference cycle would keep it in
    memory."""
    made, begin = [], chosen.CpuSource.__init__

    def record_source(self: chosen.CpuSource, program: Program, single: bool) -> None:
        made.append(weakref.ref(self))
        begin(self, program, single)

    monkeypatch.setattr(chosen.CpuSource, "__init__", record_source)
    gc.disable()
    try:
        assert chosen.source(record(lambda x: [x[0] * x[1]], {"x": (2,)}), False)
    finally:
        gc.enable()
    assert [reference() for reference in made] == [None]


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.AHEAD == 4
    assert chosen.GROUP == 2
    assert chosen.GROUPED == 3
    assert chosen.STACK == 1_048_576
    assert chosen.LARGEST_WORKSPACE == 4_194_304
