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

import numpy as np
import warp as wp

from ..arrays import Array, View, views
from ..codegen.arguments import FIELDS, HEADER
from ..model import Model
from . import threads
from .call import (
    PARAMETER,
    SEED,
    Call,
    all_arrays,
    input_shape,
    on_numbers,
    record_call,
    serves_all,
    texts_of,
)
from .kernel import Command, Text, cached, compile_kernel, write

P = ParamSpec("P")

SECONDS_PER_OPERATION, SECONDS_PER_BYTE = 1.2e-11, 4e-11
"""Rough times for one environment on one core, to decide how many threads a batch is worth."""

BLOCK = 16
"""Threads take whole blocks of environments: the lanes of a float32 kernel, two of a float64 one."""

LOOP_BLOCK = 512
"""The same for a kernel that loops: at the end of a slice, lanes are idle until the slowest environment is done."""

STREAM_FROM, STAGE_FROM = 2 << 20, 4 << 20
"""Batches of more bytes than this bypass the cache with their results; rows end to end from the second on."""


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
            _check_model(args, kwargs)
        return carry_out(function(*args, **kwargs))

    run.describe, run.of_a_model = function, of_a_model  # type: ignore[attr-defined]
    return run


def carry_out(call: Call) -> Any:
    """Run a call; where its arrays ask for gradients, in a way that their library can differentiate."""
    edge = _EDGES.get(type(next(iter(call.arrays.values()))).__module__.partition(".")[0])
    results = (
        compute(call) if edge is None else import_module(f".{edge}", __package__).run(call, compute)
    )
    return results if call.named is None else call.named(*results)


def compute(call: Call) -> Any:
    """Run a call on the arrays themselves; a tuple of results where there are several."""
    job = _prepare(call)
    job.launch_once()
    return job.handed_back()


_EDGES = {
    "torch": "torch_function",
    "jax": "jax_primitive",
    "jaxlib": "jax_primitive",
    "warp": "warp_tape",
}
"""For a library that differentiates by itself, the module of `gradients` that runs a call as one of its operations."""


def bind(function: Callable[..., Array], *args: Any, **kwargs: Any) -> Callable[[], Array]:
    """A call prepared once: `run = bind(wd.rnea, model, q, v, a, out=tau)`, then `run()` launches without any check.

    The arrays stay the ones given here: change their contents in place between calls. Returns a callable that returns
    the result array. Constant entries of the result (structural zeros) are written when binding, not at each run.
    """
    call = described(function, args, kwargs)
    run, named = _prepare(call).bound(), call.named
    return run if named is None else lambda: named(*run())


