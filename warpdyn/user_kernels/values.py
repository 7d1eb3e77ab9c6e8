"""Arrays of scalars in NumPy notation, for computations in a user's kernel.

An entry is a number, a recorded symbol, or a condition. NumPy calls this module through two
protocols: `__array_ufunc__` for functions of single entries (`elementary`) and `__array_function__`
for the rest (`array_functions`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..recording.recorder import Symbol
from .conditions import Condition, truth
from .elementary import number, of_entries
from .expressions import show_expressions
from .refusals import UNKNOWN, refuse

LARGEST_CONSTANT = 4096
"""Largest number of entries in an array of numbers that may become constants of a program."""


def _in_place(ufunc: np.ufunc) -> Callable[[Values, Any], Any]:
    """The operator in place, such as += for `np.add`."""

    def operate(self: Values, other: Any) -> Any:
        return ufunc(self, other) if self.is_scalar else ufunc(self, other, out=(self,))

    return operate


class Values(NDArrayOperatorsMixin):
    """An array of scalars whose values are known when the kernel runs, with NumPy's operations.

    A scalar has shape (). `entries`: an array of objects. `whole`: made by `astype(int)`, so that a
    result is stored as integers.
    """

    __slots__ = ("entries", "whole")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, entries: Any, whole: bool = False):
        self.entries = entries
        self.whole = whole

    # Protocols that NumPy calls.

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any
    ) -> Any:
        arrays = [objects(x) for x in inputs]
        if method == "__call__" and not options:
            form = WHOLE_ARRAYS.get(ufunc.__name__) or function(ufunc.__name__)
            result: Any = form(*arrays)
        elif method == "reduce":
            result = WHOLE_ARRAYS["reduce"](ufunc.__name__, arrays[0], **options)
        elif method == "outer" and not options:
            first, second = arrays
            result = function(ufunc.__name__)(
                first.reshape(first.shape + (1,) * second.ndim), second
            )
        else:
            given = f" with {', '.join(sorted(options))}" if options else ""
            remedy = "; use np.cumsum or np.cumprod" if method == "accumulate" else ""
            refuse(f"np.{ufunc.__name__}.{method}{given} has no form in a kernel{remedy}")
        # In-place operators such as x += y pass their target as `out`.
        if out is not None:
            (target,) = out
            if not isinstance(target, Values):
                refuse(
                    "a value that is known only when the kernel runs cannot be written into an array of numbers; "
                    "begin with np.zeros_like(q) or a copy of a value, or write x = x + y"
                )
            target._check_writable()
            result = objects(of(result))
            if truths(target.entries) and not truths(result):
                refuse(
                    f"np.{ufunc.__name__} gives numbers, which do not fit into conditions in place; "
                    "write x = x.astype(float) before"
                )
            target.entries[...] = numbers_of(result) if not truths(target.entries) else result
            return target
        return of(result)

    def __array_function__(
        self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any
    ) -> Any:
        form = array_function(function)
        return form(*args, **kwargs)

    # Attributes of arrays.

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.entries.shape)

    @property
    def ndim(self) -> int:
        return int(self.entries.ndim)

    @property
    def size(self) -> int:
        return int(self.entries.size)

    @property
    def is_scalar(self) -> bool:
        """True where NumPy has a scalar: shape (), and no view. A scalar cannot be written in place,
        and `y = x; y += 1` does not change x."""
        return not self.entries.ndim and self.entries.base is None

    @property
    def array(self) -> Any:
        """The entries for functions that return views: of a scalar a copy, as in NumPy."""
        return self.entries.copy() if self.is_scalar else self.entries

    @property
    def T(self) -> Values:
        return Values(self.entries.T) if self.ndim else self

    def __len__(self) -> int:
        if not self.entries.ndim:
            raise TypeError("a single value has no length")
        return len(self.entries)

    def __iter__(self) -> Iterator[Values]:
        if not self.entries.ndim:
            refuse("a single value cannot be taken apart")
        return (of(x) for x in self.entries)

    def __getitem__(self, key: Any) -> Values:
        return of(self.array[_index(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self._check_writable()
        entries = objects(value)
        entries = truths_of(entries) if truths(self.entries) else numbers_of(entries)
        # If the key names a single entry, NumPy would store an array of shape () itself.
        self.entries[_index(key)] = entries if entries.ndim else entries[()]

    def __getattr__(self, name: str) -> Any:
        form = METHODS.get(name)
        if form is None:
            raise AttributeError(
                f"a value has no {name!r}; it has {', '.join(sorted(METHODS))} and NumPy's functions"
            )
        return lambda *args, **options: form(self, *args, **options)

    def astype(self, kind: Any) -> Values:
        """The same values; as a result of the kernel they are stored as bool or int."""
        dtype = np.dtype(kind)
        if dtype.kind == "b":
            return of(truths_of(self.entries))
        if dtype in (np.int32, np.int64):
            entries = numbers_of(self.entries)
            positive = function("less_equal")(0.0, entries)
            floored, ceiled = (function(name)(entries) for name in ("floor", "ceil"))
            return Values(objects(array_function(np.where)(positive, floored, ceiled)), whole=True)
        check_dtype("astype", dtype)
        return of(numbers_of(self.entries))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """A copy for `np.array`. NumPy's `asarray` would share this array instead of copying it, so
        neither may be written afterwards."""
        if not self.entries.ndim:
            single: Any = np.empty((), dtype=object)
            single[()] = of(self.entries[()])
            return single
        copied = np.empty(self.entries.shape, dtype=object)
        copied[...] = np.frompyfunc(of, 1, 1)(self.entries)
        if copy is not True:
            copied.flags.writeable = False
            for memory in _memories(self.entries):
                memory.flags.writeable = False
        return copied

    def _check_writable(self) -> None:
        if self.is_scalar:
            refuse("a single value cannot be written in place, as in NumPy; write x = value")
        # A view that was made before its memory was shared has no mark of it.
        if not all(memory.flags.writeable for memory in _memories(self.entries)):
            refuse(
                "these values cannot be written: they are broadcast, a diagonal, or shared with what np.asarray "
                "or np.array([x, y]) has made of them; write to x.copy(), and make arrays by np.stack([x, y])"
            )

    def __repr__(self) -> str:
        return show_expressions(self.entries)

    # Operators that write arrays, and give scalars a new value.

    __iadd__, __isub__, __imul__ = map(_in_place, (np.add, np.subtract, np.multiply))
    __itruediv__, __ifloordiv__ = map(_in_place, (np.divide, np.floor_divide))
    __imod__, __ipow__, __imatmul__ = map(_in_place, (np.remainder, np.power, np.matmul))
    __iand__, __ior__, __ixor__ = map(_in_place, (np.bitwise_and, np.bitwise_or, np.bitwise_xor))

    # Operations that need a known value.

    def __bool__(self) -> NoReturn:
        refuse(UNKNOWN)

    def _number(self, *_: Any) -> NoReturn:
        refuse(
            "a value is known only when the kernel runs, so that it cannot become a Python number: "
            "math.sin(x) is np.sin(x) here, x[0] = value needs an array of values (np.zeros_like(q)), "
            "and np.array([x, y]) is np.stack([x, y])"
        )

    __float__ = __int__ = __complex__ = __round__ = __trunc__ = _number

    def __index__(self) -> NoReturn:
        refuse(
            "an index or a number of turns must be known when the kernel is recorded, and this is a value; "
            "choose by np.where, or repeat a known number of times with wd.kernels.repeat(n, step, state, until=...)"
        )


def truths(entries: Any) -> bool:
    """True if all entries are conditions, like those of NumPy's bool arrays."""
    return bool(entries.size) and all(isinstance(x, (bool, Condition)) for x in entries.flat)


