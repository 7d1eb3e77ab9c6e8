"""A step of a simulation: a robot on the ground, for all environments in one launch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

from ...algorithms.simulation.contact_rows import ContactPoint
from ...algorithms.simulation.semi_implicit_step import Scene
from ...algorithms.simulation.substeps import substeps as _substeps
from ...arrays import Array
from ...execution.batched import batched
from ...execution.request.call import Call, Forces, Gravity
from ...model import Model
from ...model.params import Params
from ...model.reference_frames import one_of
from .default_points import refuse_none
from .drives import (
    PD,
    Stops,
    base_coordinates,
    bounds_of,
    drive_arrays,
    rows_of_joints,
    speed_limits,
    stops_of,
)
from .ground import FLAT, Ground, SoftGround, check_ground, exponents_of, ground_arrays
from .point_checks import checked_points, refusing_for_explicit_forces, refusing_still_points
from .target_latency import late_targets
from .terrain import TABLES, HeightMap, Plane, terrain_arrays
from .varied_numbers import Shaped, is_number, whole_number

HANDED_ON = ("impulses", "deformation", "joint_impulses")
"""Arrays that one step passes to the next."""

TARGETS = ("targets", "earlier_targets")
"""Arrays of targets of the drives."""

LONGEST_STEP = 0.1
"""Longest plausible step; a longer one is a mistake in the unit [s]."""


UNSIGNED = frozenset(
    ("friction", "dissipation", "restitution", "kp", "kd", "effort", "strength", "stall_effort")
)
"""Numbers that must be 0 or more."""

POSITIVE = frozenset(("stiffness", "damping", "push_out", "no_load_speed"))
"""Numbers that must be above 0."""

Integrator = Literal["semi_implicit", "heun", "rk4"]
"""Integration methods of a step."""


class Step(NamedTuple):
    """Results of a step."""

    q: Array
    """(B, nq), quaternions of unit length."""
    v: Array
    """(B, nv)."""
    impulses: Array
    """(B, points, 3) of the contacts, in the world's axes [N s]; the next step's sweeps start from
    them. On a `SoftGround`, the points' deformations [m] (`deformation`)."""
    forces: Array
    """(B, points, 3) of the ground on the points in the last substep, in the world's axes [N]."""
    torques: Array
    """(B, joints), torques of tau and drives together: the mean over the substeps [N·m, N]."""

    @property
    def joint_impulses(self) -> Array | None:
        """None, because no joint has a row; otherwise `StepOfRows` has the impulses."""
        return None

    @property
    def deformation(self) -> Array:
        """(B, points, 3) of a `SoftGround` at the points, in the world's axes [m]: another name of
        `impulses`, which holds them."""
        return self.impulses


class StepOfRows(NamedTuple):
    """Results of a step if joints have rows: those of a `Step`, and the rows' impulses."""

    q: Array
    v: Array
    impulses: Array
    forces: Array
    torques: Array
    joint_impulses: Array
    """(B, joints), impulses of dry friction and of stops that are rows, in the last substep [N·m s,
    N s]; the next step's sweeps start from them."""


