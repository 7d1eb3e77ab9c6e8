"""Configurations in another library's coordinates."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.scalar import Scalar, atan2, cos, sin
from ..model.tree import Tree

Entry = tuple[str, tuple[int, ...], float, float]
"""Entry of the result: a function ("same", "cos", "sin" or "angle"), its columns, factor,
offset."""


def convert_configuration(
    tree: Tree, q: Sequence[Scalar], entries: Sequence[Entry]
) -> list[Scalar]:
    """Configuration in another library's coordinates, entry by entry.

    q: nq [m, rad], or the other library's.  Returns a number for each entry.
    An entry is a coordinate times a factor plus an offset ("same"), the cosine or sine of that, or
    the angle whose cosine and sine are in two columns ("angle").
    """
    functions = {"same": lambda x: x, "cos": cos, "sin": sin}

    def entry(function: str, columns: tuple[int, ...], factor: float, offset: float) -> Scalar:
        if function == "angle":
            c, s = (q[k] for k in columns)
            return atan2(s, c)
        return functions[function](q[columns[0]] * factor + offset)

    return [entry(*e) for e in entries]
