"""A user's kernel: a function of one robot in NumPy notation, as a warpdyn function.

`@wd.kernel` reads its signature. Called with a model and arrays it describes its computation as a
`Call`, like built-in functions, so that all features for calls work with it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from math import prod
from types import MappingProxyType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ..arrays.libraries import library_of
from ..arrays.protocol import dtype_name
from ..execution.batched import Function
from ..execution.fast_paths import calls_in_c
from ..execution.launch.batch_shape import first_leading
from ..execution.repeat.call_cache import CallCache
from ..execution.repeat.call_key import value_key
from ..execution.request.argument_checks import dtype_of_lists
from ..execution.request.call import Call, input_shapes
from ..execution.request.evaluate import record_call
from ..execution.request.inputs import ArgumentSpec
from ..model import Model
from ..model.params import Params
from ..model.tree import Tree
from ..recording.program import flat
from ..recording.recorder import Symbol
from . import results as _results
from . import signature as _signature
from .one_robot import OneRobot
from .random_states import random_states, refuse_different_programs
from .refusals import RECORDED_MODEL, RecordingError, refuse, with_place
from .results import Results
from .signature import Shape, SharedArray, Signature, Table
from .table_lookups import LookupTable
from .values import objects, of, values_of_nested

ENV = "env"
"""The input with the environment's index, for functions that use it."""


