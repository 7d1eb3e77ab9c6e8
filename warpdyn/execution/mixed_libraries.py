"""NumPy's arrays next to those of a library that takes them, such as Torch tensors, in one call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import Library
from ..arrays.libraries import NUMPY, library_of, titles
from ..arrays.numpy_arrays import check_unmasked
from ..arrays.protocol import dtype_name
from ..model.params import Params
from .request.call import Call, gather, gathered


def in_one_library(call: Call) -> Call:
    """The call with NumPy's arrays of numbers in the library and on the device of the others.

    They must have their dtype; plain numbers that serve all environments take it, as lists do.
    Numbers are copied, so that a bound call, which reads its arrays again and again, does without.
    """
    # Nearly always all are of one type, and that is seen at once.
    if len(set(map(type, _parts(call)))) < 2:
        return call
    inputs, arrays = gather(call)
    others = [x for x in arrays.values() if library_of(x).takes_numpy]
    if not others:
        return call
    like = others[0]
    library = library_of(like)
    moved = {}
    for name, x in arrays.items():
        if isinstance(x, np.ndarray) and library_of(x) is NUMPY and x.dtype.kind == "f":
            if not (inputs[name].plain and x.ndim == 1):
                _check_dtype(inputs[name].label, x, like, library)
            moved[name] = library.converted(check_unmasked(name, x), like.dtype, like)
    whole = gathered(call)
    return replace(whole, arrays={**whole.arrays, **moved}) if moved else call


def _check_dtype(name: str, x: np.ndarray, like: Any, library: Library) -> None:
    """Refuse numbers that would lose digits, or have more than the result."""
    wanted = dtype_name(like.dtype)
    if x.dtype.name != wanted and wanted in ("float32", "float64"):
        raise TypeError(
            f"all arrays of a call must be of one dtype: {name} is NumPy's {x.dtype}, next to "
            f"{titles[library.name]}'s {wanted}; convert it (.astype(np.{wanted}))"
        )


def _parts(call: Call) -> Iterator[Any]:
    """All that may hold arrays."""
    yield from (x for x in call.arrays.values() if x is not None)
    for more in (call.gravity, call.f_ext):
        if more is not None:
            yield more
    if isinstance(call.params, Params):
        yield from call.params.arrays.values()