def truths_of(entries: Any) -> Any:
    """The entries as conditions; a number is True if it differs from 0."""
    return objects(of(np.frompyfunc(truth, 1, 1)(entries)))


def numbers_of(entries: Any) -> Any:
    """The entries as numbers; a condition is 1 if it holds, else 0."""
    return objects(of(np.frompyfunc(number, 1, 1)(entries)))


def of_one_kind(entries: Any) -> Any:
    """The entries; all as numbers if only some of them are conditions."""
    mixed = any(isinstance(x, (bool, Condition)) for x in entries.flat) and not truths(entries)
    return numbers_of(entries) if mixed else entries


def check_dtype(name: str, dtype: Any) -> None:
    """Raise for a dtype to which the values would have to be rounded."""
    if dtype is not None and np.dtype(dtype) != np.float64:
        refuse(
            f"{name} has no dtype {np.dtype(dtype).name} in a kernel, which computes in the dtype of its arrays; "
            "leave the dtype out, or write x.astype(int) or x.astype(bool)"
        )


def check_options(name: str, options: dict[str, Any]) -> None:
    """Raise for options that would be ignored: a dtype, an output array, a mask."""
    check_dtype(f"np.{name}", options.pop("dtype", None))
    for option in ("out", "where", "casting", "initial"):
        value = options.pop(option, None)
        if value is not None and value is not np._NoValue:  # type: ignore[attr-defined]
            refuse(f"np.{name} has no {option}= in a kernel")


def of(entries: Any) -> Values:
    """Values of an array of entries, or of a single entry."""
    if isinstance(entries, np.ndarray):
        return Values(entries if entries.dtype == object else entries.astype(object))
    single = np.empty((), dtype=object)
    single[()] = entries
    return Values(single)


