"""Scalars of several columns at once, for a text that is recorded for all of them together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


class Together:
    """Scalars of several columns side by side: what is done to one is done to each."""

    __slots__ = ("sides",)

    def __init__(self, sides: Sequence[Any]):
        self.sides = tuple(sides)

    def _with(self, other: Together | Any, do: Callable[[Any, Any], Any]) -> Together | float:
        others = other.sides if isinstance(other, Together) else (other,) * len(self.sides)
        sides = [do(x, y) for x, y in zip(self.sides, others, strict=True)]
        return sides[0] if one_constant(sides) else Together(sides)

    def __add__(self, other: Together | Any) -> Together | float:
        return self._with(other, lambda x, y: x + y)

    def __sub__(self, other: Together | Any) -> Together | float:
        return self._with(other, lambda x, y: x - y)

    def __mul__(self, other: Together | Any) -> Together | float:
        return self._with(other, lambda x, y: x * y)

    def __rsub__(self, other: Any) -> Together | float:
        return self._with(other, lambda x, y: y - x)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Together:
        return Together([-x for x in self.sides])


def one_constant(entries: Sequence[Any]) -> bool:
    """All of them are the same number."""
    return all(isinstance(x, (int, float)) and x == entries[0] for x in entries)
