"""Launch of a call: arrays in, cached kernel, launch, arrays out. Only this module knows batches,
devices and layouts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from math import prod
from typing import Any
from weakref import WeakKeyDictionary

import warp as wp

from ...arrays import Array, View, views
from ...arrays.layout import ROWS_FROM, STREAM_FROM
from ...arrays.libraries import library_of
from ...codegen.arguments import FIELDS, HEADER
from ...codegen.source import TARGETS, Source, target_of, write
from ...model import Model
from ...recording.table import ANY_SIZE
from ..compile.announcements import announced_late
from ..compile.cache import cached
from ..compile.compiling import Kernel, expected_seconds, label_of, noted
from ..compile.kernel import compile_kernel
from ..compile.kernel_cache import start_kernel_cache
from ..config import config
from ..made_once import lock_of
from ..request.argument_checks import check_kind, check_outs, listed, plain_numbers, result_arrays
from ..request.call import Call, algorithms_of, gather, summed_tables
from ..request.evaluate import record_call
from .batch_shape import Rows
from .job import COUNT, STREAM, Job
from .state_checks import check_arrays

_kernels: WeakKeyDictionary[Model, dict[tuple, Kernel]] = WeakKeyDictionary()


def compute(call: Call) -> Any:
    """Run a call on the arrays themselves; returns a tuple if there are several results."""
    return computed(call).handed_back()


def computed(call: Call) -> Job:
    """Run a call on the arrays themselves; returns the launch."""
    if config.debug:
        check_arrays(call)
    job = prepare(call)
    if noted(job.kernel):
        job.clear(call.out)
    else:
        job.launch_once()
    return job


def prepare(call: Call, target: str | None = None) -> Job:
    """Check a call's arguments, find or make its kernel, and lay out its launch.

    `target`: the backend that writes the kernel, if it is not that of the device.
    The first array of a call determines its library, dtype and device. The first array with leading
    dimensions determines their number and the memory order. All other arrays must agree.
    """
    known, arrays = gather(call)
    lazy = resolve(arrays)
    records = iter(known.values())
    first_input = next(records)
    first_name = first_input.name
    array = arrays[first_name]
    if isinstance(array, (list, tuple)):
        arrays[first_name] = array = listed(array)
    first = views.view(first_name, array)
    inputs: dict[str, View] = {first_name: first}
    for x in records:
        array = arrays[x.name]
        if x.plain:
            arrays[x.name] = array = plain_numbers(x, array, first)
        if isinstance(array, (list, tuple)):
            arrays[x.name] = array = listed(array)
        inputs[x.name] = views.view(x.name, array)
    lead = first.shape[: len(first.shape) - len(first_input.shape)]
    # Nearly always each array has one row for each robot. All other valid shapes take longer
    # to check.
    plain, copied = len(lead) < 2, lazy
    for x, v in zip(known.values(), inputs.values(), strict=True):
        check_kind(x.label, v, first_name, first)
        plain = plain and v.shape == lead + x.shape
    if not plain:
        rows = Rows(call, known, arrays, inputs)
        lead, inputs, copied = rows.lead, rows.views, {**lazy, **rows.copied}
        first, first_input = inputs[rows.leader], known[rows.leader]

    # The dictionary is weak, so that a model's kernels go when the model goes.
    model = call.model
    table = _kernels.get(model)
    if table is None:
        table = _kernels.setdefault(model, {})
    # Shapes follow from the model and the call, and addresses are read at each launch. So a kernel
    # depends only on the arrays' names, dtype and device.
    key = (*call.key, first.single, first.device, *inputs)
    if target is not None:
        key = (*key, target)
    kernel = table.get(key)
    if kernel is None:
        shapes = {name: ANY_SIZE if x.table else x.shape for name, x in known.items()}
        with lock_of(model):
            kernel = table.get(key)
            if kernel is None:
                kernel = _make_kernel(call, shapes, first.single, first.device, target)
                table[key] = kernel

    source, count = kernel.source, prod(lead) if lead else 1
    sums: dict[int, tuple[tuple[int, ...], Any]] = {}
    if call.derivatives:
        tables = summed_tables(call)
        sums = {k: (tables[n], None) for k, n in enumerate(source.results) if n in tables}
    side_by_side = count > 1 and first.strides[0] == 1 and prod(first_input.shape) > 1
    outs: list[Array]
    if sums:
        outs, results, sums = _beside_sums(call, source, sums, first, lead)
        out_views = [views.view("out", out) for out in outs]
    elif call.out is None:
        # Results have the first input's layout: environments adjacent, or each in one piece.
        outs = [
            views.empty(first.library, first.device, first.single, count, shape, side_by_side)
            for shape in source.results.values()
        ]
        results = tuple(outs) if lead else tuple(first.library.first_of(out) for out in outs)
        if len(lead) > 1:
            results = tuple(first.library.with_leading(out, 1, lead) for out in outs)
        out_views = [views.view("out", out) for out in outs]
    else:
        outs = result_arrays(call, list(source.results))
        results = tuple(outs)
        wanted = [(*lead, *shape) for shape in source.results.values()]
        out_views = check_outs(
            outs,
            wanted,
            inputs,
            first_name,
            first,
            [source.over.get(name) for name in source.results],
            len(lead),
        )

    # Results of a large batch would not stay in the cache, so they are written past it (`layout`).
    # A bound launch may leave constants alone. Any other launch writes them too, which matters if
    # environments are adjacent. For rows the decision uses the other bytes, as measured.
    size, constants = count * source.bytes, count * source.constant_bytes
    when_bound = (size > STREAM_FROM) + (size > ROWS_FROM)
    arguments = [0] * len(HEADER)
    arguments[COUNT] = count
    arguments[STREAM] = max(when_bound, int(size + constants > STREAM_FROM))
    for name, v in inputs.items():
        if name in source.tables:
            arguments += (v.address, *v.shape, *v.strides)
        else:
            arguments += _fields(v, source.inputs[name])
    for v, trailing in zip(out_views, source.results.values(), strict=True):
        arguments += _fields(v, trailing)
    stream = first.library.stream(first.device)
    return Job(
        kernel=kernel,
        arguments=arguments,
        count=count,
        library=first.library,
        results=results,
        stream=stream,
        keep=(arrays, outs),
        sums=sums,
        copied=copied,
        inputs=inputs,
        arrays=arrays,
        out_views=out_views,
        lead=lead,
        side_by_side=side_by_side,
        past_cache_when_bound=when_bound,
    )


LAZY = "its memory does not hold its numbers (Torch's lazy views: resolve_neg(), clone())"
"""Reason why a copy of an input is read."""


def resolve(arrays: dict[str, Any]) -> dict[str, str]:
    """Replace arrays whose memory does not hold their numbers by copies; returns the reasons by
    name."""
    lazy = {}
    for name, array in arrays.items():
        arrays[name] = library_of(array).resolved(array)
        if arrays[name] is not array:
            lazy[name] = LAZY
    return lazy


def _beside_sums(
    call: Call, source: Source, sums: Mapping[int, Any], first: View, lead: tuple[int, ...]
) -> tuple[list[Array], tuple[Array, ...], dict[int, Any]]:
    """Arrays that a kernel writes, the results, and the sums, if some results are cotangents of
    tables."""
    if len(lead) > 1:
        raise ValueError("a derivative by a table needs one dimension of environments: (B, ..)")
    asked: list[Any] = [None] * len(source.results)
    if call.out is not None:
        asked = result_arrays(call, list(source.results))
    where, count = (first.library, first.device, first.single), prod(lead) if lead else 1
    outs = [
        views.empty(*where, count, shape, False) if asked[k] is None or k in sums else asked[k]
        for k, shape in enumerate(source.results.values())
    ]
    results = tuple(
        x if lead or k in sums or asked[k] is not None else first.library.first_of(x)
        for k, x in enumerate(outs)
    )
    return outs, results, {k: (shape, asked[k]) for k, (shape, _) in sums.items()}


def _fields(v: View, trailing: tuple[int, ...]) -> tuple[int, ...]:
    """Address and strides of an array whose environments have slices of the shape `trailing`."""
    # Without a dimension of environments one slice serves them all, with a stride of 0.
    batched = len(v.shape) > len(trailing)
    environment = v.strides[0] if batched else 0
    return (v.address, environment, *v.strides[batched:], *_NO_STRIDE[len(trailing)])


def kernel_source(call: Call) -> Source:
    """The kernel's source, which has the operations and bytes of one environment."""
    return prepare(call).kernel.source


