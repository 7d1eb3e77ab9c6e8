"""Contact properties of the ground."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...model import Model
from ...model.ground_contact import STANDARD_WEIGHT as STANDARD_WEIGHT
from .moment_numbers import moment_arrays, moment_counts
from .varied_numbers import Shaped, for_all, for_each, is_number

FULL_DEPTH = 0.005
"""Depth of a point that carries the whole weight, if no stiffness is given [m]."""

LARGEST_EXPONENT = 4.0
"""Largest plausible exponent; a larger one is a mistake."""

FRICTION, SOFT_FRICTION, DISSIPATION = 0.8, 0.5, 0.02
"""Default friction of `Ground` and `SoftGround`, and default dissipation of `Ground` [s]."""


class Ground(NamedTuple):
    """The plane z = 0 and the properties of contacts with it.

    `friction`: coefficient of all points; a number, (points,) or (B, points); None: 0.8.
    `stiffness` [N/m], None: the whole weight of the model, whatever masses `params` have, on one
    point sinks it by 5 mm. `dissipation` [s]: the time in which a point in the ground loses its
    speed; it acts only inside the ground; None: 0.02. In a `Simulation` and a task of `warpdyn.rl`,
    None takes the numbers of the robot's MJCF file. `push_out` [m/s]: the largest speed at which a
    point is pushed out of the ground. Numbers, or (B,). `restitution`, shaped like friction: the
    share of its speed with which a point rebounds if it arrives faster than 2 · 9.81 dt (Newton's
    law of impact), from 0 to 1; the plain number 0 costs nothing. `torsional_friction`,
    `rolling_friction`, shaped like friction [m]: the largest moment about the normal, and about the
    tangents, as a share of the normal force; None: those of an MJCF file, or 0, which costs nothing.
    `softness`: "description" lets points give way as in MuJoCo, by the solref, solimp and cone of an
    MJCF file, in place of stiffness, dissipation and push_out.
    """

    friction: Any = None
    stiffness: Any = None
    dissipation: Any = None
    push_out: Any = 1.0
    restitution: Any = 0.0
    torsional_friction: Any = None
    rolling_friction: Any = None
    softness: Any = None


class SoftGround(NamedTuple):
    """Soft Hunt-Crossley contacts, like JaxSim's: explicit, smooth forces.

    A point at depth δ has the normal force K δ^(1+p) + D δ^q δ', and friction by a tangential
    deformation of the ground. `stiffness` K [N/m^(1+p)], `damping` D [N·s/m^(1+q)]: numbers, or
    (B,). `friction`: coefficient of all points; a number, (points,) or (B, points); None: 0.5, or
    that of an MJCF file as in `Ground`. `p`, `q`: constants of the program.

    `estimate_good_contact_parameters` gives stiffness and damping for a robot.
    """

    friction: Any = None
    stiffness: Any = 1e6
    damping: Any = 2000.0
    p: float = 0.5
    q: float = 0.5


FLAT = Ground()


def check_ground(ground: Any) -> None:
    """Raise if `ground` is neither kind of ground."""
    if not isinstance(ground, Ground | SoftGround):
        raise TypeError(
            "ground must be wd.Ground(friction=...) or wd.SoftGround(friction=...), got "
            f"{type(ground).__name__}"
        )


def with_default_numbers(ground: Ground | SoftGround) -> Ground | SoftGround:
    """The ground with default numbers for friction and dissipation that are None."""
    soft = isinstance(ground, SoftGround)
    numbers = (
        {"friction": SOFT_FRICTION} if soft else {"friction": FRICTION, "dissipation": DISSIPATION}
    )
    missing = {name: x for name, x in numbers.items() if getattr(ground, name) is None}
    return ground._replace(**missing) if missing else ground


def default_stiffness(model: Model) -> float:
    """Stiffness of a ground that has none [N/m]."""
    return (model.total_mass or 1.0) * STANDARD_WEIGHT / FULL_DEPTH


def ground_arrays(model: Model, ground: Ground | SoftGround, count: int, q: Any) -> Shaped:
    """The ground's numbers with their shapes, by name."""
    ground = with_default_numbers(ground)
    friction = for_each("friction", ground.friction, count, finite=True), (count,)
    if isinstance(ground, SoftGround):
        return {
            "friction": friction,
            "stiffness": (for_all("stiffness", ground.stiffness, q, finite=True), (1,)),
            "damping": (for_all("damping", ground.damping, q, above=0.0, finite=True), (1,)),
        }
    stiffness = default_stiffness(model) if ground.stiffness is None else ground.stiffness
    rebounds: Shaped = {}
    if not (is_number(ground.restitution) and ground.restitution == 0):
        e = for_each("restitution", ground.restitution, count, most=1.0)
        rebounds = {"restitution": (e, (count,))}
    return {
        "friction": friction,
        "stiffness": (for_all("stiffness", stiffness, q, above=0.0), (1,)),
        "dissipation": (for_all("dissipation", ground.dissipation, q), (1,)),
        "push_out": (for_all("push_out", ground.push_out, q, above=0.0), (1,)),
        **rebounds,
        **moment_arrays("", ground.torsional_friction, ground.rolling_friction, count),
    }


def moments_of_points(ground: Any, count: int) -> tuple[int, ...]:
    """The number of friction moments of each point; empty on soft ground, which has none."""
    if not isinstance(ground, Ground):
        return ()
    return moment_counts(ground.torsional_friction, ground.rolling_friction, count)


def exponents_of(ground: Any) -> tuple[float, float]:
    """Checked exponents p and q of soft ground; the default ones for any other ground."""
    p, q = (ground if isinstance(ground, SoftGround) else SoftGround())[3:]
    for name, number in (("p", p), ("q", q)):
        if not is_number(number) or not 0.0 <= number <= LARGEST_EXPONENT:
            raise ValueError(
                f"SoftGround's {name} must be a number from 0 to {LARGEST_EXPONENT:g}, a constant "
                f"of the program; got {number!r}"
            )
    return float(p), float(q)
