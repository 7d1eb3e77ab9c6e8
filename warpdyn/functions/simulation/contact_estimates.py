"""Contact stiffness and damping that suit a robot."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal, get_args, overload

from ...algorithms.simulation.contact_rows import ContactPoint
from ...execution.oracle import oracle
from ...model import Model
from ...model.model import check_model
from ...model.reference_frames import one_of
from ..com import com
from ..whole_numbers import whole_number
from .ground import STANDARD_WEIGHT, Ground, SoftGround, exponents_of
from .point_kinematics import point_positions
from .varied_numbers import is_number

ContactModel = Literal["hunt_crossley", "compliant"]
"""Contact models: those of `SoftGround` and of `Ground`."""

SHARE_OF_HEIGHT = 0.01
"""Default depth of points under the robot's weight, as a share of the height of its centre of
mass."""

STIFFEST, MOST_DAMPED = 1e6, 1e4
"""Largest values for stable explicit steps of 1 ms [N/m^(1+p), N s/m^(1+q)]; JaxSim's bounds."""


@overload
def estimate_good_contact_parameters(
    model: Model,
    *,
    points: Iterable[ContactPoint] = ...,
    contact_model: Literal["hunt_crossley"] = ...,
    friction: Any = ...,
    active_points: int = ...,
    damping_ratio: float = ...,
    max_penetration: float | None = ...,
    p: float = ...,
    q: float = ...,
    dt: float = ...,
) -> SoftGround: ...
@overload
def estimate_good_contact_parameters(
    model: Model,
    *,
    points: Iterable[ContactPoint] = ...,
    contact_model: Literal["compliant"],
    friction: Any = ...,
    active_points: int = ...,
    damping_ratio: float = ...,
    max_penetration: float | None = ...,
    p: float = ...,
    q: float = ...,
    dt: float = ...,
) -> Ground: ...
def estimate_good_contact_parameters(
    model: Model,
    *,
    points: Iterable[ContactPoint] = (),
    contact_model: ContactModel = "hunt_crossley",
    friction: Any = 0.5,
    active_points: int = 1,
    damping_ratio: float = 1.0,
    max_penetration: float | None = None,
    p: float = 0.5,
    q: float = 0.5,
    dt: float = 0.005,
) -> SoftGround | Ground:
    """A ground on which `active_points` points carry the robot at a depth of `max_penetration`.

    contact_model: "hunt_crossley" gives a `SoftGround` with K = (m g / active_points) /
    max_penetration^(1 + p), at most 1e6, and D = damping_ratio 2 √(K m), at most 1e4; "compliant" a
    `Ground` with k = m g / (active_points max_penetration) and a dissipation of one step `dt` [s].
    max_penetration [m]: by default 1 % of the height of the centre of mass at the neutral
    configuration: above the lowest of the `points` for a floating base, otherwise above z = 0.
    """
    check_model(model)
    one_of("contact_model", contact_model, get_args(ContactModel))
    active_points = whole_number("active_points", active_points)
    if max_penetration is None:
        max_penetration = SHARE_OF_HEIGHT * _height_of_com(model, tuple(points))
    for name, number in (("max_penetration", max_penetration), ("damping_ratio", damping_ratio)):
        if not is_number(number) or not 0.0 < number < math.inf:
            raise ValueError(f"{name} must be a number above 0, got {number!r}")
    carried = model.total_mass * STANDARD_WEIGHT / active_points
    if contact_model == "compliant":
        return Ground(friction, carried / max_penetration, dt)
    soft = SoftGround(friction, 1.0, 1.0, p, q)
    p, q = exponents_of(soft)
    stiffness = min(carried / max_penetration ** (1.0 + p), STIFFEST)
    damping = min(damping_ratio * 2.0 * math.sqrt(stiffness * model.total_mass), MOST_DAMPED)
    return SoftGround(friction, stiffness, damping, p, q)


def _height_of_com(model: Model, points: tuple[ContactPoint, ...]) -> float:
    lowest, q = 0.0, model.neutral
    if model.floating_base:
        if not points:
            raise ValueError(
                "the default max_penetration= needs the height of the centre of mass above the lowest "
                "of points=...: pass the points that touch, or max_penetration="
            )
        centres = oracle(point_positions, model, q, points=points)
        lowest = min(c[2] - point.radius for c, point in zip(centres, points, strict=True))
    height = float(oracle(com, model, q)[2] - lowest)
    if not height > 0.0:
        raise ValueError(
            f"the centre of mass of {model.name} is not above "
            f"{'its points' if model.floating_base else 'the ground'} at the neutral "
            "configuration; pass max_penetration="
        )
    return height