_NO_STRIDE = [(0,) * (FIELDS - 2 - n) for n in range(FIELDS - 1)]
"""Strides of an array's missing dimensions, by the number of its dimensions."""


LONG = 100_000
"""Number of operations from which a user's kernel is long."""


def check_length(kernel: Kernel) -> None:
    """Warn about a long user's kernel before it is compiled."""
    if kernel.source.operations >= LONG:
        seconds = expected_seconds([kernel])
        time = "long" if seconds is None else f"about {seconds:.0f} s"
        warnings.warn(
            f"the kernel {kernel.label} has {kernel.source.operations:,} operations; compiling it "
            f"takes {time}, once. Python loops are written out: wd.repeat(n, step, state) records a "
            "step once; or make several kernels",
            stacklevel=2,
        )


def _make_kernel(
    call: Call,
    inputs: Mapping[str, tuple[int, ...]],
    single: bool,
    device_name: str,
    target: str | None,
) -> Kernel:
    """A kernel from the disk cache, or newly recorded; Warp compiles it at its first launch, or
    finds it compiled."""
    start_kernel_cache()
    device, label = wp.get_device(device_name), label_of(call)
    target = target or target_of("cuda" if device.is_cuda else "cpu")
    key = repr((call.model.key, call.key, dict(inputs), single, target))

    def make() -> Source:
        with announced_late(f"recording {label}, which will then be compiled, once"):
            program = record_call(call, inputs, single)
            return write(program, f"{call.name}_{call.model.name}", single, target)

    texts = [*algorithms_of(call), TARGETS[target].code]
    own = call.identity is not None
    source = make() if own else cached(key, texts, make)
    kernel = Kernel(source, device, compile_kernel(source), label)
    if own:
        check_length(kernel)
    return kernel
