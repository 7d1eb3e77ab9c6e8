"""Arrays in, cached kernel, launch, arrays out: the one place that knows batches, devices and layouts.

A public function (`warpdyn.functions`) says in a `Call` which algorithm to run on what. `batched` turns it into the
function that users call; `bind` prepares the same call for tight loops, and `oracle` runs the same text on plain
float64 numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ParamSpec
from weakref import WeakKeyDictionary

import numpy as np
import warp as wp

from . import arrays, threads
from .arrays import Array, View
from .model import Model
from .tracing.kernel import Command, Text, cached, compile_kernel, write
from .tracing.layout import FIELDS, HEADER
from .tracing.program import Program, record
from .tree import Tree, build_tree

P = ParamSpec("P")

Gravity = Sequence[float] | Array | None
Forces = Mapping[str, Array] | Array | None

STANDARD_GRAVITY = (0.0, 0.0, -9.81)
"""Acceleration of free fall in the world frame [m/s²]; the default, folded into the program."""

SECONDS_PER_OPERATION, SECONDS_PER_BYTE = 1.2e-11, 4e-11
"""Rough times for one environment on one core, to decide how many threads a batch is worth."""

BLOCK = 16
"""Threads take whole blocks of environments: the lanes of a float32 kernel, two of a float64 one."""

FORCE_ON = "f_ext:"
"""Name of the input array of an external force: this and the link."""

STREAM_FROM = 2 << 20
"""Results of more bytes than this bypass the cache."""

EPSILON = {True: 2.0**-25, False: 2.0**-52}
"""Constants are rounded to 0 and 1 below half a unit in the last place (float32) and below one (float64)."""


@dataclass(frozen=True)
class Call:
    """What a public function asks for.

    `texts`: the algorithm, or several for the same result of which the shortest program is taken; called with the tree,
    the arrays, `options`, and with `gravity` and `f_ext` unless the algorithm has no use for them (`forces` False).
    `refuse` looks at the model once and raises where the algorithm is not defined.
    """

    name: str
    model: Model
    texts: tuple[Callable[..., Any], ...]
    arrays: Mapping[str, Array]
    out: Array | None = None
    options: tuple[tuple[str, Any], ...] = ()
    forces: bool = False
    gravity: Any = None
    f_ext: Any = None
    refuse: Callable[[Model], None] | None = None
    results: tuple[str, ...] = ("out",)
    """Names of the results. With more than one, the text returns a tuple of as many nested lists, and the function a
    tuple of arrays."""
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Of one robot: of inputs other than q (nq) and coordinate vectors (nv); of results, where nested lists cannot
    tell (a matrix of a robot without coordinates)."""
    params: Any = None


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
_trees: WeakKeyDictionary[Model, Tree] = WeakKeyDictionary()


def tree_of(model: Model) -> Tree:
    """The model's kinematic tree, built once."""
    tree = _trees.get(model)
    if tree is None:
        tree = _trees[model] = build_tree(model)
    return tree


