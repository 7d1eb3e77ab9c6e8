"""Launch of a call: arrays in, cached kernel, launch, arrays out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import warp as wp

from ...arrays import View
from ...arrays.layout import ROWS_FROM, STREAM_FROM
from ...codegen.arguments import FIELDS, HEADER
from ...codegen.bytecode.bytecode import Bytecode
from ...codegen.bytecode.encode import encode
from ...codegen.source import Source
from ...codegen.targets import TARGETS, describe, target_of
from ...model.structure import Structure
from ...recording.table import ANY_SIZE
from ..compile.bytecode_checks import excess
from ..compile.cache import CacheEntry
from ..compile.compiling import Kernel, collect_kernel, expected_seconds
from ..compile.interpreted_program import InterpretedProgram, Interpreter
from ..compile.interpreter import interpreter
from ..compile.kernel_cache import start_kernel_cache
from ..config import config
from ..request.call import Call, algorithms_of
from ..request.evaluate import nothing_collected
from ..run_once import lock_of
from . import cpu_stand_in
from .batch_target import target_for_batch
from .bound_arrays import BoundArrays, arrays_for_results, bind_arrays
from .job import COUNT, STREAM, Job
from .source_writer import SourceWriter
from .state_checks import check_arrays

_kernels: WeakKeyDictionary[Structure, dict[tuple, Kernel]] = WeakKeyDictionary()

_NO_STRIDE = [(0,) * (FIELDS - 2 - n) for n in range(FIELDS - 1)]
"""Zero strides for the dimensions that an array lacks, by the number of dimensions it has."""

_NO_FIELDS = (0,) * FIELDS
"""Address and strides of an input that is passed by value."""

LONG = 10.0
"""Estimated CPU seconds of a compile from which on a user's own kernel is called long. The number
of operations is not a measure of this: a loop has many operations and little code."""


def compute(call: Call) -> Any:
    """Run a call on the arrays themselves; returns a tuple if there are several results."""
    return launch_call(call).user_result()


def launch_call(call: Call) -> Job:
    """Run a call on the arrays themselves; returns the launch."""
    if config.debug:
        check_arrays(call)
    job = prepare(call)
    if collect_kernel(job.kernel):
        job.clear(call.out)
    elif job.is_for_cpu:
        cpu_stand_in.compute_on_cpu(call, job, launch_call)
    else:
        job.launch_once()
    return job


def prepare(call: Call, target: str | None = None) -> Job:
    """Check a call's arguments, find or make its kernel, and lay out its launch.

    `target`: the backend that writes the kernel, if it is not the device's own.
    """
    bound = bind_arrays(call)
    kernel = kernel_for(call, bound, target)
    results = arrays_for_results(call, kernel.source, bound)
    # A bound launch may leave constants out. Any other launch writes them too, but they count only
    # with contiguous environments: the bound of rows was measured without them.
    count = bound.count
    size = count * kernel.source.bytes
    when_bound = (size > STREAM_FROM) + (size > ROWS_FROM)
    constants = count * kernel.source.constant_bytes
    stream = max(when_bound, int(size + constants > STREAM_FROM))
    return Job(
        kernel=kernel,
        arguments=argument_vector(kernel.source, bound, results.views, stream),
        count=count,
        library=bound.library,
        results=results.arrays,
        stream=_stream(bound),
        keep=(bound.arrays, results.written),
        sums=results.sums,
        copied=bound.copied,
        inputs=bound.views,
        arrays=bound.arrays,
        out_views=results.views,
        lead=bound.lead,
        side_by_side=bound.side_by_side,
        past_cache_when_bound=when_bound,
    )


def _stream(bound: BoundArrays) -> Callable[[], Any] | None:
    """A function that returns the stream of a launch; None for Warp's current stream."""
    if bound.device == "cpu" or not bound.library.own_streams:
        return None
    return partial(bound.library.stream, bound.device)


def kernel_for(call: Call, bound: BoundArrays, target: str | None = None) -> Kernel:
    """The kernel of a call: from memory, from the cache on disk, or newly recorded."""
    if target is None and bound.device != "cpu":
        target = target_for_batch(bound.device, bound.count)
    # The dictionary holds models weakly: when a model dies, its kernels go with it.
    kernels = _kernels.get(call.model)
    if kernels is None:
        kernels = _kernels.setdefault(call.model, {})
    # Shapes follow from the model and the call, and addresses are read at each launch. Of the arrays
    # themselves a kernel depends on names, dtype and device alone.
    key = (*call.key, bound.single, bound.device, *bound.views)
    if bound.numbers:
        key = (*key, "by value", *bound.numbers)
    if target is not None:
        key = (*key, target)
    kernel = kernels.get(key)
    if kernel is not None:
        if kernel.writer is not None:
            kernel.writer.use(call.model)  # the first of several equal models may be freed
    else:
        shapes = {name: ANY_SIZE if x.table else x.shape for name, x in bound.inputs.items()}
        with lock_of(call.model):
            kernel = kernels.get(key)
            if kernel is None:
                numbers = tuple(bound.numbers)
                kernel = _make_kernel(call, shapes, bound.single, bound.device, target, numbers)
                kernels[key] = kernel
    return kernel