def objects(x: Any) -> Any:
    """Anything that a kernel may compute with, as an array of entries."""
    if isinstance(x, Values):
        return x.entries
    if isinstance(x, (bool, np.bool_)):
        return of(bool(x)).entries  # a bool is an int too
    if isinstance(x, (Condition, Symbol)):
        return of(x).entries
    if isinstance(x, (int, float)) or (isinstance(x, np.number) and x.dtype.kind in "iuf"):
        return of(float(x)).entries
    if isinstance(x, (list, tuple)):
        return _of_list(x)
    if isinstance(x, np.ndarray):
        if isinstance(x, (np.matrix, np.ma.MaskedArray)) or x.dtype.kind not in "biufO":
            refuse(
                f"a kernel computes with real numbers in NumPy's plain arrays, got {type(x).__name__} of {x.dtype}"
            )
        if x.dtype == object:
            return _unwrap(x)
        if x.size > LARGEST_CONSTANT:
            refuse(
                f"an array of {x.size} numbers from outside would become {x.size} constants of the program, of which "
                f"there may be {LARGEST_CONSTANT}; pass it as an argument, as `table: wd.kernels.shared({x.shape})`"
            )
        return x.astype(bool if x.dtype == bool else float).astype(object)
    if type(x).__module__.partition(".")[0] != "builtins" and hasattr(x, "__array__"):
        return objects(np.asarray(x))
    refuse(f"a kernel computes with values, numbers and NumPy's arrays, got {type(x).__name__}")


def _memories(entries: np.ndarray) -> Iterator[np.ndarray]:
    """An array and the arrays that it is a view of."""
    memory: Any = entries
    while isinstance(memory, np.ndarray):
        yield memory
        memory = memory.base


def _of_list(x: Any) -> Any:
    """Rows of equal shape, stacked."""
    rows = [objects(row) for row in x]
    if len({row.shape for row in rows}) > 1:
        refuse("a list of values is not of one shape; its rows must be of equal length")
    made: Any = np.empty((len(rows), *(rows[0].shape if rows else ())), dtype=object)
    for k, row in enumerate(rows):
        made[k] = row if row.ndim else row[()]
    return of_one_kind(made)


def nest_entries(entries: Any) -> Any:
    """Entries as nested lists of scalars, for the algorithms."""
    return np.frompyfunc(number, 1, 1)(entries).tolist() if entries.ndim else number(entries[()])


def array_of(entries: Any) -> Values:
    """Values of an array where NumPy returns an array also for shape (), not a scalar."""
    values = entries if isinstance(entries, Values) else of(entries)
    return Values(values.entries[None][0, ...], values.whole) if values.is_scalar else values


def values_of_nested(lists: Any, shape: tuple[int, ...]) -> Values:
    """Values of the given shape from nested lists of scalars. Lists alone do not show the shape of
    a matrix without rows."""
    array: Any = np.empty(shape, dtype=object)
    if array.size:
        array[...] = np.array(lists, dtype=object)
    return Values(array)


def _unwrap(array: np.ndarray) -> np.ndarray:
    """An array of objects in which each single value is replaced by its entry."""
    result: np.ndarray = np.empty_like(array)
    for k, x in enumerate(array.flat):
        if isinstance(x, Values):
            if x.entries.ndim:
                refuse("a list of values is not of one shape; its rows must be of equal length")
            x = x.entries[()]
        elif isinstance(x, np.bool_):
            x = bool(x)
        elif not isinstance(x, (bool, Condition, float)) and isinstance(x, (int, np.number)):
            x = objects(x)[()]
        result.flat[k] = x
    return of_one_kind(result)


@cache
def function(name: str) -> Callable[..., Any]:
    """NumPy's function of this name for arrays of entries."""
    form = of_entries(name)
    arguments = getattr(np, name).nin
    return np.frompyfunc(form, arguments, 1)


def _index(key: Any) -> Any:
    """A key, after checking that it contains no values."""
    keys = key if isinstance(key, tuple) else (key,)
    if any(isinstance(k, Values) for k in keys):
        refuse(
            "an index must be known when the kernel is recorded, and this is a value or a condition; "
            "choose by np.where(condition, a, b), or read rows of an array in `arrays` of wd.kernels.loop"
        )
    return key


def array_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Kernel version of one of NumPy's functions of whole arrays."""
    form = ARRAY_FUNCTIONS.get(function)
    if form is None:
        names = ", ".join(sorted({each.__name__ for each in ARRAY_FUNCTIONS}))
        remedy = REMEDIES.get(function, f"there are {names}")
        name = f"{function.__module__}.{function.__name__}".replace("numpy", "np", 1)
        refuse(f"{name} has no form in a kernel; {remedy}")
    return form


ARRAY_FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {}
"""Kernel versions of NumPy's functions of whole arrays; `array_functions` fills this and the next."""
REMEDIES: dict[Callable[..., Any], str] = {}

METHODS: dict[str, Callable[..., Any]] = {}
"""Methods of arrays; `array_functions` fills it."""

WHOLE_ARRAYS: dict[str, Callable[..., Any]] = {}
"""The product `matmul`, and `reduce`, which combines entries along axes; `reductions` fills it."""