class OwnKernel(Function[..., Any]):
    """A function of one robot that runs for a batch; called with a robot, inside another kernel, it
    is recorded in place."""

    def __init__(self, text: Callable[..., Any], signature: Signature | None = None):
        self.text = text
        self.signature = _signature.read_signature(text) if signature is None else signature
        self._known: WeakKeyDictionary[Model, dict[tuple, _PreparedKernel]] = WeakKeyDictionary()
        self.describe = self._describe_call
        functools.update_wrapper(self, text)
        self.of_a_model = True
        self.__signature__ = self.signature.call
        self._calls = CallCache(self.signature.call, calls_in_c)

    @classmethod
    def of_shapes(
        cls,
        name: str,
        shapes: Mapping[str, Shape | SharedArray | Table],
        function: Callable[[Any, dict[str, Any]], Any],
    ) -> OwnKernel:
        """A kernel that names its arrays by a mapping instead of a signature: `function` gets the
        robot, and the values of all arrays by name."""

        def text(robot: Any, *values: Any) -> Any:
            return function(robot, dict(zip(shapes, values, strict=True)))

        text.__name__ = text.__qualname__ = name
        text.__module__ = function.__module__
        return cls(text, _signature.of_shapes(name, shapes))

    def __call__(self, *args: Any, **options: Any) -> Any:
        """The result for arrays or, inside another kernel, for its robot's values."""
        if args and isinstance(args[0], OneRobot):
            return self._record_in_place(args[0], args[1:], options)
        return super().__call__(*args, **options)

    def _record_in_place(
        self, robot: OneRobot, args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        """The result for another kernel's values, which must have the shapes that the signature
        names."""
        try:
            bound = self.signature.call.bind(robot, *args, **options).arguments
        except TypeError as error:
            raise TypeError(f"{self.__name__}{self.signature.call}: {error}") from None
        for name in ("params", "out"):
            if bound.get(name) is not None:
                refuse(f"{name}= belongs to the call of the outer kernel, not to {self.__name__}")
        arrays = []
        for name, each in self.signature.arrays.items():
            x = bound.get(name)
            if name not in bound:
                x = self._default(name, robot._model)
            elif x is not None and not isinstance(x, LookupTable):
                x = of(objects(x)) if isinstance(x, (list, tuple)) else x
                shape, needed = objects(x).shape, each.sizes(robot._model)
                if shape != needed:
                    refuse(f"{self.__name__}: {name} must have the shape {needed}, got {shape}")
            arrays.append(x)
        chosen = {n: bound.get(n, x) for n, x in self.signature.defaults.items()}
        return self.text(robot, *arrays, **chosen)

    def _default(self, name: str, model: Model) -> Any:
        """The default of an array that is left out: an array of its shape, as if it had been passed.
        None, and a number of an argument of shape (), stay as they are."""
        argument = self.signature.arrays[name]
        default, shape = argument.default[0], argument.sizes(model)
        if default is None:
            return None
        array = np.array(default)
        if array.dtype.kind not in "biuf" or (array.ndim and array.shape != shape):
            raise TypeError(
                f"{self.__name__}: the default of {name!r} must be one number, or numbers of the shape {shape}, "
                f"got {default!r}"
            )
        return np.broadcast_to(array, shape).copy() if shape else default

    def __reduce__(self) -> str:
        return self.__qualname__

    def argument_shape(
        self, model: Model, name: str, options: Mapping[str, Any] = MappingProxyType({})
    ) -> tuple[int, ...]:
        """Shape of one environment's slice of an array."""
        return self.signature.arrays[name].sizes(model)

    def _describe_call(
        self,
        model: Model,
        *args: Any,
        out: Any = None,
        params: Params | None = None,
        **options: Any,
    ) -> Call[Any]:
        """The computation for arrays and options, as a call."""
        name, given = self.__name__, self._bind_arguments(model, args, options)
        chosen: tuple[tuple[str, Any], ...] = ()
        if self.signature.defaults:
            chosen = tuple((n, given.pop(n)) for n in self.signature.defaults)
            _check_hashable(name, chosen)
        # Recording the function takes long, so its results are kept for each model, set of arrays
        # and options.
        options_key = value_key(chosen) if chosen else ()
        key = (tuple(given), options_key, None if params is None else params.key)
        known = self._known.get(model)
        if known is None:
            known = self._known[model] = {}
        prepared = known.get(key)
        if prepared is None:
            prepared = known[key] = self._prepare(model, given, chosen, options_key, params)
        arrays = _as_arrays(given, prepared.shapes)
        if prepared.asks_env:
            arrays[ENV] = _environments(arrays, prepared.shapes)
        return Call(
            name,
            model,
            (_KernelAlgorithm(self, model, params, tuple(given)),),
            arrays,
            out=prepared.results.arrays_of_out(out),
            options=chosen,
            results=tuple(prepared.results.by_name),
            shapes=prepared.shapes,
            params=params,
            by_velocity=None,
            identity=(self, options_key),
            arguments=prepared.arguments,
            named=prepared.named if out is None else prepared.plainly_named,
        )

    def _bind_arguments(
        self, model: Model, args: tuple[Any, ...], options: dict[str, Any]
    ) -> dict[str, Any]:
        """Arrays by name in the order of the signature, then all options."""
        try:
            bound = self.signature.call.bind(model, *args, **options).arguments
        except TypeError as error:
            raise TypeError(f"{self.__name__}{self.signature.call}: {error}") from None
        given = {n: bound[n] for n in self.signature.arrays if n in bound}
        if not given:
            raise TypeError(
                f"{self.__name__} needs an array, to know how many environments there are"
            )
        return {**given, **{n: bound.get(n, x) for n, x in self.signature.defaults.items()}}

    def _prepare(
        self,
        model: Model,
        given: Mapping[str, Any],
        options: tuple[tuple[str, Any], ...],
        options_key: Hashable,
        params: Params | None,
    ) -> _PreparedKernel:
        """Shapes and kinds of the results for such arrays and options, from recording the function
        once."""
        declared = self.signature.arrays
        shapes = {n: declared[n].sizes(model) for n in given}
        arguments = {
            n: ArgumentSpec(plain=declared[n].serves_all or not shapes[n], table=declared[n].table)
            for n in given
        }
        text = _KernelAlgorithm(self, model, params, tuple(given))
        shaped = {**shapes, ENV: (1,)}
        probe: Call[Any] = Call(
            self.__name__,
            model,
            (text.probe_results,),
            {n: np.zeros(shape) for n, shape in shaped.items()},
            options=options,
            shapes=shaped,
            params=params,
            by_velocity=None,
            identity=(self, options_key),
            arguments=arguments,
        )
        before = random_states(self.text, dict(options))
        record_call(probe, input_shapes(probe), True)
        results, asks_env = text.seen
        if random_states(self.text, dict(options)) != before:
            whole = replace(probe, algorithms=(text,))
            programs = [record_call(whole, input_shapes(probe), True) for _ in range(2)]
            refuse_different_programs(self.__name__, *programs)
        for n, result in results.by_name.items():
            if n in shapes and result.shape != shapes[n]:
                raise RecordingError(
                    f"{self.__name__}: its result {n!r} has the shape {result.shape}, and the array {n!r} has "
                    f"{shapes[n]}; give the result another name"
                )
        # Nested lists do not show the shape of a matrix without rows.
        of_results = {n: r.shape for n, r in results.by_name.items() if n not in shapes}
        return _PreparedKernel(
            results=results,
            asks_env=asks_env,
            shapes={**of_results, **(shaped if asks_env else shapes)},
            arguments=arguments,
            named=results.result_maker(self.__name__, convert=True),
            plainly_named=results.result_maker(self.__name__, convert=False),
        )


class _PreparedKernel(NamedTuple):
    """Facts about a kernel for a model, its options and the names of its arrays."""

    results: Results
    asks_env: bool
    shapes: Mapping[str, tuple[int, ...]]
    """Shapes of one environment's slices, by array and result."""
    arguments: Mapping[str, ArgumentSpec]
    named: Callable[..., Any] | None
    plainly_named: Callable[..., Any] | None
    """Functions that make the user's result from the arrays, and from the arrays of `out=`."""


def kernel(function: Callable[..., Any]) -> OwnKernel:
    """A function of one robot in NumPy notation that runs for a whole batch: `@wd.kernel`.

    Its first argument is the robot, whose methods are warpdyn's functions, such as
    `robot.jacobian(q, frame="hand")`. Positional arguments are arrays of one robot: q has nq
    entries, and v, a, tau, qd ... have nv. Another shape is given by an annotation (`target: (3,)`,
    `gains: ("nv", 2)`, `t: ()`). Keyword-only arguments are options: hashable constants of the
    program. The function returns an array, a number, a tuple, or a dictionary of these.

    Called with a model and arrays (B, ...) it runs as one kernel. `bind`, `oracle`, `vjp`, `jvp`,
    `derivatives`, gradients in Torch, JAX and Warp, `params=` and `out=` work as for a built-in
    function. A result may overwrite the input with the same name.
    """
    return OwnKernel(function)


class _KernelAlgorithm:
    """A kernel's function as an algorithm: on a tree, with arrays as nested lists of scalars."""

    def __init__(
        self, kernel: OwnKernel, model: Model, params: Params | None, names: tuple[str, ...]
    ):
        self.kernel, self.model, self.params, self.names = kernel, model, params, names
        self.__name__ = kernel.__name__
        self.seen: tuple[Results, bool]

    def _run(
        self, tree: Tree, arrays: tuple[Any, ...], options: Mapping[str, Any]
    ) -> tuple[Any, OneRobot]:
        for x in flat(arrays):
            if isinstance(x, Symbol):
                x.graph.guards_slopes = True
                break
        env = arrays[len(self.names)][0] if len(arrays) > len(self.names) else None
        robot = OneRobot(self.model, tree, env, self.params)
        declared = self.kernel.signature.arrays
        values = {
            n: (LookupTable if declared[n].table else values_of_nested)(
                x, declared[n].sizes(self.model)
            )
            for n, x in zip(self.names, arrays, strict=False)
        }
        arguments = [
            values[n] if n in values else self.kernel._default(n, self.model) for n in declared
        ]
        before = RECORDED_MODEL.set(self.model)
        try:
            with np.errstate(all="ignore"):  # for operations on plain numbers, as in a kernel
                return self.kernel.text(robot, *arguments, **options), robot
        except (TypeError, ValueError, ArithmeticError) as error:
            raise with_place(error) from error.__cause__
        finally:
            RECORDED_MODEL.reset(before)

    def __call__(self, tree: Tree, *arrays: Any, **options: Any) -> Any:
        """The results as nested lists; a tuple of them if there are several."""
        returned, _ = self._run(tree, arrays, options)
        lists = _results.as_lists(_results.entries_by_name(self.kernel.__name__, returned))
        return lists if len(lists) > 1 else lists[0]

    def probe_results(self, tree: Tree, *arrays: Any, **options: Any) -> list[Any]:
        """No results; `seen` describes what the function returns."""
        returned, robot = self._run(tree, arrays, options)
        self.seen = (_results.describe_results(self.kernel.__name__, returned), robot.asked_for_env)
        return []


def _check_hashable(kernel: str, options: tuple[tuple[str, Any], ...]) -> None:
    try:
        hash(options)
    except TypeError:
        name, value = next((n, x) for n, x in options if not isinstance(x, Hashable))
        raise TypeError(
            f"{kernel}: the option {name} is a {type(value).__name__}, which is not hashable: "
            "options are constants of the program (numbers, words, tuples); if it changes from call "
            f"to call, make {name} an array: put it before the *"
        ) from None


def _as_arrays(given: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
    """Arrays by name; a list becomes a NumPy array of the first array's dtype. A plain number, for
    an input with one number in each environment, becomes an array like the first array, or on CUDA
    an array of NumPy, which the launch passes by value."""
    dtype = dtype_of_lists(given.values())
    arrays = {
        n: np.asarray(x, dtype) if isinstance(x, (list, tuple)) else x for n, x in given.items()
    }
    if all(shapes[n] for n in arrays):
        return arrays
    others = {n: x for n, x in arrays.items() if not isinstance(x, (int, float, np.number))}
    lead, _ = first_leading({n: x.shape for n, x in others.items()}, shapes)
    first = next(iter(others.values()), np.zeros(0))
    library, dtype = library_of(first), dtype_name(first.dtype)
    for n, x in arrays.items():
        if n not in others and library.on_cuda(first):
            arrays[n] = np.array(x, dtype)
        elif n not in others:
            arrays[n] = library.convert_like(np.full(lead, x, dtype=dtype), dtype, first)
    return arrays


def _environments(arrays: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> Any:
    """The environments' indices, one for each, as an array like the first array."""
    lead, _ = first_leading({n: x.shape for n, x in arrays.items()}, shapes)
    first = next(iter(arrays.values()))
    dtype = dtype_name(first.dtype)
    if dtype == "float32" and prod(lead) > 1 << 24:
        raise ValueError(
            f"robot.env of {prod(lead)} environments has no float32 numbers beyond 2^24; use float64"
        )
    numbers = np.arange(prod(lead), dtype=dtype).reshape(*lead, 1)
    return library_of(first).convert_like(numbers, dtype, first)
