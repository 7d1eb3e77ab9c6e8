"""Scalars of a call by the names of its arrays: selecting, flattening and folding them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from ...algebra.scalar import Scalar
from ...recording.program import flat, fold, shape_of
from .inputs import Input, Nested


def of_kind(
    kind: str, known: Mapping[str, Input], inputs: Mapping[str, Nested]
) -> dict[str, Nested]:
    """Values of the inputs of a kind, by their subjects."""
    return {x.subject: inputs[name] for name, x in known.items() if x.kind == kind}


def flat_of(nested: Mapping[str, Nested], names: Sequence[str]) -> list[Any]:
    return [x for name in names for x in flat(nested[name])]


def by_name(
    values: Sequence[Scalar], like: Mapping[str, Nested], names: Sequence[str]
) -> dict[str, Nested]:
    """A flat list, cut and folded like the nested lists of these names."""
    folds, start = {}, 0
    for name in names:
        shape = shape_of(like[name])
        folds[name] = fold(list(values[start : start + prod(shape)]), shape)
        start += prod(shape)
    return folds


def check_cotangents(
    function: str, cotangents: Mapping[str, Nested], results: Mapping[str, Nested]
) -> None:
    """Raise unless cotangents are shaped like the results; for one number, Warp's shape (1,) is
    allowed."""
    for name, w in cotangents.items():
        shape, needed = shape_of(w), shape_of(results[name])
        if shape != needed and not prod(shape) == prod(needed) <= 1:
            raise ValueError(
                f"the cotangent of {function}'s result {name} must be shaped like it, {needed} for each robot; "
                f"got {shape}"
            )
