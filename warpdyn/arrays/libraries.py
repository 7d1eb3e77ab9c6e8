"""The registry of array libraries: it finds the library of an array.

A library is recognised by the module that its arrays' type comes from, and its file here is
imported when the first of its arrays arrives. So warpdyn imports no library that the caller has not
imported. To add a library, add a file `<name>_arrays.py` with its `LIBRARY`, and a line to
`REGISTRY` and `_LIBRARIES`. From outside warpdyn, call `register`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from . import numpy_arrays, warp_arrays
from .protocol import Library


def _load_torch() -> Library:
    from . import torch_arrays

    return torch_arrays.LIBRARY


def _load_jax() -> Library:
    from . import jax_arrays

    return jax_arrays.LIBRARY


_LIBRARIES = {
    "numpy": lambda: numpy_arrays.LIBRARY,
    "torch": _load_torch,
    "warp": lambda: warp_arrays.LIBRARY,
    "jax": _load_jax,
}
"""Functions that import the file of a library."""

REGISTRY = {"numpy": "NumPy", "torch": "Torch", "warp": "Warp", "jax": "JAX"}
"""Titles of libraries in messages, by name. The name is that of the Python package and of the file
here."""

PACKAGES = {"jaxlib": "jax"}
"""Packages whose array types belong to a library of another name."""

NUMPY: Library = numpy_arrays.LIBRARY
"""NumPy, which also handles plain numbers."""

WARP: Library = warp_arrays.LIBRARY
"""Warp, whose arrays are the results if the caller names a device but passes no array."""

known: dict[type, Library] = {}
"""The library of each array type that has arrived so far."""

titles = dict(REGISTRY)


def register(library: Library, title: str | None = None) -> None:
    """Add a library, whose arrays are recognised by its `array_type`."""
    kinds = library.array_type
    known.update(dict.fromkeys(kinds if isinstance(kinds, tuple) else (kinds,), library))
    titles[library.name] = title or library.name


register(NUMPY, REGISTRY[NUMPY.name])
register(WARP, REGISTRY[WARP.name])


def find_library(array: object) -> Library | None:
    """The library of an array; None if the object is not an array of any library."""
    kind = type(array)
    for base in kind.__mro__:
        package = base.__module__.partition(".")[0]
        library = known.get(base) or _load_built_in(PACKAGES.get(package, package))
        if library is not None and isinstance(array, library.array_type):
            known[kind] = library  # from now on this type is found immediately
            return library
    return None


@cache
def _load_built_in(name: str) -> Library | None:
    if name not in REGISTRY:
        return None
    return _LIBRARIES[name]()


def library_of(array: object) -> Library:
    """The library of an array; NumPy for numbers and lists."""
    return known.get(type(array)) or find_library(array) or NUMPY


def library_of_all(values: Iterable[Any]) -> Library:
    """The library of the first array that is not NumPy's: every library accepts NumPy's numbers."""
    return next((found for found in map(library_of, values) if found is not NUMPY), NUMPY)


def library_for(device: Any) -> Library:
    """The library of new arrays for a device: NumPy in the CPU's memory, Warp elsewhere."""
    return WARP if warp_arrays.find_device(device).is_cuda else NUMPY


def not_an_array(name: str, array: object) -> TypeError:
    *others, last = titles.values()
    return TypeError(
        f"{name} must be a {', '.join(others)} or {last} array of float32 or float64, "
        f"got {type(array).__name__}"
    )
