"""Attributes to which a launch is bound: an array is written into, not replaced."""

from __future__ import annotations

import inspect
import warnings
from difflib import get_close_matches
from typing import Any


class BoundAttributes:
    """An object whose public attributes keep their values after `_bind_attributes`.

    Otherwise `sim.q = q` would leave the simulation as it is, and hide its state. Names of the
    constructor's arguments cannot be set either: `sim.dt = 0.001` would have no effect. A new name
    that is nearly that of an array, such as `sim.target`, gives a warning.
    """

    _bound: frozenset[str] = frozenset()
    _arguments: frozenset[str] = frozenset()

    def _bind_attributes(self) -> None:
        self._bound = frozenset(name for name in vars(self) if not name.startswith("_"))
        (kind,) = (k for k in type(self).__mro__ if BoundAttributes in k.__bases__)
        self._arguments = frozenset(inspect.signature(kind).parameters) - self._bound

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._bound and value is not (bound := getattr(self, name)):
            owner = type(self).__name__
            remedy = (
                f"write into it: {name}[:] = ..."
                if hasattr(bound, "shape")
                else f"make another {owner}"
            )
            raise AttributeError(f"{name} of a {owner} cannot be replaced; {remedy}")
        if name in self._arguments:
            raise AttributeError(
                f"{name} is an argument of {type(self).__name__}: create a new one, or write into the "
                "array that you passed"
            )
        if self._bound and not hasattr(self, name):
            arrays = [each for each in self._bound if hasattr(getattr(self, each), "shape")]
            if near := get_close_matches(name, arrays, n=1, cutoff=0.85):
                warnings.warn(
                    f"{name} is not an array of a {type(self).__name__}, so that setting it has no "
                    f"effect; did you mean {near[0]}[:] = ...?",
                    stacklevel=2,
                )
        super().__setattr__(name, value)
