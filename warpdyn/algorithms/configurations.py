"""A configuration in another library's coordinates."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.scalar import Scalar, atan2, cos, sin
from ..model.tree import Tree

Entry = tuple[str, tuple[int, ...], float, float]


def convert_configuration(
    tree: Tree, given: Sequence[Scalar], entries: Sequence[Entry]
) -> list[Scalar]:
    """Each entry a coordinate times a factor plus an offset, the cosine or sine of that, or the angle of two such."""
    functions = {"same": lambda x: x, "cos": cos, "sin": sin}

    def entry(function: str, columns: tuple[int, ...], factor: float, offset: float) -> Scalar:
        if function == "angle":
            c, s = (given[k] for k in columns)
            return atan2(s, c)
        return functions[function](given[columns[0]] * factor + offset)

    return [entry(*e) for e in entries]