def batched(function: Callable[P, Call]) -> Callable[P, Array]:
    """A function that describes a call, as the function that carries it out."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> Array:
        _check_model(args, kwargs)
        job = _prepare(function(*args, **kwargs))
        job.launch_once()
        return arrays.handed_back(job.kind, job.result)

    run.describe = function  # type: ignore[attr-defined]
    return run


def bind(function: Callable[..., Array], *args: Any, **kwargs: Any) -> Callable[[], Array]:
    """A call prepared once: `run = bind(wd.rnea, model, q, v, a, out=tau)`, then `run()` launches without any check.

    The arrays stay the ones given here: change their contents in place between calls. Returns a callable that returns
    the result array. Constant entries of the result (structural zeros) are written when binding, not at each run.
    """
    call = _described(function, args, kwargs)
    return _prepare(call).bound()


def oracle(function: Callable[..., Array], *args: Any, **kwargs: Any) -> np.ndarray:
    """The same call on plain float64 numbers, one robot at a time: slow, obvious, and what tests compare with."""
    call = _described(function, args, kwargs)
    host = {name: arrays.on_host(array) for name, array in call.arrays.items()}
    single = next(iter(host.values())).ndim == 1
    count = 1 if single else len(next(iter(host.values())))
    forces: dict[str, np.ndarray] = {}
    if isinstance(call.f_ext, Mapping):
        forces = {link: arrays.on_host(force) for link, force in call.f_ext.items()}
    elif call.f_ext is not None:
        forces = dict(zip(call.model.link_names, np.moveaxis(arrays.on_host(call.f_ext), -2, 0), strict=True))
    gravity = arrays.on_host(STANDARD_GRAVITY if call.gravity is None else call.gravity)
    tree, results = tree_of(call.model), []
    for e in range(count):
        extra: dict[str, Any] = dict(call.options)
        if call.forces:
            extra["gravity"] = _row(gravity, e)
            extra["f_ext"] = {link: _row(force, e) for link, force in forces.items()}
        results.append(call.texts[0](tree, *(_row(array, e) for array in host.values()), **extra))
    result = np.array(results, dtype=float)
    return result[0] if single else result


def _row(array: np.ndarray, e: int) -> list[float]:
    """What holds for environment e: its row, or the one vector that serves all."""
    return (array if array.ndim == 1 else array[e]).tolist()


def _described(function: Callable[..., Array], args: tuple, kwargs: dict[str, Any]) -> Call:
    describe = getattr(function, "describe", None)
    if describe is None:
        raise TypeError(f"{function!r} is not one of warpdyn's batched functions, such as warpdyn.rnea")
    _check_model(args, kwargs)
    return describe(*args, **kwargs)


def _check_model(args: tuple, kwargs: dict[str, Any]) -> None:
    model = args[0] if args else kwargs.get("model")
    if not isinstance(model, Model):
        raise TypeError(f"the first argument must be a Model (of load_urdf or load_robot), got {type(model).__name__}")


@dataclass
class _Job:
    """A call checked and ready: its kernel, the arguments to launch it with, and its result."""

    kernel: Kernel
    arguments: list[int]
    count: int
    kind: str
    result: Array
    stream: Any
    keep: tuple
    """Arrays that must live as long as the launch."""

    def launch_once(self) -> None:
        slices = self._slices()
        commands = [self.kernel.command() for _ in slices]
        self._set(commands, slices)
        self._run(commands, threads.get_num_threads())
        self.kernel.idle += commands

    def bound(self) -> Callable[[], Array]:
        """Launch once, then a closure that launches again and leaves constant entries alone."""
        self.launch_once()
        self.arguments[HEADER.index("keep_constants")] = 1
        slices = self._slices()
        commands = [Command(self.kernel.compiled, self.kernel.device, len(self.arguments)) for _ in slices]
        self._set(commands, slices)
        if len(commands) == 1 and self.stream is None and self.kind != "jax":
            launch, result, keep = commands[0].run, self.result, (self.keep, commands)

            def run_one(_keep: tuple = keep) -> Array:
                launch()
                return result

            return run_one

        number = threads.get_num_threads()

        def run() -> Array:
            self._run(commands, number)
            return arrays.handed_back(self.kind, self.result)

        return run

    def _slices(self) -> list[tuple[int, int]]:
        """[first, number) of environments for each launch: one, or one a thread."""
        if self.count == 0:
            return []
        text = self.kernel.text
        seconds = self.count * (text.operations * SECONDS_PER_OPERATION + text.bytes * SECONDS_PER_BYTE)
        if self.kernel.device.is_cuda or seconds < threads.ENOUGH:
            return [(0, self.count)]
        number = threads.get_num_threads()
        return threads.slices(self.count, 1 if number == 1 else max(number, int(seconds / threads.SLICE)), BLOCK)

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
    given = {name: _listed(array) for name, array in call.arrays.items()}
    views = {name: arrays.view(name, array) for name, array in given.items()}
    shapes: dict[str, tuple[int, ...]] = {name: (_width(model, name),) for name in views}
    first_name, first = next(iter(views.items()))
    batch = first.shape[0] if len(first.shape) == 2 else None
    if call.forces:
        _add_forces(call, batch, first, given, views, shapes)
    for name, v in views.items():
        _check_kind(name, v, first_name, first)
        if v.shape != shapes[name] or batch is not None:
            _check_shape(name, v, batch, shapes[name], model, (first_name, first))

    key = (call.name, call.options, first.single, first.device, *views)
    table = _kernels.get(model)
    if table is None:
        table = _kernels[model] = {}
    kernel = table.get(key)
    if kernel is None:
        kernel = table[key] = _make_kernel(call, shapes, first.single, wp.get_device(first.device))

    shape, count = kernel.text.shape, 1 if batch is None else batch
    if call.out is None:
        side_by_side = count > 1 and first.strides[0] == 1 and shapes[first_name][0] > 1
        out = arrays.empty(first.kind, first.device, first.single, count, shape, side_by_side)
        result, out_view = (out[0] if batch is None else out), arrays.view("out", out)
    else:
        result = out = call.out
        out_view = _check_out(out, views, batch, shape, first_name, first)

    streams = count * kernel.text.bytes > STREAM_FROM
    arguments = [0, count, 0, int(streams)]
    for name, trailing in kernel.text.arrays:
        v = out_view if name == "out" else views[name]
        own = len(v.shape) > len(trailing)  # an array without an environment dimension serves them all
        arguments += (v.address, v.strides[0] if own else 0, *v.strides[own:], *_NO_STRIDE[len(trailing)])
    return _Job(kernel, arguments, count, first.kind, result, arrays.stream(first.kind, first.device), (given, out))


_NO_STRIDE = [(0,) * (FIELDS - 2 - n) for n in range(FIELDS - 1)]


def _make_kernel(call: Call, inputs: Mapping[str, tuple[int, ...]], single: bool, device: wp.Device) -> Kernel:
    """From the disk cache or recorded; Warp compiles it at its first launch, or finds it compiled."""
    target = "cuda" if device.is_cuda else "cpu"
    key = repr((call.model.key, call.name, call.options, dict(inputs), single, target))

    def make() -> Text:
        return write(record_call(call, inputs, single), f"{call.name}_{call.model.name}", single, target)

    text = cached(key, make)
    return Kernel(text, device, compile_kernel(text))


def record_call(call: Call, inputs: Mapping[str, tuple[int, ...]], single: bool) -> Program:
    """Record a call's algorithm for its model; of several texts for one result, the shortest program."""
    if call.refuse:
        call.refuse(call.model)
    tree = tree_of(call.model).regrouped().snapped(EPSILON[single])

    def run(text: Callable[..., Any], **symbols: Any) -> Any:
        extra = dict(call.options)
        if call.forces:
            extra["gravity"] = symbols.pop("gravity", STANDARD_GRAVITY)
            extra["f_ext"] = symbols.pop("f_ext", None)
            if extra["f_ext"] is None:
                links = [name for name in symbols if name.startswith(FORCE_ON)]
                extra["f_ext"] = {name.removeprefix(FORCE_ON): symbols.pop(name) for name in links}
            else:
                extra["f_ext"] = dict(zip(call.model.link_names, extra["f_ext"], strict=True))
        return text(tree, *symbols.values(), **extra)

    programs = [record(functools.partial(run, text), inputs) for text in call.texts]
    program = min(programs, key=lambda program: program.operations)
    return program if "out" not in call.shapes else replace(program, shape=call.shapes["out"])