def oracle(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The same call on plain float64 numbers, one robot at a time: slow, obvious, and what tests compare with.

    Of a derivative, its recording is carried out statement by statement.
    """
    call = described(function, args, kwargs)
    given = {name: views.on_host(array) for name, array in all_arrays(call).items()}
    first_name, first = next(iter(given.items()))
    single = first.ndim == len(input_shape(call, first_name))
    for name, array in given.items():
        _check_shape(
            call, name, array.shape, None if single else len(first), (first_name, first.shape)
        )
    rows, run = [], on_numbers(call)
    for e in range(1 if single else len(first)):
        inputs = {n: _row(array, len(input_shape(call, n)), e) for n, array in given.items()}
        rows.append(tuple(run(inputs).values()))
    results = tuple(np.array(column, dtype=float) for column in zip(*rows, strict=True))
    results = tuple(result[0] if single else result for result in results)
    if call.named is not None:
        return call.named(*results)
    return results if len(results) > 1 else results[0]


def _row(array: np.ndarray, own: int, e: int) -> Any:
    """What holds for environment e: its row, or what serves all."""
    return (array if array.ndim == own else array[e]).tolist()


def described(function: Callable[..., Array], args: tuple, kwargs: dict[str, Any]) -> Call:
    describe = getattr(function, "describe", None)
    if describe is None:
        name = getattr(function, "__name__", type(function).__name__)
        raise TypeError(
            f"the first argument must be one of warpdyn's batched functions, such as wd.rnea, got {name}"
        )
    if getattr(function, "of_a_model", False):
        _check_model(args, kwargs)
    return describe(*args, **kwargs)


def _check_model(args: tuple, kwargs: dict[str, Any]) -> None:
    if args and hasattr(args[0], "describe"):  # a function of a function
        args = args[1:]
    check_model(args[0] if args else kwargs.get("model"))


def check_model(model: Any) -> None:
    if not isinstance(model, Model):
        raise TypeError(
            f"the first argument must be a Model (of wd.load or load_robot), got {type(model).__name__}"
        )


@dataclass
class _Job:
    """A call checked and ready: its kernel, the arguments to launch it with, and its result."""

    kernel: Kernel
    arguments: list[int]
    count: int
    kind: str
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
        results = tuple([views.handed_back(self.kind, result) for result in self.results])
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
        if len(commands) == 1 and self.stream is None and self.kind != "jax":
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
    """Check a call's arguments, find or make its kernel, and lay out its launch."""
    model = call.model
    given = all_arrays(call)
    first_name = next(iter(given))
    first = views.view(first_name, _listed(given[first_name]))
    inputs: dict[str, View] = {first_name: first}
    shapes: dict[str, tuple[int, ...]] = {}
    for name, array in given.items():
        shapes[name] = input_shape(call, name)
        if serves_all(call, name):
            array = _plain_numbers(name, array, first)
        given[name] = array = _listed(array)
        if name != first_name:
            inputs[name] = views.view(name, array)
    batch = first.shape[0] if len(first.shape) == len(shapes[first_name]) + 1 else None
    for name, v in inputs.items():
        _check_kind(name, v, first_name, first)
        if v.shape != (shapes[name] if batch is None else (batch, *shapes[name])):
            _check_shape(call, name, v.shape, batch, (first_name, first.shape))

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
            views.empty(first.kind, first.device, first.single, count, shape, side_by_side)
            for shape in text.results.values()
        ]
        results = (
            tuple(outs)
            if batch is not None
            else tuple(views.first_of(first.kind, out) for out in outs)
        )
        out_views = [views.view("out", out) for out in outs]
    else:
        outs = _outs(call, list(text.results))
        results = tuple(outs)
        wanted = [shape if batch is None else (batch, *shape) for shape in text.results.values()]
        out_views = _check_outs(outs, wanted, inputs, first_name, first)

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
    stream = views.stream(first.kind, first.device)
    return _Job(kernel, arguments, count, first.kind, results, stream, (given, outs))


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


def _plain_numbers(name: str, given: Any, first: View) -> Array:
    """Plain numbers, for arrays of whatever kind, as an array of that kind."""
    if first.kind == "numpy" and getattr(given, "dtype", None) == _dtype(first):
        return given
    if isinstance(given, (list, tuple)) or (isinstance(given, np.ndarray) and given.ndim == 1):
        return views.numbers(first.kind, first.device, first.single, tuple(map(float, given)))
    if not hasattr(given, "shape"):
        raise TypeError(f"{_spoken(name)} must be numbers (x, y, z) or an array, got {given!r}")
    return given


def _listed(array: Any) -> Array:
    """Plain numbers of one robot are taken as float64."""
    return np.asarray(array, dtype=float) if isinstance(array, (list, tuple)) else array


def _check_kind(name: str, v: View, first_name: str, first: View) -> None:
    if v.kind == first.kind and v.single == first.single and v.device == first.device:
        return
    for what, mine, its in (
        ("library", v.kind, first.kind),
        ("dtype", _dtype(v), _dtype(first)),
        ("device", v.device, first.device),
    ):
        if mine != its:
            raise TypeError(
                f"all arrays of a call must be of one {what}: "
                f"{first_name} is {its}, {_spoken(name)} is {mine}; convert {_spoken(name)} to {its}"
            )


def _spoken(name: str) -> str:
    """An input array's name as its user knows it."""
    if name.startswith(SEED):
        return f'the cotangent or tangent of "{name.partition(":")[2]}"'
    return name.removeprefix(PARAMETER) + " (params)" if name.startswith(PARAMETER) else name


