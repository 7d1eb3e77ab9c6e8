"""Results of a kernel: an array, a tuple or a dictionary of arrays."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal, NamedTuple

from ..arrays import Array, views
from .conditions import Condition
from .refusals import RecordingError
from .values import Values, nest_entries, objects

Kind = Literal["float", "bool", "int"]


class Result(NamedTuple):
    """A result: the shape of one environment's slice, and the type it is stored as."""

    shape: tuple[int, ...]
    kind: Kind


class Results(NamedTuple):
    """All results by name, in order. `form` is the form of the returned value: one array, a tuple,
    or a dictionary."""

    by_name: Mapping[str, Result]
    form: Literal["one", "tuple", "dictionary"]

    def result_maker(self, kernel: str, convert: bool) -> Callable[..., Any] | None:
        """Function that makes the user's result from the arrays; None if they are the result.

        convert: return conditions as bool and whole numbers as int32, instead of the computed
        numbers.
        """
        casts = {"bool": "bool", "int": "int32"}
        kinds = [casts.get(result.kind) if convert else None for result in self.by_name.values()]
        make: Any = None
        if self.form == "dictionary":
            make = _tuple_type(kernel, tuple(self.by_name))
        if make is None and not any(kinds):
            return None

        def make_result(*arrays: Array) -> Any:
            made = [
                array if kind is None else views.cast(array, kind)
                for array, kind in zip(arrays, kinds, strict=True)
            ]
            if make is not None:
                return make(*made)
            return tuple(made) if len(made) > 1 else made[0]

        # Without casts the result holds the arrays themselves.
        return make_result if any(kinds) else make

    def arrays_of_out(self, out: Any) -> Any:
        """The caller's `out=`, given as a dictionary by name or in the form of built-in
        functions."""
        if not isinstance(out, Mapping):
            return out
        if set(out) != set(self.by_name):
            raise TypeError(
                f"out must have an array for each result, {', '.join(self.by_name)}; got {', '.join(map(str, out))}"
            )
        arrays = tuple(out[name] for name in self.by_name)
        return arrays if len(arrays) > 1 else arrays[0]


@cache
def _tuple_type(kernel: str, names: tuple[str, ...]) -> Callable[..., Any]:
    """A named tuple of a kernel's results."""
    return namedtuple(kernel if kernel.isidentifier() else "Results", names)


def _by_name(kernel: str, returned: Any) -> tuple[dict[str, Any], str]:
    """A kernel's returned values by name, and their form."""
    if returned is None:
        raise RecordingError(f"{kernel} returned nothing; it must return its result")
    if isinstance(returned, Mapping):
        for name in returned:
            if not isinstance(name, str) or not name.isidentifier() or name.startswith("_"):
                raise RecordingError(
                    f"{kernel}: names of results must be words such as 'tau', got {name!r}"
                )
        pairs, form = dict(returned), "dictionary"
    elif isinstance(returned, tuple) and hasattr(returned, "_asdict"):
        pairs, form = returned._asdict(), "dictionary"
    elif isinstance(returned, tuple):
        pairs, form = {f"out{k}": x for k, x in enumerate(returned)}, "tuple"
    else:
        pairs, form = {"out": returned}, "one"
    if not pairs:
        raise RecordingError(f"{kernel} returned no results")
    return pairs, form


def entries_by_name(kernel: str, returned: Any) -> dict[str, Any]:
    """Arrays of entries by name, from a kernel's returned value."""
    pairs, _ = _by_name(kernel, returned)
    return {name: _entries(kernel, name, x) for name, x in pairs.items()}


def _entries(kernel: str, name: str, x: Any) -> Any:
    try:
        return objects(x)
    except RecordingError as error:
        raise RecordingError(f"{kernel}: its result {name}: {error}") from None


def describe_results(kernel: str, returned: Any) -> Results:
    """Names, shapes and kinds of a kernel's returned values."""
    pairs, form = _by_name(kernel, returned)
    by_name = {}
    for name, x in pairs.items():
        array = _entries(kernel, name, x)
        if array.ndim > 3:
            raise RecordingError(
                f"{kernel}: the result {name} has shape {array.shape}; a result has three dimensions at most"
            )
        kind: Kind = "int" if isinstance(x, Values) and x.whole else "float"
        if array.size and all(isinstance(entry, (bool, Condition)) for entry in array.flat):
            kind = "bool"
        by_name[name] = Result(tuple(array.shape), kind)
    return Results(by_name, form)  # type: ignore[arg-type]


def as_lists(entries: Mapping[str, Any]) -> tuple[Any, ...]:
    """The results as nested lists of scalars, in the form that algorithms return."""
    return tuple(nest_entries(array) for array in entries.values())
