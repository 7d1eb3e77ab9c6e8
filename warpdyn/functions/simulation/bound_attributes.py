"""Attributes to which a launch is bound: an array is written into, not replaced."""

from __future__ import annotations

from typing import Any


class BoundAttributes:
    """An object whose public attributes keep their values after `_bind_attributes`.

    Otherwise `sim.q = q` would leave the simulation as it is, and hide its state.
    """

    _bound: frozenset[str] = frozenset()

    def _bind_attributes(self) -> None:
        self._bound = frozenset(name for name in vars(self) if not name.startswith("_"))

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._bound and value is not (bound := getattr(self, name)):
            owner = type(self).__name__
            remedy = (
                f"write into it: {name}[:] = ..."
                if hasattr(bound, "shape")
                else f"make another {owner}"
            )
            raise AttributeError(f"{name} of a {owner} cannot be replaced; {remedy}")
        super().__setattr__(name, value)
