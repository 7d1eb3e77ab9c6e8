"""What a call is given against what it needs: every refusal says what is needed, what arrived and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..arrays import Array, View, views
from ..arrays.libraries import NUMPY
from ..arrays.overlap import check_writable, overlapping
from ..model import Model
from .call import PARAMETER, SEED, Call, input_shape, serves_all


def check_first_argument(args: tuple, kwargs: dict[str, Any]) -> None:
    if args and hasattr(args[0], "describe"):  # a function of a function
        args = args[1:]
    check_model(args[0] if args else kwargs.get("model"))


def check_model(model: Any) -> None:
    if not isinstance(model, Model):
        raise TypeError(
            f"the first argument must be a Model (of wd.load or load_robot), got {type(model).__name__}"
        )


def plain_numbers(name: str, given: Any, first: View) -> Array:
    """Plain numbers, for arrays of whatever kind, as an array of that kind."""
    if first.library is NUMPY and getattr(given, "dtype", None) == _dtype(first):
        return given
    if isinstance(given, (list, tuple)) or (isinstance(given, np.ndarray) and given.ndim == 1):
        return views.numbers(first.library, first.device, first.single, tuple(map(float, given)))
    if not hasattr(given, "shape"):
        raise TypeError(f"{_spoken(name)} must be numbers (x, y, z) or an array, got {given!r}")
    return given


def listed(array: Any) -> Array:
    """Plain numbers of one robot are taken as float64."""
    return np.asarray(array, dtype=float) if isinstance(array, (list, tuple)) else array


def check_kind(name: str, v: View, first_name: str, first: View) -> None:
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
                f"{first_name} is {its}, {_spoken(name)} is {mine}; convert {_spoken(name)} to {its}"
            )


def _spoken(name: str) -> str:
    """An input array's name as its user knows it."""
    if name.startswith(SEED):
        return f'the cotangent or tangent of "{name.partition(":")[2]}"'
    return name.removeprefix(PARAMETER) + " (params)" if name.startswith(PARAMETER) else name


def _dtype(v: View) -> str:
    return "float32" if v.single else "float64"


def check_shape(
    call: Call,
    name: str,
    given: tuple[int, ...],
    batch: int | None,
    first: tuple[str, tuple[int, ...]],
) -> None:
    """Refuse an array that is not a row of the input for each robot, or, where one serves all, one row."""
    shape = input_shape(call, name)
    if given == (shape if batch is None else (batch, *shape)) or (
        serves_all(call, name) and given == shape
    ):
        return
    sizes = ", ".join(map(str, shape))
    letters = _letters(call, name, shape) or sizes
    if batch is None and len(first[1]) == 1:
        need = f"({letters}) = ({sizes}), as {first[0]} is of one robot"
        need = (
            f"({letters},) = ({sizes},) or (B, {letters}), one row for each robot"
            if name == first[0]
            else need
        )
    else:
        rows = batch if name != first[0] else "B"
        need = f"(B, {letters})" + (
            f" = ({rows}, {sizes})" if (letters, rows) != (sizes, "B") else ""
        )
    raise ValueError(
        f"{_spoken(name)} must be {need}, got {given}.{_shape_hint(call, name, given, shape)}"
    )


def _letters(call: Call, name: str, shape: tuple[int, ...]) -> str:
    """What the sizes of an input are called."""
    if name in ("q", "q0", "q1") and shape == (call.model.nq,):
        return "nq"
    if name == "f_ext":
        return "nlinks, 6"
    return "" if name in call.shapes or name == "gravity" or ":" in name else "nv"


def _shape_hint(call: Call, name: str, given: tuple[int, ...], shape: tuple[int, ...]) -> str:
    """What else the given width could have meant."""
    model, letters = call.model, _letters(call, name, shape)
    if letters not in ("nq", "nv") or not given or given[-1] == shape[-1]:
        return ""
    noun = "coordinates" if letters == "nq" else "velocity coordinates"
    mimics = [joint.name for joint in model.joints if joint.mimic is not None and joint.kind.nv]
    if mimics:
        named = (
            "the mimic joint " + mimics[0] + " is"
            if len(mimics) == 1
            else f"the {len(mimics)} mimic joints are"
        )
        return (
            f" {model.name} has {shape[-1]} {noun}: {named} not among them (see model.joint_names)."
        )
    base = ", the base's first" if model.floating_base else ""
    return f" {model.name} has {shape[-1]} {noun}{base} (see model.{letters[1]}_names)."


def result_arrays(call: Call, names: Sequence[str]) -> list[Array]:
    """The arrays given for the results, one each."""
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
) -> list[View]:
    seen = dict(inputs)
    checked = []
    for k, (out, shape) in enumerate(zip(outs, wanted, strict=True)):
        name = "out" if len(outs) == 1 else f"out[{k}]"
        v = views.view(name, out)
        check_kind(name, v, first_name, first)
        if v.shape != shape:
            raise ValueError(f"{name} must be {shape}, got {tuple(v.shape)}")
        check_writable(out, v)
        other = overlapping(v, seen)
        if other is not None:
            raise ValueError(
                f"{name} shares memory with {other}; results are written while inputs are still read: "
                "pass another array"
            )
        seen[name] = v
        checked.append(v)
    return checked
