"""A step of a simulation: a robot on the ground, for all environments in one launch."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..algorithms import semi_implicit_step as _step
from ..algorithms.contact_rows import ContactPoint
from ..arrays import Array, views
from ..execution.base_velocity import CONFIGURATION, FORCE, VELOCITY
from ..execution.batched import batched
from ..execution.call import Call, Forces, Gravity
from ..execution.evaluate import tree_of
from ..model import Model
from ..model.params import Params
from ..model.tree import WORLD

LONGEST_STEP = 0.1
"""Steps beyond this are a mistake in the unit [s]."""

FULL_DEPTH = 0.005
"""How far a point sinks in that carries the whole weight, where no stiffness is said [m]."""

STANDARD_WEIGHT = 9.81
"""Weight of one kilogram [N]."""


PRESSED, STOPPING = 0.01, 4.0
"""How far a joint's effort presses it into a stop [rad, m]; and up to how much of that it pushes
harder."""


class Step(NamedTuple):
    """What a step gives."""

    q: Array
    """(B, nq), quaternions of unit length."""
    v: Array
    """(B, nv)."""
    impulses: Array
    """(B, points, 3) of the contacts, in the world's axes [N s]; the next step's sweeps begin
    there."""
    forces: Array
    """(B, points, 3) of the ground on the points in the last substep, in the world's axes [N]."""
    torques: Array
    """(B, joints), of tau and drives together: the mean over the substeps [N·m, N]."""


class Ground(NamedTuple):
    """The plane z = 0 and what contacts with it are made of.

    `friction`: coefficient of all points; a number, (points,) or (B, points). `stiffness` [N/m],
    None: the whole weight on one point sinks it in by 5 mm. `dissipation` [s]: the time in which a
    point in the ground loses its speed; it acts in the ground alone. `push_out` [m/s]: the largest
    speed at which a point is pushed out of it. Numbers, or (B,).
    """

    friction: Any = 0.8
    stiffness: Any = None
    dissipation: Any = 0.02
    push_out: Any = 1.0


FLAT = Ground()


class PD(NamedTuple):
    """Proportional-derivative drives of all joints, implicit in a step: kp (target - q) - kd v.

    `kp` [N·m/rad, N/m], `kd` [N·m·s/rad, N·s/m], `effort` [N·m, N]: the largest force or torque,
    None for the limits of the description. Numbers, or arrays (joints,) or (B, joints), a free
    base's coordinates left out. Where the effort is bounded both gains give way by one share.
    """

    kp: Any
    kd: Any
    effort: Any = None


@batched
def step(
    model: Model,
    q: Array,
    v: Array,
    tau: Array,
    *,
    dt: float = 0.005,
    substeps: int = 1,
    targets: Array | None = None,
    control: PD | None = None,
    points: Sequence[ContactPoint] = (),
    impulses: Array | None = None,
    ground: Ground = FLAT,
    sweeps: int = 4,
    speed_guard: bool = True,
    stops: bool = True,
    f_ext: Forces = None,
    gravity: Gravity = None,
    params: Params | None = None,
    out: tuple[Array, ...] | None = None,
) -> Call[Step]:
    """The state after `substeps` steps of `dt` seconds, on the ground z = 0.

    q: (B, nq) [m, rad].  v: (B, nv).  tau: (B, nv), as `aba` takes it; constant over the substeps.
    Returns a `Step`: q, v, impulses, forces, torques.
    control, targets: drives to (B, joints) [rad, m], beside tau.
    points: spheres that touch the ground (`ContactPoints`). impulses: (B, points, 3) of the step
    before, where the sweeps begin; None: at zero.
    ground: friction, stiffness and dissipation of the contacts.
    speed_guard: beyond its velocity limit a joint is damped, and products of velocities are those at
    the limit; for a free base's spin that is a quarter radian a step.
    stops: joints that have limits and an effort in the description, and no limit springs of the
    model, stop there: implicit springs that the effort presses in by 0.01 rad or m; from beyond 0.04
    they bring a joint back at 0.04 / dt.
    `out` may be (q, v, impulses, forces, torques), the state's arrays themselves.
    Semi-implicit Euler; joint friction, limit springs, drives and contacts implicit; Coulomb's cone
    by `sweeps` of block Gauss-Seidel: Castro, Permenter and Han, IEEE T-RO 39 (2023).
    """
    touching = tuple(_point(model, *point) for point in points)
    joints = model.nv - (6 if model.floating_base else 0)
    more: dict[str, tuple[Any, tuple[int, ...]]] = {}
    if touching:
        count = len(touching)
        if impulses is not None:
            more["impulses"] = impulses, (count, 3)
        for name, (array, shape) in _surface(model, ground, count, q).items():
            more[name] = array, shape
    elif impulses is not None:
        raise ValueError("impulses are of points=, and there are none")
    if (control is None) != (targets is None):
        raise ValueError(
            "targets= are of drives: control=wd.PD(kp, kd)"
            if control is None
            else "control= needs targets=, (B, joints); without drives pass torques as tau"
        )
    if control is not None:
        _check_drives(model, control)
        effort = (
            model.effort_limit[model.nv - joints :] if control.effort is None else control.effort
        )
        more["targets"] = targets, (joints,)
        more["kp"] = _each("kp", control.kp, joints, 0.0), (joints,)
        more["kd"] = _each("kd", control.kd, joints, 0.0), (joints,)
        more["effort"] = _each("effort", effort, joints, 0.0), (joints,)
    scene = _step.Scene(
        tuple(more),
        touching,
        bool(speed_guard),
        _speed_limits(model) if speed_guard else (),
        _stops(model, params) if stops else (),
        _duration(dt),
        _whole("substeps", substeps),
        _whole("sweeps", sweeps),
    )
    return Call(
        "step",
        model,
        (_step.simulation_step,),
        {"q": q, "v": v, "tau": tau, **{name: array for name, (array, _) in more.items()}},
        out=out,
        options=(("scene", scene),),
        results=Step._fields,
        shapes={
            **{name: shape for name, (_, shape) in more.items()},
            "impulses": (len(touching), 3),
            "forces": (len(touching), 3),
            "torques": (joints,),
        },
        forces=True,
        gravity=gravity,
        f_ext=f_ext,
        params=params,
        refuse=_refusing(touching),
        by_velocity={"q": CONFIGURATION, "v": VELOCITY, "tau": FORCE},
        plain=tuple(name for name in more if name not in ("impulses", "targets")),
        named=Step,
    )


