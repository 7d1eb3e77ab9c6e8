"""A step of a simulation: a robot on the ground, for all environments in one launch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from ...algorithms.simulation.contact_rows import ContactPoint, impulse_width
from ...algorithms.simulation.contact_shapes import ContactPair
from ...algorithms.simulation.joint_rows import Bounds
from ...algorithms.simulation.scene import Scene
from ...algorithms.simulation.soft_stops import SoftPoint
from ...algorithms.simulation.substeps import substeps as _substeps
from ...arrays import Array
from ...execution.batched import batched
from ...execution.request.call import Call, Forces, Gravity
from ...execution.request.inputs import ArgumentSpec, Bound
from ...model import Model
from ...model.params import Params
from ...model.structure import Structure
from ..whole_numbers import whole_number
from .contact_pairs import RIGID, PairContact
from .default_points import refuse_none
from .described_softness import limits_of, soft_pairs, soft_points, tendon_bounds_of
from .drives import PD, Stops, drive_arrays, rows_of_joints, speed_limits, stops_of
from .ground import FLAT, Ground, SoftGround, exponents_of, moments_of_points
from .pair_arrays import (
    checked_pairs,
    memory_shapes,
    moments_of_pairs,
    pair_arrays,
    refusing_still_pairs,
)
from .point_checks import checked_points, need_slots, refusing_for_step
from .step_options import Integrator, StepOptions, contact_arrays
from .step_results import Step, StepOfRows, StepOfScene
from .target_latency import late_targets
from .terrain import TABLES, HeightMap, Plane, check_terrain, terrain_arrays
from .varied_numbers import Shaped, is_number

STEP_MEMORY = (
    "impulses",
    "deformation",
    "joint_impulses",
    "pair_impulses",
    "pair_features",
    "pairs_left_out",
)
"""Arrays that one step passes to the next."""

TARGETS = ("targets", "earlier_targets")
"""Arrays of targets of the drives."""

NOT_PLAIN = frozenset((*STEP_MEMORY, *TARGETS, *TABLES))
"""Arrays that cannot be given as plain numbers."""

LONGEST_STEP = 0.1
"""Longest plausible step; a longer one is a mistake in the unit [s]."""


UNSIGNED_OF_PAIRS = (
    "pair_friction",
    "pair_torsional_friction",
    "pair_rolling_friction",
    "pair_dissipation",
    "pair_restitution",
)
"""Numbers of pairs that must be 0 or more."""

UNSIGNED = frozenset(
    (
        "friction",
        "torsional_friction",
        "rolling_friction",
        "dissipation",
        "restitution",
        "kp",
        "kd",
        "effort",
        "strength",
        "stall_effort",
        *UNSIGNED_OF_PAIRS,
    )
)
"""Numbers that must be 0 or more."""

POSITIVE = frozenset(
    ("stiffness", "damping", "push_out", "no_load_speed", "pair_stiffness", "pair_push_out")
)
"""Numbers that must be above 0."""


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
    pairs: Sequence[ContactPair] = (),
    pair_contact: PairContact = RIGID,
    pair_impulses: Array | None = None,
    pair_features: Array | None = None,
    pairs_left_out: Array | None = None,
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
    Returns a `Step`: q, v, impulses, forces, torques; with joint_impulses if joints have rows; with
    joint_impulses, loop_forces, pair_impulses, pair_features, pair_forces and pairs_left_out if
    there are pairs or the robot has `Model.loops`, which stay closed.
    control, targets: drives towards (B, joints) [rad, m], in addition to tau.
    latency: (B, 1) steps of dt after which targets reach the drives. earlier_targets: (B, n,
    joints) of the earlier calls, the latest first, as far back as a latency may reach.
    points: spheres that touch the ground (`ContactPoints`). impulses: (B, points, 3) of the
    previous step, or (B, points, 6) with friction moments, from which the sweeps start; None: zero.
    deformation: the same for a `SoftGround`
    [m].
    ground: contact properties: `Ground`, compliant and implicit, or `SoftGround`, explicit.
    terrain: the shape of the ground.
    pairs: shapes that touch each other (`ContactPairs`). pair_contact: the properties of their
    contacts. pair_impulses: (B, contacts, 3) and pair_features: (B, contacts) of the previous
    step; None: the sweeps start at zero. pairs_left_out: (B, 1) of the previous step, to which
    this one adds; None: 0.
    integrator: "semi_implicit" Euler; "heun", "rk4": explicit, of second and fourth order for
    smooth forces, for robots in the air and on soft ground; "mujoco_euler", "mujoco_rk4": those of
    MuJoCo, with stops="soft" and Ground(softness="description") of MJCF files. Drives are explicit.
    speed_guard: above its velocity limit a joint is damped, and products of velocities use the
    limit. For a free base's spin the limit is a quarter radian per step.
    stops: how joints stop at the limits of the description if the model has no limit springs.
    "springs": implicit springs that the joint's effort limit compresses by 0.01 rad or m; a joint
    more than 0.04 beyond its limit is pushed back at 0.04 / dt, and a joint without an effort limit
    has no springs. "rows": one-sided constraints of the sweeps, exactly at the limit; a joint beyond
    it returns at 1 rad/s or m/s. "soft": MuJoCo's limits, which give way by the numbers of an MJCF
    file. "none": no stops. With "semi_implicit", None means that the guard is on and stops are
    "springs". MuJoCo's integrators have no guard, and "soft" stops by default; "heun" and "rk4" have
    neither.
    joint_impulses: (B, joints) impulses of the rows in the previous step, for stops and for Coulomb
    friction from the description (`Model.with_friction`) or `params`; None: the sweeps start at
    zero. In explicit steps Coulomb friction is as in `aba`.
    `out` takes arrays for the results in this order, which may be the arrays of the state.
    Semi-implicit Euler with implicit viscous friction, limit springs, drives and contacts. `sweeps`
    of block Gauss-Seidel solve Coulomb's cone and dry joint friction: Castro, Permenter and Han,
    IEEE T-RO 39 (2023). The explicit integrators are Runge-Kutta-Munthe-Kaas methods.
    """
    options = StepOptions(
        dt=dt,
        substeps=substeps,
        integrator=integrator,
        targets=targets,
        control=control,
        latency=latency,
        earlier_targets=earlier_targets,
        points=points,
        impulses=impulses,
        deformation=deformation,
        ground=ground,
        terrain=terrain,
        pairs=pairs,
        pair_contact=pair_contact,
        pair_impulses=pair_impulses,
        pair_features=pair_features,
        pairs_left_out=pairs_left_out,
        sweeps=sweeps,
        speed_guard=speed_guard,
        joint_impulses=joint_impulses,
        stops=stops,
        f_ext=f_ext,
        gravity=gravity,
        params=params,
        out=out,
    )
    return step_call(model, q, v, tau, options)