def argument_vector(
    source: Source, bound: BoundArrays, results: Sequence[View], stream: int
) -> list[int]:
    """The integers that a kernel reads: the header, address and strides of each array, and the bits
    of inputs that are passed by value."""
    arguments = [0] * len(HEADER)
    arguments[COUNT], arguments[STREAM] = bound.count, stream
    for name, view in bound.views.items():
        if name in bound.numbers:
            arguments += _NO_FIELDS
        elif name in source.tables:
            arguments += (view.address, *view.shape, *view.strides)
        else:
            arguments += _fields(view, source.inputs[name])
    for view, trailing in zip(results, source.results.values(), strict=True):
        arguments += _fields(view, trailing)
    for each in bound.numbers.values():
        bits = np.int32 if each.itemsize == 4 else np.int64
        arguments += each.reshape(-1).view(bits).tolist()
    return arguments


def _fields(v: View, trailing: tuple[int, ...]) -> tuple[int, ...]:
    """Address and strides of an array whose environments have slices of the shape `trailing`."""
    # Without a dimension of environments one slice serves all of them: a stride of 0.
    batched = len(v.shape) > len(trailing)
    environment = v.strides[0] if batched else 0
    return (v.address, environment, *v.strides[batched:], *_NO_STRIDE[len(trailing)])


def kernel_source(call: Call) -> Source:
    """The kernel's source, with its operations and bytes per environment."""
    return prepare(call).kernel.source


def check_length(kernel: Kernel) -> None:
    """Warn about a long kernel of the user before it is compiled."""
    if sum(module.seconds for module in kernel.modules) >= LONG:
        time = f"about {expected_seconds([kernel]):.0f} s"
        warnings.warn(
            f"the kernel {kernel.label} has {kernel.source.operations:,} operations; compiling it "
            f"takes {time}, once. Python loops are written out: wd.kernels.repeat(n, step, state) records a "
            "step once; or make several kernels",
            stacklevel=2,
        )


def _make_kernel(
    call: Call,
    inputs: Mapping[str, tuple[int, ...]],
    single: bool,
    device_name: str,
    target: str | None,
    numbers: tuple[str, ...] = (),
) -> Kernel:
    """A kernel whose program is in the disk cache, or newly recorded. If it is not compiled yet, it is
    interpreted, or Warp compiles it at its first launch, as it does with a program that is too large for
    the interpreter. `numbers`: inputs that are passed by value.
    """
    start_kernel_cache()
    device, label = wp.get_device(device_name), call.label
    may_interpret = target is None and device.is_cpu and config.compile != "wait"
    target = target or target_of("cuda" if device.is_cuda else "cpu")
    identity = (call.model.key, call.key, call.choices)
    key = repr((*identity, dict(inputs), single, target, *numbers))
    texts = [*algorithms_of(call), TARGETS[target].code]
    # The program of a user's own kernel is not cached: its key is the function object itself.
    entry = CacheEntry(key, texts) if call.identity is None else None
    source = None if entry is None else entry.source()
    kernel = None if source is None else Kernel(source, device, label)
    if kernel is not None and (not may_interpret or kernel.is_compiled):
        return kernel
    writer = SourceWriter(call, inputs, single, target, numbers, entry)
    runs_programs = interpreter(single) if may_interpret else None
    if runs_programs is None:
        if kernel is None:
            kernel = Kernel(writer.write(call), device, label)
        if entry is None:
            check_length(kernel)
        return kernel
    found = None if entry is None else entry.bytecode()
    if found is None:
        with nothing_collected():
            program = writer.record(call)
            found = describe(program, writer.name, single, target), encode(program)
        if config.compile == "never":
            writer.forget()
        if entry is not None:
            entry.keep_bytecode(*found)
    described, bytecode = found
    if kernel is None:
        kernel = Kernel(described, device, label, writer=writer)
    _interpret(kernel, bytecode, described, runs_programs, single)
    return kernel


def _interpret(
    kernel: Kernel, bytecode: Bytecode, source: Source, runs_programs: Interpreter, single: bool
) -> None:
    """Let a kernel be interpreted until it is compiled, if its program is within the limits of the
    interpreter. ValueError if it is not, and nothing may be compiled."""
    too_large = excess(bytecode, source)
    if not too_large:
        kernel.interpret(InterpretedProgram(bytecode, source, runs_programs, single))
    elif config.compile == "never":
        raise ValueError(
            f"{kernel.label} is too large for the interpreter: {too_large}. It can only be compiled: "
            'wd.config.compile = "background", or "wait"'
        )
