"""Arrays in, cached kernel, launch, arrays out: the one place that knows batches, devices and layouts.

A public function (`warpdyn.functions`) says in a `Call` which algorithm to run on what. `batched` turns it into the
function that users call; `bind` prepares the same call for tight loops, and `oracle` runs the same text on plain
float64 numbers.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, ParamSpec
from weakref import WeakKeyDictionary

import warp as wp

from ..arrays import Array, Library, View, views
from ..arrays.layout import BLOCK, LOOP_BLOCK, STAGE_FROM, STREAM_FROM
from ..arrays.libraries import library_of
from ..codegen.arguments import FIELDS, HEADER
from ..codegen.source import Text, write
from ..model import Model
from . import threads
from .argument_checks import (
    check_first_argument,
    check_kind,
    check_outs,
    check_shape,
    listed,
    plain_numbers,
    result_arrays,
)
from .cache import cached
from .call import Call, all_arrays, input_shape, serves_all, texts_of
from .evaluate import record_call
from .kernel import Command, compile_kernel

P = ParamSpec("P")

SECONDS_PER_OPERATION, SECONDS_PER_BYTE = 1.2e-11, 4e-11
"""Rough times for one environment on one core, to decide how many threads a batch is worth."""


@dataclass(eq=False)
class Kernel:
    """A program compiled for one dtype and device, with launches that wait to be used again."""

    text: Text
    device: wp.Device
    compiled: wp.Kernel
    idle: list[Command] = field(default_factory=list)

    def command(self) -> Command:
        try:
            return self.idle.pop()
        except IndexError:
            return Command(self.compiled, self.device, self.text.layout.length)


_kernels: WeakKeyDictionary[Model, dict[tuple, Kernel]] = WeakKeyDictionary()


def batched(function: Callable[P, Call]) -> Callable[P, Array]:
    """A function that describes a call, as the function that carries it out; without a `model` it is of poses alone."""
    of_a_model = "model" in inspect.signature(function).parameters

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> Array:
        if of_a_model:
            check_first_argument(args, kwargs)
        return carry_out(function(*args, **kwargs))

    run.describe, run.of_a_model = function, of_a_model  # type: ignore[attr-defined]
    return run


def carry_out(call: Call) -> Any:
    """Run a call; where its arrays ask for gradients, in a way that their library can differentiate."""
    edge = library_of(next(iter(call.arrays.values()))).edge
    results = compute(call) if edge is None else _edge(edge)(call, compute)
    return results if call.named is None else call.named(*results)


def compute(call: Call) -> Any:
    """Run a call on the arrays themselves; a tuple of results where there are several."""
    job = _prepare(call)
    job.launch_once()
    return job.handed_back()


@functools.cache
def _edge(module: str) -> Callable[[Call, Callable[[Call], Any]], Any]:
    """The function that runs a call as an operation of a library that differentiates by itself."""
    return import_module("." + module, __package__).run


def bind(function: Callable[..., Array], *args: Any, **kwargs: Any) -> Callable[[], Array]:
    """A call prepared once: `run = bind(wd.rnea, model, q, v, a, out=tau)`, then `run()` launches without any check.

    The arrays stay the ones given here: change their contents in place between calls. Returns a callable that returns
    the result array. Constant entries of the result (structural zeros) are written when binding, not at each run.
    """
    call = described(function, args, kwargs)
    run: Callable[[], Any] = _prepare(call).bound()
    named = call.named
    return run if named is None else lambda: named(*run())


def described(function: Callable[..., Array], args: tuple, kwargs: dict[str, Any]) -> Call:
    describe = getattr(function, "describe", None)
    if describe is None:
        name = getattr(function, "__name__", type(function).__name__)
        raise TypeError(
            f"the first argument must be one of warpdyn's batched functions, such as wd.rnea, got {name}"
        )
    if getattr(function, "of_a_model", False):
        check_first_argument(args, kwargs)
    return describe(*args, **kwargs)


@dataclass
class _Job:
    """A call checked and ready: its kernel, the arguments to launch it with, and its result."""

    kernel: Kernel
    arguments: list[int]
    count: int
    library: Library
    results: Sequence[Array]
    stream: Any
    keep: tuple
    """Arrays that must live as long as the launch."""

    def launch_once(self) -> None:
        slices = self._slices()
        commands = [self.kernel.command() for _ in slices]
        self._set(commands, slices)
        self._run(commands, threads.get_num_threads())
        self.kernel.idle += commands

    def handed_back(self) -> Any:
        results = tuple([self.library.handed_back(result) for result in self.results])
        return results if len(results) > 1 else results[0]

    def bound(self) -> Callable[[], Array]:
        """Launch once, then a closure that launches again and leaves constant entries alone."""
        self.launch_once()
        self.arguments[HEADER.index("keep_constants")] = 1
        slices = self._slices()
        commands = [
            Command(self.kernel.compiled, self.kernel.device, len(self.arguments)) for _ in slices
        ]
        self._set(commands, slices)
        if len(commands) == 1 and self.stream is None and self.library.in_place:
            launch, result, keep = commands[0].run, self.handed_back(), (self.keep, commands)

            def run_one(_keep: tuple = keep) -> Array:
                launch()
                return result

            return run_one

        number = threads.get_num_threads()

        def run() -> Array:
            self._run(commands, number)
            return self.handed_back()

        return run

    def _slices(self) -> list[tuple[int, int]]:
        """[first, number) of environments for each launch: one, or one a thread."""
        if self.count == 0:
            return []
        text = self.kernel.text
        seconds = self.count * (
            text.operations * SECONDS_PER_OPERATION + text.bytes * SECONDS_PER_BYTE
        )
        if self.kernel.device.is_cuda or seconds < threads.ENOUGH:
            return [(0, self.count)]
        number, block = threads.get_num_threads(), LOOP_BLOCK if text.loops else BLOCK
        return threads.slices(self.count, number, block, self.count * threads.SLICE / seconds)

    def _set(self, commands: Sequence[Command], slices: Sequence[tuple[int, int]]) -> None:
        for command, (first, number) in zip(commands, slices, strict=True):
            self.arguments[0], self.arguments[1] = first, number
            command.set(self.arguments)
            command.set_threads(number)

    def _run(self, commands: Sequence[Command], number: int) -> None:
        if len(commands) > 1:
            threads.run_all([command.run for command in commands], min(len(commands), number))
        elif commands and self.stream is not None:
            commands[0].run(self.stream)
        elif commands:
            commands[0].run()


def _prepare(call: Call) -> _Job:
    """Check a call's arguments, find or make its kernel, and lay out its launch.

    The first array of a call decides its library, dtype, device, memory order and batch; all others must agree.
    """
    model = call.model
    given = all_arrays(call)
    first_name = next(iter(given))
    first = views.view(first_name, listed(given[first_name]))
    inputs: dict[str, View] = {first_name: first}
    shapes: dict[str, tuple[int, ...]] = {}
    for name, array in given.items():
        shapes[name] = input_shape(call, name)
        if serves_all(call, name):
            array = plain_numbers(name, array, first)
        given[name] = array = listed(array)
        if name != first_name:
            inputs[name] = views.view(name, array)
    batch = first.shape[0] if len(first.shape) == len(shapes[first_name]) + 1 else None
    for name, v in inputs.items():
        check_kind(name, v, first_name, first)
        if v.shape != (shapes[name] if batch is None else (batch, *shapes[name])):
            check_shape(call, name, v.shape, batch, (first_name, first.shape))

    key = (*call.key, first.single, first.device, *inputs)
    table = _kernels.get(model)
    if table is None:
        table = _kernels[model] = {}
    kernel = table.get(key)
    if kernel is None:
        kernel = table[key] = _make_kernel(call, shapes, first.single, wp.get_device(first.device))

    text, count = kernel.text, 1 if batch is None else batch
    if call.out is None:
        side_by_side = count > 1 and first.strides[0] == 1 and shapes[first_name][0] > 1
        outs: list[Array] = [
            views.empty(first.library, first.device, first.single, count, shape, side_by_side)
            for shape in text.results.values()
        ]
        results = (
            tuple(outs) if batch is not None else tuple(first.library.first_of(out) for out in outs)
        )
        out_views = [views.view("out", out) for out in outs]
    else:
        outs = result_arrays(call, list(text.results))
        results = tuple(outs)
        wanted = [shape if batch is None else (batch, *shape) for shape in text.results.values()]
        out_views = check_outs(outs, wanted, inputs, first_name, first)

    size = count * text.bytes
    arguments = [0, count, 0, (size > STREAM_FROM) + (size > STAGE_FROM)]
    for v, trailing in zip(
        [*inputs.values(), *out_views], [*text.inputs.values(), *text.results.values()], strict=True
    ):
        own = len(v.shape) > len(
            trailing
        )  # an array without an environment dimension serves them all
        arguments += (
            v.address,
            v.strides[0] if own else 0,
            *v.strides[own:],
            *_NO_STRIDE[len(trailing)],
        )
    stream = first.library.stream(first.device)
    return _Job(kernel, arguments, count, first.library, results, stream, (given, outs))


_NO_STRIDE = [(0,) * (FIELDS - 2 - n) for n in range(FIELDS - 1)]


def _make_kernel(
    call: Call, inputs: Mapping[str, tuple[int, ...]], single: bool, device: wp.Device
) -> Kernel:
    """From the disk cache or recorded; Warp compiles it at its first launch, or finds it compiled."""
    target = "cuda" if device.is_cuda else "cpu"
    key = repr((call.model.key, call.key, dict(inputs), single, target))

    def make() -> Text:
        return write(
            record_call(call, inputs, single), f"{call.name}_{call.model.name}", single, target
        )

    text = cached(key, texts_of(call), make)
    return Kernel(text, device, compile_kernel(text))
