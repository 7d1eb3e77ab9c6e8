"""Checks of a call's arguments: each error says what is needed, what arrived and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...arrays import Array, View, views
from ...arrays.libraries import NUMPY
from ...arrays.numpy_arrays import check_unmasked
from ...arrays.overlap import Extent, check_writable, extent, find_overlap
from ...arrays.protocol import rows_of
from ...model import Model
from ...model.printable import printable
from .call import Call
from .inputs import Input

MOST_BY_VALUE = 512
"""Largest number of plain numbers of an input on CUDA, 4 KiB in the kernel's arguments. A kernel with
1,500 of them takes 10 s to compile."""


def check_first_argument(args: tuple, kwargs: dict[str, Any]) -> None:
    """Raise if the first argument is not a model."""
    check_model(args[0] if args else kwargs.get("model"))


def check_model(model: Any) -> None:
    """Raise if the argument is not a model."""
    if not isinstance(model, Model):
        remedy = (
            "; in a kernel write robot.fk(q, ...), not wd.fk(robot, q, ...)"
            if hasattr(model, "with_values")
            else ""
        )
        raise TypeError(
            "the first argument must be a Model (of wd.load or load_robot), "
            f"got {type(model).__name__}{remedy}"
        )


def array_of_numbers(x: Input, array: Any, first: View) -> Array:
    """An input that may be plain numbers, as an array of the first array's kind; on CUDA as a NumPy
    array (n,) or () of its dtype, which the launch passes by value.

    An array on the device would have to be filled before the launch. Filled inside a graph capture,
    or on another stream, it would hold no numbers yet when a later call reads it.
    """
    if first.library is NUMPY and getattr(array, "dtype", None) == _dtype(first):
        return array
    if isinstance(array, (list, tuple)) or (isinstance(array, np.ndarray) and array.ndim == 1):
        check_unmasked(x.label, array)
        values = tuple(map(float, array))
        if first.device == "cpu":
            return views.numbers(first.library, first.single, values)
        if len(values) > MOST_BY_VALUE:
            raise ValueError(
                f"{x.label} has {len(values)} plain numbers, and a launch on {first.device} takes at "
                f"most {MOST_BY_VALUE}; pass an array of {first.library.name} there"
            )
        return np.array(values, _dtype(first))
    if isinstance(array, np.ndarray) and not array.ndim and first.device != "cpu":
        return array.astype(_dtype(first))
    if not hasattr(array, "shape"):
        raise TypeError(f"{x.label} must be numbers (x, y, z) or an array, got {array!r}")
    return array


def float64_array(numbers: Sequence[Any]) -> Array:
    """Plain numbers of one environment as a float64 array."""
    return np.asarray(numbers, dtype=float)


def check_kind(name: str, v: View, first_name: str, first: View) -> None:
    """Raise for an array with another library, dtype or device than the first array."""
    if v.library is first.library and v.single == first.single and v.device == first.device:
        return
    for what, mine, its in (
        ("library", v.library.name, first.library.name),
        ("dtype", _dtype(v), _dtype(first)),
        ("device", v.device, first.device),
    ):
        if mine != its:
            raise TypeError(
                f"all arrays of a call must be of one {what}: "
                f"{first_name} is {its}, {name} is {mine}; convert {name} to {its}"
            )


def _dtype(v: View) -> str:
    return "float32" if v.single else "float64"


def check_shape(
    call: Call, x: Input, shape: tuple[int, ...], lead: tuple[int, ...], leader: str
) -> None:
    """Raise for an array that is neither a row of the input for each environment, nor one row that
    serves all.

    lead: the call's leading dimensions, those of its input `leader`; () for one robot.
    """
    if shape in ((*lead, *x.shape), x.shape):
        return
    numbers = ", ".join(map(str, x.shape))
    sizes, comma = x.sizes or numbers, "," * (len(x.shape) == 1)
    if not lead:
        need = f"({sizes}{comma}) = ({numbers}{comma})"
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
    serves = f"; ({sizes}{comma}) serves all robots" if lead and x.name != leader else ""
    hint = _shape_hint(call.model, x, shape)
    varying = x.kind == "parameter" or (x.kind == "gravity" and call.gravity is None)
    if len(lead) > 1 and varying:
        hint = (
            " Params have one dimension of environments: give the other arrays as (B, ..) with "
            "B rows, and params[idx], idx the robot of each row."
        )
    raise ValueError(f"{x.label} must be {need}, got {shape}{serves}.{hint}")


def _shape_hint(model: Model, x: Input, shape: tuple[int, ...]) -> str:
    """Hint at what else the width of an array could have meant."""
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


def result_arrays(call: Call, names: Sequence[str]) -> list[Array]:
    """The caller's arrays for the results, one for each."""
    if len(names) == 1 and not isinstance(call.out, (tuple, list)):
        return [call.out]
    if not isinstance(call.out, (tuple, list)) or len(call.out) != len(names):
        got = (
            f"{len(call.out)} of them"
            if isinstance(call.out, (tuple, list))
            else type(call.out).__name__
        )
        raise TypeError(
            f"out must be a tuple of {len(names)} arrays, for {', '.join(names)}; got {got}"
        )
    return list(call.out)


def check_outs(
    outs: Sequence[Array],
    wanted: Sequence[tuple[int, ...]],
    inputs: Mapping[str, View],
    first_name: str,
    first: View,
    over: Sequence[str | None],
    number: int,
) -> list[View]:
    """Raise for arrays that results cannot be written to; returns their views, with their `number`
    leading dimensions merged into one.

    `over`: for each result, the input whose array it may overwrite.
    """
    seen = dict(inputs)
    extents: dict[str, Extent] = {}
    checked = []
    for k, (out, shape) in enumerate(zip(outs, wanted, strict=True)):
        name = "out" if len(outs) == 1 else f"out[{k}]"
        v = views.view(name, out)
        check_kind(name, v, first_name, first)
        if v.shape != shape:
            raise ValueError(f"{name} must be {shape}, got {tuple(v.shape)}")
        check_writable(out, v)
        rows = v if number < 2 else rows_of(v, number)
        if rows is None:
            raise ValueError(
                f"{name} has leading dimensions {v.shape[:number]} that no single stride leads "
                f"through (strides {v.strides[:number]}); pass an array of one piece"
            )
        v = rows
        # A result may overwrite its own input, but must not overlap any other array.
        if over[k] is not None and seen.get(str(over[k])) == v:
            del seen[str(over[k])]
        own = extent(v)
        other = find_overlap(v, seen, extents, own)
        if other is not None:
            raise ValueError(
                f"{name} shares memory with {other}; results are written while inputs are still "
                "read: pass another array"
            )
        seen[name], extents[name] = v, own
        checked.append(v)
    return checked
