"""Checks of states: errors by environment and joint, on request (`check_state`) or before each call
except bound calls (`warpdyn.config.debug`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ...arrays import Array, views
from ...arrays.libraries import library_of
from ...model import Model
from ...model.coordinate_ranges import orientation_columns
from ...model.model import check_model
from ...model.structure import Structure
from ..request.call import Call, gather
from ..request.inputs import ARRAY, GRAVITY, Input, argument
from .batch_shape import leading_shape

UNIT = 1e-3
"""Largest deviation of a quaternion's length from one; the rotated vectors have the same relative
error."""

AT_LIMIT = 1e-6
"""Tolerance at a limit, relative to the limit or to one, for rounding in float32."""

SHOWN = 5
"""Number of findings of one kind that are listed."""


@dataclass(frozen=True)
class StateReport:
    """Result of `check_state`."""

    errors: tuple[str, ...]
    """Findings that make results wrong: shapes, numbers that are not finite, quaternions that are
    not of unit length."""
    warnings: tuple[str, ...]
    """Unusual findings: coordinates and velocities outside the model's limits."""

    @property
    def ok(self) -> bool:
        """True if there are no errors."""
        return not self.errors

    def __str__(self) -> str:
        lines = [*(f"error: {x}" for x in self.errors), *(f"warning: {x}" for x in self.warnings)]
        return "\n".join(lines) or "nothing wrong"


def check_state(model: Model, q: Array, v: Array | None = None) -> StateReport:
    """Report of the errors in a state, by environment and joint. Errors in the state do not raise.

    q: (..., nq) [m, rad].  v: (..., nv) [m/s, rad/s], or None.  Arrays of any library, read on the
    host.
    Errors: shapes that are not the model's or do not fit each other, entries that are not finite,
    quaternions (free base, floating and ball joints) whose length is more than 0.001 from one.
    Warnings: coordinates outside `model.position_lower` to `position_upper`, velocities beyond
    `model.velocity_limit`. The report lists the first five findings of each kind, and the number of
    further ones.
    """
    check_model(model)
    arrays = {"q": views.on_host(q)} | ({} if v is None else {"v": views.on_host(v)})
    inputs = {name: argument(name, None, model.nq, model.nv) for name in arrays}
    call: Call[Array] = Call("check_state", model, (), arrays)
    try:
        leading_shape(call, inputs, {name: array.shape for name, array in arrays.items()})
    except ValueError as error:
        return StateReport((str(error),), ())
    errors = [text for name, x in inputs.items() for text in _not_finite(model, x, arrays[name])]
    errors += _not_unit(model, inputs["q"], arrays["q"])
    limits = {
        "q": (model.position_lower, model.position_upper),
        "v": (-model.velocity_limit, model.velocity_limit),
    }
    warnings = [
        text
        for name, x in inputs.items()
        for text in _outside(model, x, arrays[name], *limits[name])
    ]
    return StateReport(tuple(errors), tuple(warnings))


def check_arrays(call: Call) -> None:
    """Raise for a call whose inputs have numbers that are not finite, or whose configurations have
    quaternions that are not of unit length."""
    inputs, arrays = gather(call)
    found: list[str] = []
    for name, x in inputs.items():
        array = arrays[name]
        host = views.on_host(array) if library_of(array).readable(array) else None
        if host is None or host.shape[max(host.ndim - len(x.shape), 0) :] != x.shape:
            continue  # a later check raises for this
        bound = call.arguments.get(name, ARRAY).bound
        found += _below(call, x, host) if bound else _not_finite(call.model, x, host)
        if x.kind == "argument" and x.sizes == "nq" and not call.any_length:
            found += _not_unit(call.model, x, host)
    if found:
        raise ValueError(
            f"{call.name} of {call.model.name}: {'; '.join(found)} "
            "(checked because warpdyn.config.debug is on)"
        )


def check_bounds(call: Call) -> None:
    """Raise for a call with numbers below the bounds of its arguments, such as a negative
    friction, or with a gravity that is not finite."""
    inputs, arrays = gather(call)
    found: list[str] = []
    gravity = arrays.get(GRAVITY.name)
    if gravity is not None and library_of(gravity).readable(gravity):
        found += _not_finite(call.model, GRAVITY, views.on_host(gravity))
    for name, spec in call.arguments.items():
        if spec.bound and library_of(arrays[name]).readable(arrays[name]):
            found += _below(call, inputs[name], views.on_host(arrays[name]))
    if found:
        raise ValueError("; ".join(found))


def _below(call: Call, x: Input, array: np.ndarray) -> Iterator[str]:
    """Entries that are below the bound of their argument, or NaN."""
    bound = call.arguments[x.name].bound

    def message(index: tuple[int, ...]) -> str:
        return f"{_entry(call.model, x, index)} must be {bound}, got {array[index]:g}"

    return _each(x, ~(array > 0 if bound == "above 0" else array >= 0), len(x.shape), message)


def _not_finite(model: Structure, x: Input, array: np.ndarray) -> Iterator[str]:
    """Entries that are NaN or infinite."""

    def message(index: tuple[int, ...]) -> str:
        return f"{_entry(model, x, index)} is {array[index]}"

    return _each(x, ~np.isfinite(array), len(x.shape), message)


def _not_unit(model: Structure, x: Input, array: np.ndarray) -> Iterator[str]:
    """Quaternions whose length is not one. Those that are not finite have already been reported."""
    for _, columns in orientation_columns(model):
        length = np.linalg.norm(array[..., columns], axis=-1)
        joint = model.q_names[columns.start].rpartition(".")[0]

        def message(index: tuple[int, ...], joint: str = joint, length: np.ndarray = length) -> str:
            return f"the quaternion of {joint} has length {length[index]:.6g}, not 1 (wd.normalize)"

        yield from _each(x, np.isfinite(length) & (np.abs(length - 1) > UNIT), 0, message)


def _outside(
    model: Structure, x: Input, array: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> Iterator[str]:
    low, high = (lower - _margin(lower), upper + _margin(upper))

    def message(index: tuple[int, ...]) -> str:
        k = index[-1]
        where = f"{_entry(model, x, index)} is {array[index]:.6g}"
        return f"{where}, outside {lower[k]:.6g} to {upper[k]:.6g}"

    return _each(x, np.isfinite(array) & ((array < low) | (array > high)), 1, message)


def _margin(limit: np.ndarray) -> np.ndarray:
    return AT_LIMIT * np.maximum(np.abs(limit), 1.0)


def _each(
    x: Input, wrong: np.ndarray, dimensions: int, message: Callable[[tuple[int, ...]], str]
) -> Iterator[str]:
    """A sentence for each of the first findings, and the number of further ones."""
    found = np.argwhere(wrong)
    for row in found[:SHOWN].tolist():
        env = row[: len(row) - dimensions]
        where = f" in environment {env[0] if len(env) == 1 else tuple(env)}" if env else ""
        yield f"{x.label}{where}: {message(tuple(row))}"
    if len(found) > SHOWN:
        yield f"{x.label}: {len(found) - SHOWN} more like this"


def _entry(model: Structure, x: Input, index: tuple[int, ...]) -> str:
    """An entry's name, that of its joint if it is a coordinate."""
    index = index[len(index) - len(x.shape) :]
    if x.sizes in ("nq", "nv"):
        return str((model.q_names if x.sizes == "nq" else model.v_names)[index[0]])
    return f"entry {index[0] if len(index) == 1 else index}"