def step_call(model: Model, q: Array, v: Array, tau: Array, options: StepOptions) -> Call[Step]:
    """The call of `step`."""
    options = options.with_defaults()
    refuse_none(options.points)
    points = checked_points(model, options.points)
    pairs = checked_pairs(model, options.pairs) if options.pairs else ()
    shaped = _arrays(model, q, points, options)
    if options.has_pairs:
        shaped |= pair_arrays(options, pairs, q)
    mujocos = options.is_mujocos
    if mujocos and model.loops:
        raise ValueError(
            f'integrator="{options.integrator}" has no closed loops, and {model.name} has some; take '
            '"semi_implicit"'
        )
    bounds = limits_of(model, options.params, options.stops, mujocos)
    has_rows = options.is_implicit or mujocos
    rows = rows_of_joints(model, options.params, bounds) if has_rows else ()
    soft = soft_points(model, options.points, options.ground, mujocos)
    if options.joint_impulses is not None:
        _refuse_without_rows(model, rows or pairs or model.loops)
        shaped["joint_impulses"] = options.joint_impulses, (len(model.joint_columns),)
    scene = _scene(model, points, tuple(shaped), rows, bounds, soft, options)
    if options.stops == "soft":
        scene = scene._replace(tendon_bounds=tendon_bounds_of(model, mujocos))
    refuse = refusing_for_step(
        points,
        implicit=options.is_implicit,
        driven=options.targets is not None,
        varied=options.params is not None,
    )
    result: Any = StepOfRows if rows else Step
    if pairs or model.loops:
        result = StepOfScene
        scene = scene._replace(
            pairs=pairs,
            pair_slots=getattr(options.pairs, "slots", None),
            pair_moments=moments_of_pairs(options.pairs, options.pair_contact) if pairs else (),
            soft_pairs=soft_pairs(model, pairs, options.pair_contact, mujocos),
        )
        refuse = _all_of((refuse, refusing_still_pairs(pairs)))
    inputs = {name: array for name, (array, _) in shaped.items()}
    shapes = {name: shape for name, (_, shape) in shaped.items()}
    return Call(
        "step",
        model,
        (_substeps,),
        {"q": q, "v": v, "tau": tau, **inputs},
        out=options.out,
        options=(("scene", scene),),
        results=result._fields,
        shapes={**shapes, **_result_shapes(model, pairs, scene)},
        forces=(options.gravity, options.f_ext),
        params=options.params,
        refuse=refuse,
        arguments={name: _argument_spec(name) for name in shaped},
        over={"impulses": "deformation"} if "deformation" in shaped else {},
        named=result,
    )