def _add_forces(
    call: Call,
    batch: int | None,
    first: View,
    given: dict[str, Array],
    views: dict[str, View],
    shapes: dict[str, tuple[int, ...]],
) -> None:
    """Gravity and external forces, where given, as further input arrays."""
    if call.gravity is not None:
        gravity = call.gravity
        as_given = first.kind == "numpy" and getattr(gravity, "dtype", None) == _dtype(first)
        three = isinstance(gravity, (list, tuple)) or (isinstance(gravity, np.ndarray) and gravity.ndim == 1)
        if three and not as_given:  # plain numbers, for arrays of whatever kind
            gravity = arrays.numbers(first.kind, first.device, first.single, tuple(map(float, gravity)))
        given["gravity"], shapes["gravity"] = gravity, (3,)
    if isinstance(call.f_ext, Mapping):
        for link in call.model.link_names:  # in the model's order, so that the order given makes no second kernel
            if link in call.f_ext:
                given[FORCE_ON + link], shapes[FORCE_ON + link] = _listed(call.f_ext[link]), (6,)
        for link in call.f_ext:
            call.model.link_index(link)
    elif call.f_ext is not None:
        given["f_ext"], shapes["f_ext"] = call.f_ext, (call.model.nlinks, 6)
    for name in given:
        if name not in views:
            views[name] = arrays.view(name, given[name])