def _dtype(v: View) -> str:
    return "float32" if v.single else "float64"


def _check_shape(
    call: Call,
    name: str,
    given: tuple[int, ...],
    batch: int | None,
    first: tuple[str, tuple[int, ...]],
) -> None:
    """Refuse an array that is not a row of the input for each robot, or, where one serves all, one row."""
    shape = input_shape(call, name)
    if given == (shape if batch is None else (batch, *shape)) or (
        serves_all(call, name) and given == shape
    ):
        return
    sizes = ", ".join(map(str, shape))
    letters = _letters(call, name, shape) or sizes
    if batch is None and len(first[1]) == 1:
        need = f"({letters}) = ({sizes}), as {first[0]} is of one robot"
        need = (
            f"({letters},) = ({sizes},) or (B, {letters}), one row for each robot"
            if name == first[0]
            else need
        )
    else:
        rows = batch if name != first[0] else "B"
        need = f"(B, {letters})" + (
            f" = ({rows}, {sizes})" if (letters, rows) != (sizes, "B") else ""
        )
    raise ValueError(
        f"{_spoken(name)} must be {need}, got {given}.{_shape_hint(call, name, given, shape)}"
    )


def _letters(call: Call, name: str, shape: tuple[int, ...]) -> str:
    """What the sizes of an input are called."""
    if name in ("q", "q0", "q1") and shape == (call.model.nq,):
        return "nq"
    if name == "f_ext":
        return "nlinks, 6"
    return "" if name in call.shapes or name == "gravity" or ":" in name else "nv"


def _shape_hint(call: Call, name: str, given: tuple[int, ...], shape: tuple[int, ...]) -> str:
    """What else the given width could have meant."""
    model, letters = call.model, _letters(call, name, shape)
    if letters not in ("nq", "nv") or not given or given[-1] == shape[-1]:
        return ""
    noun = "coordinates" if letters == "nq" else "velocity coordinates"
    mimics = [joint.name for joint in model.joints if joint.mimic is not None and joint.kind.nv]
    if mimics:
        named = (
            "the mimic joint " + mimics[0] + " is"
            if len(mimics) == 1
            else f"the {len(mimics)} mimic joints are"
        )
        return (
            f" {model.name} has {shape[-1]} {noun}: {named} not among them (see model.joint_names)."
        )
    base = ", the base's first" if model.floating_base else ""
    return f" {model.name} has {shape[-1]} {noun}{base} (see model.{letters[1]}_names)."


def _outs(call: Call, names: Sequence[str]) -> list[Array]:
    """The arrays given for the results, one each."""
    if len(names) == 1 and not isinstance(call.out, (tuple, list)):
        return [call.out]
    if not isinstance(call.out, (tuple, list)) or len(call.out) != len(names):
        got = (
            f"{len(call.out)} of them"
            if isinstance(call.out, (tuple, list))
            else type(call.out).__name__
        )
        raise TypeError(
            f"out must be a tuple of {len(names)} arrays, for {', '.join(names)}; got {got}"
        )
    return list(call.out)


def _check_outs(
    outs: Sequence[Array],
    wanted: Sequence[tuple[int, ...]],
    inputs: Mapping[str, View],
    first_name: str,
    first: View,
) -> list[View]:
    seen = dict(inputs)
    checked = []
    for k, (out, shape) in enumerate(zip(outs, wanted, strict=True)):
        name = "out" if len(outs) == 1 else f"out[{k}]"
        v = views.view(name, out)
        _check_kind(name, v, first_name, first)
        if v.shape != shape:
            raise ValueError(f"{name} must be {shape}, got {tuple(v.shape)}")
        views.check_writable(out, v)
        other = views.overlapping(v, seen)
        if other is not None:
            raise ValueError(
                f"{name} shares memory with {other}; results are written while inputs are still read: "
                "pass another array"
            )
        seen[name] = v
        checked.append(v)
    return checked