def _point(model: Model, link: str, centre: Any, radius: float) -> ContactPoint:
    model.link_index(link)
    at, r = tuple(map(float, centre)), float(radius)
    if len(at) != 3 or not all(map(math.isfinite, (*at, r))) or r < 0:
        raise ValueError(
            f"a contact point is a link, a centre (x, y, z) and a radius of 0 or more; got {at}, {r} "
            f"on {link}"
        )
    return ContactPoint(link, at, r)


def _refusing(points: Sequence[ContactPoint]) -> Any:
    def refuse(model: Model) -> None:
        still = [p.link for p in points if tree_of(model).frames[p.link].body == WORLD]
        if still:
            raise ValueError(
                f"contact points on {still[0]!r}, which is fixed in the world, touch nothing that "
                "moves; leave them out"
            )

    return refuse


def _stops(model: Model, params: Params | None) -> tuple[_step.Stop, ...]:
    """Stops of joints with limits and an effort, but without springs of the model or of `params`."""
    found = []
    varied = dict(params.names).get("stiffness", ()) if isinstance(params, Params) else ()
    for joint in model.moving_joints[int(model.floating_base) :]:
        columns = model.coordinates[joint.name]
        sprung = joint.name in varied or any(e.stiffness for e in joint.effects)
        if sprung or not all(part.single for part in joint.kind.parts):
            continue
        for k, limits in enumerate(joint.v_limits):
            bounded = min(abs(limits.lower), abs(limits.upper)) < math.inf
            if bounded and 0.0 < limits.effort < math.inf:
                found.append(
                    _step.Stop(
                        columns.v.start + k,
                        columns.q.start + k,
                        limits.lower,
                        limits.upper,
                        limits.effort / PRESSED,
                        PRESSED * STOPPING,
                    )
                )
    return tuple(found)


def _surface(
    model: Model, ground: Any, count: int, q: Any
) -> dict[str, tuple[Any, tuple[int, ...]]]:
    """The ground's numbers with their shapes, by name."""
    if not isinstance(ground, Ground):
        raise TypeError(f"ground must be wd.Ground(friction=...), got {type(ground).__name__}")
    stiffness = ground.stiffness
    if stiffness is None:
        stiffness = (model.total_mass or 1.0) * STANDARD_WEIGHT / FULL_DEPTH
    return {
        "friction": (_each("friction", ground.friction, count, 0.0), (count,)),
        "stiffness": (_one("stiffness", stiffness, q, above=0.0), (1,)),
        "dissipation": (_one("dissipation", ground.dissipation, q), (1,)),
        "push_out": (_one("push_out", ground.push_out, q, above=0.0), (1,)),
    }


def _check_drives(model: Model, control: Any) -> None:
    """Refuse what is no PD, and joints whose coordinates are no angles or lengths."""
    if not isinstance(control, PD):
        raise TypeError(f"control must be wd.PD(kp, kd), got {type(control).__name__}")
    for joint in model.moving_joints[int(model.floating_base) :]:
        if not all(part.single for part in joint.kind.parts):
            raise ValueError(
                f'wd.PD drives single angles and lengths; the {joint.kind.name} joint "{joint.name}" '
                f"of {model.name} has none: pass torques as tau"
            )


def _speed_limits(model: Model) -> tuple[tuple[int, float], ...]:
    limits = enumerate(model.velocity_limit.tolist())
    return tuple((k, x) for k, x in limits if math.isfinite(x) and x > 0)


def _duration(dt: Any) -> float:
    if not _plain(dt) or not 0.0 < dt <= LONGEST_STEP:
        raise ValueError(f"dt must be a number of seconds in (0, {LONGEST_STEP}], got {dt!r}")
    return float(dt)


def _whole(name: str, number: Any) -> int:
    if not isinstance(number, (int, np.integer)) or isinstance(number, bool) or number < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {number!r}")
    return int(number)


def _plain(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating))


def _each(name: str, value: Any, count: int, least: float) -> Any:
    """A number for each of `count`, or an array of them."""
    if isinstance(value, Mapping):
        raise TypeError(f"{name} must be a number or an array, got a mapping")
    numbers = (float(value),) * count if _plain(value) else value
    if isinstance(numbers, (tuple, list)) and not all(x >= least for x in numbers):
        raise ValueError(f"{name} must be at least {least:g}, got {value}")
    return numbers


def _one(name: str, value: Any, like: Any, above: float | None = None) -> Any:
    """A number for all environments, or a column of one for each."""
    if _plain(value):
        if not (value >= 0.0 if above is None else value > above):
            least = "0 or more" if above is None else f"above {above:g}"
            raise ValueError(f"{name} must be {least}, got {value}")
        return (float(value),)
    return views.column(name, value, like) if views.is_array(like) else [value]