@cache
def _argument_spec(name: str) -> ArgumentSpec:
    """The kinds and the bounds of an array of the step."""
    bound: Bound = "above 0" if name in POSITIVE else "at least 0" if name in UNSIGNED else ""
    return ArgumentSpec(plain=name not in NOT_PLAIN, table=name in TABLES, bound=bound)


def _refuse_without_rows(model: Model, rows: Sequence[Any]) -> None:
    """Raise for joint_impulses= of a step that has none."""
    if not rows:
        raise ValueError(
            f'joint_impulses= is for Coulomb friction and stops="rows" or "soft"; no joint of {model.name} '
            "has either"
        )


def _result_shapes(
    model: Model, pairs: Sequence[ContactPair], scene: Scene
) -> dict[str, tuple[int, ...]]:
    """Shapes of one environment's results that differ from those of the inputs, by name."""
    joints, points = len(model.joint_columns), len(scene.points)
    shapes: dict[str, tuple[int, ...]] = {
        "impulses": (points, impulse_width(scene.point_moments) if points else 3),
        "forces": (points, 3),
        "torques": (joints,),
        "joint_impulses": (joints,),
    }
    if pairs or model.loops:
        shapes |= {"loop_forces": (len(model.loops), 6), "pair_forces": (len(pairs), 3)}
        shapes |= memory_shapes(pairs, scene.pair_moments)
    return shapes


def _all_of(refusals: Sequence[Callable[[Structure], None]]) -> Callable[[Structure], None]:
    """One function that calls all of these."""

    def refuse(model: Structure) -> None:
        for each in refusals:
            each(model)

    return refuse


def _arrays(model: Model, q: Array, points: Sequence[ContactPoint], options: StepOptions) -> Shaped:
    """Arrays that contacts, terrain and drives add to q, v and tau, with their shapes, by name."""
    shaped = contact_arrays(model, points, options, q)
    if "dissipation" in shaped and not (options.is_implicit or options.is_mujocos):
        raise ValueError(
            f'contacts of wd.Ground are implicit, and integrator="{options.integrator}" is explicit: take '
            'integrator="semi_implicit", or ground=wd.SoftGround(...)'
        )
    if points:
        shaped |= terrain_arrays(model, options.terrain, points, q)
    elif options.terrain is not None:
        check_terrain(options.terrain)
    shaped |= drive_arrays(model, options.control, options.targets)
    joints = len(model.joint_columns)
    return shaped | late_targets(options.latency, options.earlier_targets, options.targets, joints)


def _scene(
    model: Model,
    points: tuple[ContactPoint, ...],
    arrays: tuple[str, ...],
    rows: tuple[int, ...],
    bounds: tuple[Bounds, ...],
    soft: tuple[SoftPoint | None, ...],
    options: StepOptions,
) -> Scene:
    """The constants of the program. Numbers that may vary between launches are among `arrays`."""
    guarded = bool(options.speed_guard)
    return Scene(
        arrays=arrays,
        points=points,
        guarded=guarded,
        speed_limits=speed_limits(model) if guarded else (),
        stops=stops_of(model, options.params) if options.stops == "springs" else (),
        dt=_duration(options.dt),
        substeps=whole_number("substeps", options.substeps),
        sweeps=whole_number("sweeps", options.sweeps),
        joint_rows=rows,
        bounds=bounds,
        integrator=options.integrator,
        exponents=exponents_of(options.ground),
        tendon_stops=options.stops in ("rows", "soft"),
        point_moments=moments_of_points(options.ground, len(points)) if points else (),
        points_in_slots=bool(points)
        and need_slots(points)
        and options.is_implicit
        and not options.is_soft
        and not soft,
        soft_points=soft,
    )


def _duration(dt: Any) -> float:
    if not is_number(dt) or not 0.0 < dt <= LONGEST_STEP:
        raise ValueError(f"dt must be a number of seconds in (0, {LONGEST_STEP}], got {dt!r}")
    return float(dt)