def _listed(array: Any) -> Array:
    """Plain numbers of one robot are taken as float64."""
    return np.asarray(array, dtype=float) if isinstance(array, (list, tuple)) else array


def _width(model: Model, name: str) -> int:
    return model.nq if name == "q" else model.nv


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
                f"{first_name} is {its}, {name} is {mine}; convert {name} to {its}"
            )


def _dtype(v: View) -> str:
    return "float32" if v.single else "float64"


def _check_shape(
    name: str, v: View, batch: int | None, shape: tuple[int, ...], model: Model, first: tuple[str, View]
) -> None:
    wanted = shape if batch is None else (batch, *shape)
    if v.shape == wanted or (name == "gravity" and v.shape == shape):
        return
    letters = {"q": "nq", "gravity": "3", "f_ext": "nlinks, 6"}.get(name, "6" if name.startswith(FORCE_ON) else "nv")
    sizes = ", ".join(map(str, shape))
    if batch is None and len(first[1].shape) == 1:
        need = f"({letters}) = ({sizes}), as {first[0]} is of one robot"
        need = f"({letters},) = ({sizes},) or (B, {letters}), one row for each robot" if name == first[0] else need
    else:
        need = f"(B, {letters}) = ({batch if name != first[0] else 'B'}, {sizes})"
    raise ValueError(f"{name} must be {need}, got {tuple(v.shape)}.{_shape_hint(name, v, shape, model)}")


def _shape_hint(name: str, v: View, shape: tuple[int, ...], model: Model) -> str:
    """What else the given width could have meant."""
    if name.startswith(("f_ext", "gravity")) or not v.shape or v.shape[-1] == shape[-1]:
        return ""
    noun = "coordinates" if name == "q" else "velocity coordinates"
    mimics = [joint.name for joint in model.joints if joint.mimic is not None and joint.kind.nv]
    if mimics:
        named = "the mimic joint " + mimics[0] + " is" if len(mimics) == 1 else f"the {len(mimics)} mimic joints are"
        return f" {model.name} has {shape[-1]} {noun}: {named} not among them (see model.joint_names)."
    base = ", the base's first" if model.floating_base else ""
    return f" {model.name} has {shape[-1]} {noun}{base} (see model.{'q' if name == 'q' else 'v'}_names)."


def _check_out(
    out: Array, views: Mapping[str, View], batch: int | None, shape: tuple[int, ...], first_name: str, first: View
) -> View:
    v = arrays.view("out", out)
    _check_kind("out", v, first_name, first)
    wanted = shape if batch is None else (batch, *shape)
    if v.shape != wanted:
        raise ValueError(f"out must be {wanted}, got {tuple(v.shape)}")
    arrays.check_writable(out, v)
    for name, given in views.items():
        if arrays.overlap(v, given):
            raise ValueError(
                f"out shares memory with {name}; results are written while inputs are still read: pass another array"
            )
    return v
