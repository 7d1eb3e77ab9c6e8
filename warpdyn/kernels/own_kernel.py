"""A user's own kernel: a function of one robot in NumPy's notation, as one of warpdyn's functions.

`@wd.kernel` reads its signature; called with a model and arrays it says in a `Call` what it
computes, as built-in functions do, and all that serves them serves it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..arrays import views
from ..execution.argument_checks import listed
from ..execution.batched import Function
from ..execution.call import Call, input_shapes
from ..execution.evaluate import record_call
from ..model import Model
from ..model.params import Params
from ..model.tree import Tree
from . import results as _results
from . import signature as _signature
from .one_robot import OneRobot
from .refusals import RecordingError
from .results import Results
from .values import Values, of

ENV = "env"
"""The input with the environment's number, where a text asks for it."""


class OwnKernel(Function[..., Any]):
    """A function of one robot, for all of them; called with a robot, inside another kernel, it is
    recorded in place."""

    def __init__(self, text: Callable[..., Any]):
        self.text = text
        self.signature = _signature.read(text)
        self._known: WeakKeyDictionary[Model, dict[tuple, tuple[Results, bool]]] = (
            WeakKeyDictionary()
        )
        self.describe = self._described
        functools.update_wrapper(self, text)
        self.of_a_model = True
        self.__signature__ = self.signature.call

    def __call__(self, *args: Any, **options: Any) -> Any:
        """The result for arrays; inside another kernel, for its robot's values."""
        if args and isinstance(args[0], OneRobot):
            return self.text(*args, **options)
        return super().__call__(*args, **options)

    def __reduce__(self) -> str:
        return self.__qualname__

    def _described(
        self,
        model: Model,
        *args: Any,
        out: Any = None,
        params: Params | None = None,
        **options: Any,
    ) -> Call[Any]:
        """What it computes for arrays and options, as a call."""
        name = self.__name__
        given = self._bound(model, args, options)
        declared = self.signature.arrays
        arrays = {n: given.pop(n) for n in declared if n in given}
        if not arrays:
            raise TypeError(f"{name} needs an array, to know how many environments there are")
        constants = {n: p.default[0] for n, p in declared.items() if n not in arrays}
        chosen = tuple(sorted(given.items()))
        for key, value in chosen:
            _check_hashable(name, key, value)
        shapes = {n: declared[n].sizes(model) for n in arrays}
        arrays = {n: listed(x) for n, x in arrays.items()}
        arrays = _numbers_as_arrays(arrays, shapes)
        text = _Text(self, model, params, tuple(arrays), constants)
        call: Call[Any] = Call(
            name,
            model,
            (text,),
            arrays,
            options=chosen,
            shapes=shapes,
            params=params,
            by_velocity={},
            identity=self,
            shared=tuple(n for n in arrays if declared[n].serves_all or not shapes[n]),
        )
        known, asks_env = self._results(call, text)
        first = next(iter(arrays))
        if asks_env:
            call.arrays = {**arrays, ENV: _environments(arrays[first], shapes[first])}
            call.shapes = {**shapes, ENV: (1,)}
        call.results = tuple(known.by_name)
        call.shapes = {
            **{n: r.shape for n, r in known.by_name.items() if n not in call.shapes},
            **call.shapes,
        }
        call.out = known.sorted_out(out)
        call.named = known.handed_out(name, convert=out is None)
        return call

    def _bound(
        self, model: Model, args: tuple[Any, ...], options: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Arguments by name, options that nobody gave at their defaults."""
        try:
            bound = self.signature.call.bind(model, *args, **options)
        except TypeError as error:
            raise TypeError(f"{self.__name__}{self.signature.call}: {error}") from None
        del bound.arguments["model"]
        return {**self.signature.defaults, **bound.arguments}

    def _results(self, call: Call[Any], text: _Text) -> tuple[Results, bool]:
        """What the text returns, and whether it asks for the environment's number; by recording it
        once."""
        known = self._known.setdefault(call.model, {})
        key = (call.options, tuple(call.arrays), call.params.key if call.params else None)
        if key not in known:
            arrays = {**call.arrays, ENV: np.zeros(1)}
            probe: Call[Any] = Call(
                call.name,
                call.model,
                (text.probed,),
                arrays,
                options=call.options,
                shapes={**call.shapes, ENV: (1,)},
                params=call.params,
                by_velocity={},
                identity=self,
            )
            record_call(probe, input_shapes(probe), True)
            known[key] = text.seen
        return known[key]


def kernel(text: Callable[..., Any]) -> OwnKernel:
    """A function of one robot in NumPy's notation, to be run for all of them: `@wd.kernel`.

    Its first argument is the robot, whose methods are warpdyn's functions (`robot.jacobian(q,
    frame="hand")`). Positional arguments are arrays of one robot: q has nq entries, v, a, tau, qd ...
    have nv; another shape stands as annotation (`target: (3,)`, `gains: ("nv", 2)`, `t: ()`). What is
    keyword-only is an option, hashable, a constant of the program. It returns an array, a number, a
    tuple, or a dictionary of these. Called with a model and arrays (B, ...) it runs as one kernel, and
    `bind`, `oracle`, `vjp`, `jvp`, `derivatives`, gradients in Torch, JAX and Warp, `params=` and
    `out=` are as for a built-in function. A result may be written over the input of its name.
    """
    return OwnKernel(text)


class _Text:
    """A kernel's text as an algorithm: on a tree, with arrays as nested lists of scalars."""

    def __init__(
        self,
        kernel: OwnKernel,
        model: Model,
        params: Params | None,
        names: tuple[str, ...],
        constants: Mapping[str, Any],
    ):
        self.kernel, self.model, self.params = kernel, model, params
        self.names, self.constants = names, constants
        self.__name__ = kernel.__name__
        self.seen: tuple[Results, bool]

    def _run(
        self, tree: Tree, arrays: tuple[Any, ...], options: Mapping[str, Any]
    ) -> tuple[Any, OneRobot]:
        env = arrays[len(self.names)][0] if len(arrays) > len(self.names) else None
        robot = OneRobot(self.model, tree, env, self.params)
        values = {n: _values(x, self._sizes(n)) for n, x in zip(self.names, arrays, strict=False)}
        arguments = [values[n] if n in values else self.constants[n] for n in self._order]
        try:
            with np.errstate(all="ignore"):  # of numbers, as in a kernel
                return self.kernel.text(robot, *arguments, **options), robot
        except ValueError as error:
            if isinstance(error.__cause__, RecordingError):  # NumPy has put its own words around it
                raise error.__cause__ from None
            raise

    @property
    def _order(self) -> tuple[str, ...]:
        return tuple(self.kernel.signature.arrays)

    def _sizes(self, name: str) -> tuple[int, ...]:
        return self.kernel.signature.arrays[name].sizes(self.model)

    def __call__(self, tree: Tree, *arrays: Any, **options: Any) -> Any:
        """The results as nested lists, a tuple of them where there are several."""
        returned, _ = self._run(tree, arrays, options)
        entries, _ = _results.named_values(self.kernel.__name__, returned)
        lists = _results.as_lists(entries)
        return lists if len(lists) > 1 else lists[0]

    def probed(self, tree: Tree, *arrays: Any, **options: Any) -> list[Any]:
        """Nothing; what the text returns is described in `seen`."""
        returned, robot = self._run(tree, arrays, options)
        self.seen = (_results.described(self.kernel.__name__, returned), robot.asked_for_env)
        return []


def _values(x: Any, shape: tuple[int, ...]) -> Values:
    """Nested lists of scalars as values of a shape."""
    array: Any = np.empty(shape, dtype=object)
    if array.size:
        array[...] = np.array(x, dtype=object)
    return of(array if array.ndim else array[()])


def _check_hashable(kernel: str, name: str, value: Any) -> None:
    try:
        hash(value)
    except TypeError:
        raise TypeError(
            f"{kernel}: the option {name} is a {type(value).__name__}, which cannot be part of a "
            "kernel's name: options are constants of the program, hashable (numbers, words, tuples); "
            f"what changes from call to call is an array: put {name} before the *"
        ) from None


def _numbers_as_arrays(
    arrays: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, Any]:
    """Plain numbers, for inputs that are a number of each environment, as arrays of the first one's
    kind."""
    if not any(isinstance(x, (int, float)) for x in arrays.values()):
        return dict(arrays)
    first = next((x for x in arrays.values() if not isinstance(x, (int, float))), None)
    if first is None:
        return {n: np.asarray(x, dtype=float) for n, x in arrays.items()}
    v = views.view("the first array", first)
    host = np.float32 if v.single else np.float64
    return {
        n: v.library.from_host(np.asarray(x, dtype=host), v.device)
        if isinstance(x, (int, float))
        else x
        for n, x in arrays.items()
    }


def _environments(first: Any, shape: tuple[int, ...]) -> Any:
    """The environments' numbers as a column, of the kind of the first array."""
    v = views.view("the first array", first)
    count = None if len(v.shape) == len(shape) else v.shape[0]
    if v.single and (count or 0) > 1 << 24:
        raise ValueError(
            f"robot.env of {count} environments has no float32 numbers beyond 2^24; use float64"
        )
    return views.counted(v.library, v.device, v.single, count)
