"""A configuration and a velocity together: one check for both, and random states within bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import A, Array, random_rows, views
from ..execution.launch.state_checks import check_state
from ..model import Model
from ..model.joints import FLOATING
from ..model.model import check_model
from .manifold import UNIT_BOX, Box, random_configuration

Bounds = tuple[ArrayLike, ArrayLike]
"""Least and greatest value, each a number or one for each coordinate."""

UNIT_BOUNDS: Bounds = (-1.0, 1.0)

VELOCITY_STREAM = 0x5DEECE66D
"""Added to a seed, so that velocities use other random numbers than configurations."""


@dataclass(frozen=True, eq=False)
class ModelState(Generic[A]):
    """A state of a model: q (..., nq) [m, rad] and v (..., nv) [m/s, rad/s]. Functions take the two
    as separate arguments."""

    q: Array[A]
    v: Array[A]

    def valid(self, model: Model) -> bool:
        """True if shapes fit the model, numbers are finite and quaternions have unit length;
        `check_state` reports the errors."""
        return check_state(model, self.q, self.v).ok


def random_state(
    model: Model,
    count: int,
    *,
    seed: int = 0,
    box: Box = UNIT_BOX,
    linear: Bounds = UNIT_BOUNDS,
    angular: Bounds = UNIT_BOUNDS,
    joints: Bounds = UNIT_BOUNDS,
    like: Array | None = None,
    dtype: Any = None,
    device: Any = None,
) -> ModelState[Any]:
    """`count` random states: configurations as `random_configuration` draws them, velocities
    uniform within bounds.

    box: least and greatest x, y, z of floating joints [m].  linear, angular: least and greatest
    velocity of floating joints, a number or one for each axis [m/s, rad/s], in the convention of
    `model.base_velocity`.  joints: of all other coordinates of v, a number or one each [m/s,
    rad/s].
    seed, like, dtype, device: as for `random_configuration`.
    Returns a ModelState: q (count, nq), v (count, nv).

    >>> model = wd.load_robot("quadruped")
    >>> state = wd.random_state(model, 100, joints=(-5, 5), linear=(0, (2, 0, 0)))
    >>> state.v.shape, state.valid(model), float(abs(state.v[:, 1:3]).max())
    ((100, 18), True, 0.0)
    """
    check_model(model)
    lower, upper = np.zeros(model.nv), np.zeros(model.nv)
    floating = [j.name for j in model.moving_joints if j.kind is FLOATING]
    others = [j.name for j in model.moving_joints if j.kind is not FLOATING]
    columns = model.v_indices(others)
    _write_bounds("joints", joints, columns, lower, upper)
    for name in floating:
        at = model.v_indices([name])
        _write_bounds("linear", linear, at[:3], lower, upper)
        _write_bounds("angular", angular, at[3:], lower, upper)
    options: dict[str, Any] = {"like": like, "dtype": dtype, "device": device}
    q = random_configuration(model, count, seed=seed, box=box, **options)
    kind, where, single = views.kind_of(like, dtype, device)
    v = views.empty(kind, where, single, count, (model.nv,), False)
    random_rows.draw(
        views.view("v", v),
        lower.tolist(),
        upper.tolist(),
        [],
        seed + VELOCITY_STREAM,
        kind.stream(where),
    )
    return ModelState(q, kind.wrap_result(v))


def _write_bounds(
    what: str, bounds: Bounds, columns: list[int], lower: np.ndarray, upper: np.ndarray
) -> None:
    try:
        least, greatest = (np.broadcast_to(np.asarray(x, float), len(columns)) for x in bounds)
    except (TypeError, ValueError):
        least, greatest = np.zeros(1), np.full(1, np.nan)
    if not (np.isfinite(least) & np.isfinite(greatest) & (least <= greatest)).all():
        raise ValueError(
            f"{what} must be (least, greatest), each a number or {len(columns)}, finite and in "
            f"order, got {bounds!r}"
        )
    lower[columns], upper[columns] = least, greatest