@batched
def step(
    model: Model,
    q: Array,
    v: Array,
    tau: Array,
    *,
    dt: float = 0.005,
    substeps: int = 1,
    integrator: Integrator = "semi_implicit",
    targets: Array | None = None,
    control: PD | None = None,
    latency: Array | None = None,
    earlier_targets: Array | None = None,
    points: Sequence[ContactPoint] = (),
    impulses: Array | None = None,
    deformation: Array | None = None,
    ground: Ground | SoftGround = FLAT,
    terrain: HeightMap | Plane | None = None,
    sweeps: int = 4,
    speed_guard: bool | None = None,
    joint_impulses: Array | None = None,
    stops: Stops | None = None,
    f_ext: Forces = None,
    gravity: Gravity = None,
    params: Params | None = None,
    out: tuple[Array, ...] | None = None,
) -> Call[Step]:
    """The state after `substeps` steps of `dt` seconds, on the ground z = 0 or a `terrain`.

    q: (B, nq) [m, rad].  v: (B, nv).  tau: (B, nv), as `aba` takes it; constant over the substeps.
    Returns a `Step`: q, v, impulses, forces, torques, and joint_impulses if joints have rows.
    control, targets: drives towards (B, joints) [rad, m], in addition to tau.
    latency: (B, 1) steps of dt after which targets reach the drives. earlier_targets: (B, n,
    joints) of the earlier calls, the latest first, as far back as a latency may reach.
    points: spheres that touch the ground (`ContactPoints`). impulses: (B, points, 3) of the
    previous step, from which the sweeps start; None: zero. deformation: the same for a `SoftGround`
    [m].
    ground: contact properties: `Ground`, compliant and implicit, or `SoftGround`, explicit.
    terrain: the shape of the ground.
    integrator: "semi_implicit" Euler; "heun", "rk4": explicit, of second and fourth order for
    smooth forces, for robots in the air and on soft ground.
    speed_guard: above its velocity limit a joint is damped, and products of velocities use the
    limit. For a free base's spin the limit is a quarter radian per step.
    stops: how joints stop at the limits of the description if the model has no limit springs.
    "springs": implicit springs that the joint's effort presses in by 0.01 rad or m; from beyond
    0.04 they push the joint back at 0.04 / dt; a joint without an effort has none. "rows":
    one-sided constraints of the sweeps, exactly at the limit; from beyond it a joint returns at 1
    rad/s or m/s. "none": no stops. Explicit integrators have neither guard nor stops. With
    "semi_implicit", None means that the guard is on and stops are "springs".
    joint_impulses: (B, joints) impulses of the rows in the previous step, for stops and for Coulomb
    friction from the description (`Model.with_friction`) or `params`; None: the sweeps start at
    zero. In explicit steps Coulomb friction is as in `aba`.
    `out` may be (q, v, impulses, forces, torques), the state's arrays themselves, and
    joint_impulses if joints have rows.
    Semi-implicit Euler with implicit viscous friction, limit springs, drives and contacts. `sweeps`
    of block Gauss-Seidel solve Coulomb's cone and dry joint friction: Castro, Permenter and Han,
    IEEE T-RO 39 (2023). The explicit integrators are Runge-Kutta-Munthe-Kaas methods.
    """
    implicit = one_of("integrator", integrator, get_args(Integrator)) == "semi_implicit"
    held = stops if stops is not None else "springs" if implicit else "none"
    one_of("stops", held, get_args(Stops))
    _refuse_if_explicit(integrator, speed_guard=speed_guard, stops=held != "none")
    guarded = implicit if speed_guard is None else bool(speed_guard)
    refuse_none(points)
    touching = checked_points(model, points)
    joints = model.nv - base_coordinates(model)
    more = contact_arrays(model, touching, ground, impulses, deformation, q)
    if "dissipation" in more and not implicit:
        raise ValueError(
            f'contacts of wd.Ground are implicit, which integrator="{integrator}" is not: take '
            'integrator="semi_implicit", or ground=wd.SoftGround(...)'
        )
    if touching:
        more |= terrain_arrays(model, terrain, touching, q)
    more |= drive_arrays(model, control, targets)
    more |= late_targets(latency, earlier_targets, targets, joints)
    bounds = bounds_of(model, params) if held == "rows" else ()
    rows = rows_of_joints(model, params, bounds) if implicit else ()
    if joint_impulses is not None:
        if not rows:
            raise ValueError(
                f'joint_impulses are of Coulomb friction and of stops="rows"; no joint of {model.name} '
                "has either"
            )
        more["joint_impulses"] = joint_impulses, (joints,)
    # The scene holds the constants of the program. Numbers that may vary between launches are
    # arrays in `more`.
    scene = Scene(
        tuple(more),
        touching,
        guarded,
        speed_limits(model) if guarded else (),
        stops_of(model, params) if held == "springs" else (),
        _duration(dt),
        whole_number("substeps", substeps),
        whole_number("sweeps", sweeps),
        rows,
        bounds,
        integrator,
        exponents_of(ground),
    )
    given: Any = StepOfRows if rows else Step
    return Call(
        "step",
        model,
        (_substeps,),
        {"q": q, "v": v, "tau": tau, **{name: array for name, (array, _) in more.items()}},
        out=out,
        options=(("scene", scene),),
        results=given._fields,
        shapes={
            **{name: shape for name, (_, shape) in more.items()},
            "impulses": (len(touching), 3),
            "forces": (len(touching), 3),
            "torques": (joints,),
            "joint_impulses": (joints,),
        },
        forces=True,
        gravity=gravity,
        f_ext=f_ext,
        params=params,
        refuse=(refusing_still_points if implicit else refusing_for_explicit_forces)(touching),
        plain=tuple(name for name in more if name not in (*HANDED_ON, *TARGETS, *TABLES)),
        tables=tuple(name for name in more if name in TABLES),
        unsigned=tuple(name for name in more if name in UNSIGNED),
        positive=tuple(name for name in more if name in POSITIVE),
        over={"impulses": "deformation"} if "deformation" in more else {},
        named=given,
    )


def contact_arrays(
    model: Model,
    points: Sequence[ContactPoint],
    ground: Any,
    impulses: Array | None,
    deformation: Array | None,
    q: Array,
) -> Shaped:
    """Arrays of contacts with their shapes, by name: those of the previous step, and the ground's
    numbers; empty without points."""
    check_ground(ground)
    soft = isinstance(ground, SoftGround)
    handed_on = {"deformation": deformation} if soft else {"impulses": impulses}
    if (impulses if soft else deformation) is not None:
        raise ValueError(
            "impulses= are of wd.Ground; on a wd.SoftGround points have a deformation="
            if soft
            else "deformation= is of points on a wd.SoftGround; those on wd.Ground have impulses="
        )
    shaped: Shaped = {n: (x, (len(points), 3)) for n, x in handed_on.items() if x is not None}
    if points:
        return shaped | ground_arrays(model, ground, len(points), q)
    if shaped:
        raise ValueError(f"{next(iter(shaped))}= needs points=, and there are none")
    return {}


def _refuse_if_explicit(integrator: str, **wanted: bool | None) -> None:
    """Raise for options that only implicit steps have."""
    for name, on in wanted.items():
        if on and integrator != "semi_implicit":
            raise ValueError(
                f'{name}= acts implicitly, which integrator="{integrator}" is not; leave it out. '
                "Limit springs of the model (model.with_limit_springs) act in every integrator"
            )


def _duration(dt: Any) -> float:
    if not is_number(dt) or not 0.0 < dt <= LONGEST_STEP:
        raise ValueError(f"dt must be a number of seconds in (0, {LONGEST_STEP}], got {dt!r}")
    return float(dt)
