"""Leading dimensions of a call: none for one robot, (B,) for a batch, (T, E) for trajectories.

A kernel counts environments with one index, so it sees the leading dimensions of every array as
one. An array without leading dimensions serves all environments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from ...arrays import Array, View, views
from ...arrays.libraries import library_of
from ...arrays.protocol import rows_of
from ...arrays.stacking import shape_of
from ...model.names import printable
from ...model.structure import Structure
from ..request.call import Call, inputs_of, with_all_inputs
from ..request.inputs import Input

NO_STRIDE = "one stride cannot cover its leading dimensions"
"""Reason for reading a copy of an input."""

Shapes = Mapping[str, tuple[int, ...]]


def leading_shape(
    call: Call, inputs: Mapping[str, Input], shapes: Shapes
) -> tuple[tuple[int, ...], str]:
    """The call's leading dimensions, and the first array that has them. Raises for an array with
    other leading dimensions."""
    lead, leader = first_leading(
        {name: shapes[name] for name in inputs}, {name: x.shape for name, x in inputs.items()}
    )
    for name, x in inputs.items():
        check_shape(call, x, shapes[name], lead, leader)
    return lead, leader


def first_leading(shapes: Shapes, slices: Shapes) -> tuple[tuple[int, ...], str]:
    """Leading dimensions of the first array that has any, and its name; if there is no such array,
    () and the first name.

    shapes: of arrays. slices: of one environment's part of each array.
    """
    for name, shape in shapes.items():
        extra = len(shape) - len(slices[name])
        if extra > 0:
            return tuple(shape[:extra]), name
    return (), next(iter(shapes), "")


def check_shape(
    call: Call, x: Input, shape: tuple[int, ...], lead: tuple[int, ...], leader: str
) -> None:
    """Raise for an array that is neither a row of the input for each environment, nor one row that
    serves all.

    lead: the call's leading dimensions, those of its input `leader`; () for one robot.
    """
    if shape in ((*lead, *x.shape), x.shape):
        return
    if any(x in each.seeds for each in call.derivatives if each.kind == "vjp"):
        # What is left of a wrong cotangent's shape is not the shape of a result.
        raise ValueError(
            f'the cotangent of "{x.subject}" must be shaped like that result, with a row for each '
            f"robot: ({', '.join(map(str, lead))}, ...); got {shape}"
        )
    numbers = ", ".join(map(str, x.shape))
    sizes, comma = x.sizes or numbers, "," * (len(x.shape) == 1)
    # The letters of the documentation first, then the numbers of this call where they say more.
    if not lead:
        need = f"({sizes}{comma})"
        if sizes != numbers:
            need += f" = ({numbers}{comma})"
        if x.name == leader:
            need += f" or (B, {sizes}), one row for each robot"
        else:
            need += f", as {leader} is of one robot"
    else:
        any_rows = "B" if len(lead) == 1 else "..."
        rows = any_rows if x.name == leader else ", ".join(map(str, lead))
        need = f"({any_rows}, {sizes})"
        if (sizes, rows) != (numbers, any_rows):
            need += f" = ({rows}, {numbers})"
    serves = (
        f"; one array ({sizes}{comma}) for all robots is accepted too"
        if lead and x.name != leader
        else ""
    )
    hint = _shape_hint(call.model, x, shape)
    of_params = call.forces is not None and call.forces[0] is None
    varying = x.kind == "parameter" or (x.kind == "gravity" and of_params)
    if len(lead) > 1 and varying:
        hint = (
            " Params have one dimension of environments: give the other arrays as (B, ..) with "
            "B rows, and params[idx], idx the robot of each row."
        )
    raise ValueError(f"{x.label} must be {need}, got {shape}{serves}.{hint}")


def _shape_hint(model: Structure, x: Input, shape: tuple[int, ...]) -> str:
    """A hint for an array whose width fits something else, such as nv in place of nq."""
    if x.sizes not in ("nq", "nv") or not shape or shape[-1] == x.shape[-1]:
        return ""
    noun = "coordinates" if x.sizes == "nq" else "velocity coordinates"
    mimics = [joint.name for joint in model.joints if joint.mimic is not None and joint.kind.nv]
    if mimics:
        joints = (
            f"the mimic joint {mimics[0]} is"
            if len(mimics) == 1
            else f"the {len(mimics)} mimic joints are"
        )
        return printable(
            f" {model.name} has {x.shape[-1]} {noun}: {joints} not among them "
            "(see model.joint_names)."
        )
    base = ", the base's first" if model.floating_base else ""
    return printable(
        f" {model.name} has {x.shape[-1]} {noun}{base} (see model.{x.sizes[1]}_names)."
    )


class RowViews:
    """Views of a call's arrays as (B, ..), or without leading dimensions if one row serves all."""

    def __init__(
        self,
        call: Call,
        inputs: Mapping[str, Input],
        arrays: dict[str, Array],
        originals: Mapping[str, View],
    ):
        """Necessary copies replace their arrays in `arrays`. `originals`: the arrays' own views."""
        shapes = {name: view.shape for name, view in originals.items()}
        self.lead, self.leader = leading_shape(call, inputs, shapes)
        """The call's leading dimensions, and the first array that has them."""
        self.views: dict[str, View] = {}
        self.copied: dict[str, str] = {}
        """Inputs of which a copy is read, and the reason."""
        number = len(self.lead)
        for name, view in originals.items():
            rows: View | None = view
            if number > 1 and len(view.shape) > len(inputs[name].shape):
                rows = rows_of(view, number)
            if rows is None:
                arrays[name] = in_rows(arrays[name], self.lead)
                rows = views.view(name, arrays[name])
                self.copied[name] = NO_STRIDE
            self.views[name] = rows


def in_rows(array: Array, lead: tuple[int, ...]) -> Array:
    """An array (*lead, ..) as (B, ..)."""
    whole: Array = library_of(array).with_leading(array, len(lead), (prod(lead),))
    return whole


def all_in_rows(call: Call) -> tuple[Call, tuple[int, ...]]:
    """A call whose arrays have one leading dimension or none, by operations that their library
    differentiates; and the original leading dimensions."""
    whole, inputs = with_all_inputs(call), inputs_of(call)
    shapes = {name: shape_of(x) for name, x in whole.arrays.items()}
    lead, _ = leading_shape(call, inputs, shapes)
    if len(lead) > 1:
        arrays = {
            name: in_rows(x, lead) if len(shapes[name]) > len(inputs[name].shape) else x
            for name, x in whole.arrays.items()
        }
        whole = replace(whole, arrays=arrays)
    return whole, lead


def with_leading(results: Sequence[Any], lead: tuple[int, ...]) -> list[Any]:
    """Results (B, ..) as (*lead, ..)."""
    if len(lead) < 2:
        return list(results)
    return [library_of(x).with_leading(x, 1, lead) for x in results]
