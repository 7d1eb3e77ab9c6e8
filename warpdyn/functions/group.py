"""Different robots in one batch: each model works on its own rows of common arrays."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple, overload

import numpy as np

from ..arrays import A, Array, View, views
from ..arrays.libraries import library_of
from ..execution.batched import bind, describe_call
from ..execution.launch.job import BoundCall, Constants
from ..execution.request.call import ResultCheck, input_shapes, inputs_of
from ..execution.request.evaluate import record_call, result_shapes
from ..execution.request.inputs import Input
from ..model import Model
from ..model.params import Params
from .whole_numbers import whole_number


class Cost(NamedTuple):
    """Cost of a function for one environment of a model: arithmetic operations, bytes read and
    written."""

    model: str
    envs: int
    operations: int
    bytes: int


class Group:
    """Several models, each with its number of environments, in consecutive rows of common arrays.

    `group(wd.rnea, q, v, a)` calls the function for each model on its rows: arrays are (B, n) with
    B the sum of `envs` and n at least as many columns as the widest model needs; a narrower model
    uses the first columns and does not touch the rest. Results are as wide as those of the widest
    model, with zeros beyond a model's own columns. Each model has its own kernel and launch, and
    nothing is copied. Robots that differ in numbers only need no group: see `Model.params`.
    """

    def __init__(self, models: Sequence[Model], envs: Sequence[int]):
        for name, values in (("models", models), ("envs", envs)):
            if not isinstance(values, Sequence | np.ndarray) or isinstance(values, str):
                raise TypeError(
                    f"{name} must be a list with one entry for each model, got {values!r}"
                )
        for i, model in enumerate(models):
            if not isinstance(model, Model):
                raise TypeError(f"models[{i}] must be a Model, got {model!r}")
        if not models or len(models) != len(envs):
            raise ValueError(
                f"a group needs models and a number of environments for each, got {len(models)}, {envs}"
            )
        self.models = tuple(models)
        self.envs = tuple(whole_number(f"envs[{i}]", count) for i, count in enumerate(envs))
        ends = list(accumulate(envs))
        self.rows = tuple(slice(end - count, end) for end, count in zip(ends, envs, strict=True))
        """The rows of each model in the arrays."""

    @property
    def count(self) -> int:
        """Number of environments of all models."""
        return sum(self.envs)

    @property
    def nq(self) -> int:
        """Columns of q, as many as the widest model needs."""
        return max(model.nq for model in self.models)

    @property
    def nv(self) -> int:
        return max(model.nv for model in self.models)

    def __repr__(self) -> str:
        parts = ", ".join(
            f"{n} {m.name} (nq {m.nq}, nv {m.nv})"
            for m, n in zip(self.models, self.envs, strict=True)
        )
        used = sum(model.nv * n for model, n in zip(self.models, self.envs, strict=True))
        empty = 1 - used / max(self.nv * self.count, 1)
        return f"<Group of {self.count} environments: {parts}; {empty:.0%} of (B, {self.nv}) arrays is padding>"

    @overload
    def __call__(
        self,
        function: Callable[..., Array],
        *given: Array[A],
        out: Any = None,
        each: Mapping[str, Sequence[Any]] | None = None,
        **options: Any,
    ) -> A: ...
    @overload
    def __call__(
        self,
        function: Callable[..., Any],
        *given: Array[A],
        out: Any = None,
        each: Mapping[str, Sequence[Any]] | None = None,
        **options: Any,
    ) -> A | tuple[A, ...]: ...
    def __call__(
        self,
        function: Callable[..., Any],
        *given: Array[A],
        out: Any = None,
        each: Mapping[str, Sequence[Any]] | None = None,
        **options: Any,
    ) -> A | tuple[A, ...]:
        """The function's result for all environments.

        given: arrays of the function.
        options: its keywords, the same for all models; arrays among them are (B, ..), or serve all
        environments where the function allows it, such as gravity (3,).
        each: keywords that differ, with one value for each model: {"params": [a, None], "frame":
        ["hand", "tool0"]}.
        """
        calls = self._calls(function, given, options, each)
        if out is None and not all(map(_writes_in_place, given)):
            return _join([function(*args, **keywords) for args, keywords in calls])
        outs, make_result = self._outs(function, calls, out)
        for (args, keywords), mine in zip(calls, outs, strict=True):
            function(*args, out=mine, **keywords)
        return make_result()

    @overload
    def bind(
        self,
        function: Callable[..., Array],
        *given: Array[A],
        out: Any = None,
        each: Mapping[str, Sequence[Any]] | None = None,
        constants: Constants = "each_run",
        **options: Any,
    ) -> Callable[[], A]: ...
    @overload
    def bind(
        self,
        function: Callable[..., Any],
        *given: Array[A],
        out: Any = None,
        each: Mapping[str, Sequence[Any]] | None = None,
        constants: Constants = "each_run",
        **options: Any,
    ) -> Callable[[], A | tuple[A, ...]]: ...
    def bind(
        self,
        function: Callable[..., Any],
        *given: Array[A],
        out: Any = None,
        each: Mapping[str, Sequence[Any]] | None = None,
        constants: Constants = "each_run",
        **options: Any,
    ) -> Callable[[], A | tuple[A, ...]]:
        """Prepare the calls once, as `warpdyn.bind` does; `run()` then launches them without any
        check. constants: as in `warpdyn.bind`."""
        calls = self._calls(function, given, options, each)
        outs, make_result = self._outs(function, calls, out)
        launches: list[Callable[[], Any]] = [
            bind(function, *args, out=mine, constants=constants, **keywords)
            for (args, keywords), mine in zip(calls, outs, strict=True)
        ]

        def run(*surplus: Any) -> A | tuple[A, ...]:
            for launch in launches:
                launch(*surplus)  # which refuses them
            return make_result()

        return BoundCall(run)

    def cost(
        self,
        function: Callable[..., Any],
        each: Mapping[str, Sequence[Any]] | None = None,
        **options: Any,
    ) -> list[Cost]:
        """Cost of one environment of each model in float32, counted from the recorded program,
        without launches."""
        needed = [
            p
            for p in inspect.signature(function).parameters.values()
            if p.default is p.empty and p.kind == 1
        ]
        costs = []
        for k, model in enumerate(self.models):
            call = describe_call(
                function, (model, *[...] * (len(needed) - 1)), options | _keywords_of_group(each, k)
            )
            program = record_call(call, input_shapes(call), True)
            read = sum(s.operation == "input" for s in program.statements)
            written = sum(o.node is not None for o in program.outputs)
            costs.append(Cost(model.name, self.envs[k], program.operations, 4 * (read + written)))
        return costs

    def _calls(
        self,
        function: Callable[..., Any],
        given: Sequence[Array],
        options: Mapping[str, Any],
        each: Mapping[str, Sequence[Any]] | None,
    ) -> list[tuple[tuple, dict[str, Any]]]:
        """Arguments and keywords for each model: its rows, and the columns that it uses."""
        if isinstance(options.get("params"), Params):
            raise TypeError(
                "params belong to one model; give each model its own, or None: "
                'each={"params": [first, second, ...]}'
            )
        for name, values in (each or {}).items():
            if name in options:
                raise TypeError(f"{name} is in each= and a keyword for all models; leave one out")
            if len(values) != len(self.models):
                raise ValueError(
                    f"each: {name} needs {len(self.models)} values, one for each model, got {len(values)}"
                )
        calls = []
        for k, (model, rows) in enumerate(zip(self.models, self.rows, strict=True)):
            call = describe_call(
                function, (model, *given), dict(options) | _keywords_of_group(each, k)
            )
            inputs = inputs_of(call)
            # The arrays of a call are those given, then those of its options, such as a seed.
            parts = tuple(
                x if x is None else self._part(name, x, rows, inputs[name].shape)
                for name, x in zip(call.arrays, given, strict=False)
            )
            shared = {
                n: x[rows] if self._has_rows(n, x, inputs.get(n)) else x for n, x in options.items()
            }
            calls.append(((model, *parts), shared | _keywords_of_group(each, k)))
        return calls

    def _has_rows(self, name: str, x: Any, record: Input | None) -> bool:
        """True for an option with a row for each environment. Raises if it has another number of
        rows."""
        got = tuple(getattr(x, "shape", ()))
        if record is None or len(got) != len(record.shape) + 1:
            return record is None and got[:1] == (self.count,)
        if got[0] != self.count:
            needed = ", ".join(map(str, (self.count, *record.shape)))
            widths = ", ".join(map(str, record.shape))
            raise ValueError(f"{name} must be (B, {widths}) = ({needed}), got {got}: {self!r}")
        return True

    def _part(self, name: str, x: Array, rows: slice, shape: tuple[int, ...]) -> Array:
        got = tuple(x.shape)
        if (
            len(got) != len(shape) + 1
            or got[0] != self.count
            or any(a < b for a, b in zip(got[1:], shape, strict=True))
        ):
            needed = ", ".join(map(str, shape))
            raise ValueError(
                f"{name} must be (B, n) = ({self.count}, at least {needed}), got {got}: {self!r}"
            )
        return x[(rows, *(slice(0, n) for n in shape))]

    def _outs(
        self, function: Callable[..., Any], calls: Sequence[tuple[tuple, dict[str, Any]]], out: Any
    ) -> tuple[list[list[Array]], Callable[[], Any]]:
        """The part of each result that each model writes, and a function that makes the whole result
        after the launches: flags and counts are converted copies of what a kernel writes."""
        asked = [describe_call(function, args, keywords) for args, keywords in calls]
        shapes = [list(result_shapes(call).values()) for call in asked]
        widest = [tuple(map(max, zip(*each, strict=True))) for each in zip(*shapes, strict=True)]
        first = views.view("the first array", calls[0][0][1])
        if out is None:
            whole = [_zeros(first, self.count, shape) for shape in widest]
        else:
            whole = list(out) if isinstance(out, (tuple, list)) else [out]
        for k, (x, shape) in enumerate(zip(whole, widest, strict=True)):
            if tuple(x.shape) != (self.count, *shape):
                raise ValueError(f"out[{k}] must be {(self.count, *shape)}, got {tuple(x.shape)}")
        outs = [
            [
                x[(rows, *(slice(0, n) for n in shape))]
                for x, shape in zip(whole, needed, strict=True)
            ]
            for rows, needed in zip(self.rows, shapes, strict=True)
        ]
        named = asked[0].named
        if out is not None:  # the result then holds these arrays, unconverted
            args, keywords = calls[0]
            named = describe_call(function, args, {**keywords, "out": outs[0]}).named
        return outs, partial(_make_result, named, whole)


def _make_result(named: Callable[..., Any] | None, whole: Sequence[Array]) -> Any:
    """The result in the form that the function gives it, from the arrays that its kernels wrote."""
    if named is not None and not isinstance(named, ResultCheck):  # each model's call has checked
        return named(*whole)
    return tuple(whole) if len(whole) > 1 else whole[0]


def _keywords_of_group(each: Mapping[str, Sequence[Any]] | None, k: int) -> dict[str, Any]:
    return {name: values[k] for name, values in (each or {}).items()}


def _zeros(first: View, count: int, shape: tuple[int, ...]) -> Array:
    """An array of zeros like the first array: its library, device, dtype and memory order."""
    side_by_side = first.strides[0] == 1
    x = views.empty(first.library, first.device, first.single, count, shape, side_by_side)
    first.library.write(x, 0.0)
    return x


def _writes_in_place(x: Array) -> bool:
    """True if results can be written into parts of one array: not for JAX, and not if Torch
    differentiates."""
    return not library_of(x).functional(x)


def _join(results: Sequence[Any]) -> Any:
    """Results one after the other, padded with zeros, by operations that JAX and Torch
    differentiate."""
    first = results[0]
    if isinstance(first, tuple):
        whole = tuple(_join(parts) for parts in zip(*results, strict=True))
        return first._make(whole) if hasattr(first, "_make") else whole
    widest = [max(sizes) for sizes in zip(*(x.shape[1:] for x in results), strict=True)]
    return library_of(first).end_to_end(results, widest)
