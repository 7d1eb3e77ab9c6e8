"""The simulation's steps of a task, with varied numbers instead of the model's and the task's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import numpy as np

from ..algorithms.simulation.contact_rows import impulse_width
from ..functions.simulation.contact_pairs import PairContact
from ..functions.simulation.default_points import refuse_unread
from ..functions.simulation.described_simulation import with_description, with_passive_forces
from ..functions.simulation.described_softness import limits_of
from ..functions.simulation.drives import Stops
from ..functions.simulation.ground import (
    Ground,
    default_stiffness,
    moments_of_points,
    with_default_numbers,
)
from ..functions.simulation.pair_arrays import (
    described_friction,
    described_moments,
    memory_shapes,
    moments_of_pairs,
)
from ..functions.simulation.terrain import HeightMap
from ..model.description import Joint, Link
from ..model.quantities import QUANTITIES, SHAPES
from ..model.quantities import owners as every_owner
from ..model.scene.free_bodies import internal_joints
from ..model.value_substitution import nominal_value
from .substep_forces import MEAN, PEAK, step_by_step
from .task import Episode, Task, TaskError, gravity_argument
from .variation import ENCODER_BIAS, OBSERVATION_LATENCY, ORIGIN

DRIVEN = ("kp", "kd", "effort", "strength")
OF_MOMENTS = ("torsional_friction", "rolling_friction")
TOUCHED = ("friction", "stiffness", "dissipation", *OF_MOMENTS)
"""Numbers of drives and of the ground that may vary, or be carried under these names."""

DRAWN = 1.0
"""Stands for a coefficient that differs between environments."""

OF_PAIRS = (
    "pair_friction",
    "pair_stiffness",
    "pair_dissipation",
    *(f"pair_{name}" for name in OF_MOMENTS),
)
"""Numbers of contact pairs that may vary, or be carried under these names."""

OF_MODEL = tuple(name for name in SHAPES if name not in (*TOUCHED, "placement", "axis"))
"""Quantities of links and joints that may vary; a stiffness belongs to the ground."""

SENSORS = (ENCODER_BIAS, OBSERVATION_LATENCY)
"""Numbers of sensors that may vary."""

SIGNED = ("gravity", "com", "inertia", "rest", ENCODER_BIAS, ORIGIN)
"""Numbers that may be negative."""

QUADRATIC = "quadratic_friction"
"""Friction of joints that grows with the square of their speed, -c |v| v [N m s²/rad²]."""

JOINTS = "joint_impulses"
"""Name of the carried impulses of joint limits that are rows."""

LATE = "earlier_targets"
"""Name of the carried targets of earlier steps, if targets are late."""


class SimulatedRobot(NamedTuple):
    """A robot after a step, with its carried arrays and results."""

    q: Any
    v: Any
    others: Mapping[str, Any]
    """Forces and torques, what contacts pass on to the next step, and targets of earlier steps if
    targets are late, by name."""


def contact_memory(task: Task) -> dict[str, tuple[int, ...]]:
    """Shapes of what contacts pass from one step to the next, by name."""
    ground, contact, points = task.ground, task.pair_contact, len(task.points)
    drawn = [n for n in OF_MOMENTS if n in task.vary]
    moments = moments_of_points(ground._replace(**dict.fromkeys(drawn, DRAWN)), points)
    shapes: dict[str, tuple[int, ...]] = {"impulses": (points, impulse_width(moments))}
    if limits_of(task.model, None, task.stops):
        shapes[JOINTS] = (len(task.model.joint_columns),)
    if task.pairs:
        drawn = [n for n in OF_MOMENTS if f"pair_{n}" in task.vary]
        coefficients: dict[str, Any] = dict.fromkeys(drawn, DRAWN)
        contact = contact._replace(**coefficients)
        shapes |= memory_shapes(task.pairs, moments_of_pairs(task.pairs, contact))
    return shapes


def contact_results(task: Task) -> dict[str, tuple[int, ...]]:
    """Shapes of the forces and torques that a step gives, by name."""
    shapes = {"forces": (len(task.points), 3), "torques": (len(task.model.joint_columns),)}
    if task.substep_forces and task.points:
        shapes |= {MEAN: (len(task.points), 3), PEAK: (len(task.points),)}
    return shapes | ({"pair_forces": (len(task.pairs), 3)} if task.pairs else {})


def as_described(task: Task) -> Task:
    """The task with the simulation settings of its robot description, as in a `Simulation`: passive
    forces in the model, friction and stiffness in the ground, joint limits of an MJCF file as rows.
    Returns the task itself if there are none. Raises if contact points of collision shapes could
    not be read."""
    refuse_unread(task.points)
    model = with_passive_forces(task.model, task.passive_forces)
    ground = with_description(model, task.points, task.ground)
    stops: Stops | None = task.stops
    if stops is None and model.is_simulated:
        stops = "rows" if task.integrator == "semi_implicit" else "soft"
    if model is task.model and ground is task.ground and stops == task.stops:
        return task
    described = copy(task)
    described.model, described.ground, described.stops = model, cast("Ground", ground), stops
    return described


def defaults(task: Task) -> dict[str, np.ndarray]:
    """Default values of the numbers that vary. TaskError: a number cannot vary, not over this
    range, or the task does not have it."""
    found = {name: np.asarray(_default(task, name), dtype=float) for name in task.vary}
    for name, default in found.items():
        vary = task.vary[name]
        least = np.min(_after(vary.how, vary.smallest, default))
        if name not in SIGNED and least < 0:
            raise TaskError(
                f"{task.name}.vary: {name} must not be negative, but its draws reach down to {least:.6g}"
            )
    return found


def _after(how: str, drawn: float, default: np.ndarray) -> Any:
    return {"abs": drawn, "scale": drawn * default, "add": drawn + default}[how]


def _default(task: Task, name: str) -> Any:
    if name == "gravity":
        return task.gravity
    if name in DRIVEN and task.drives is not None:
        value = getattr(task.drives, name)
        return task.model.effort_limit[task.model.joint_columns] if value is None else value
    # None: the ground or the pairs of this task do not have the number.
    of_ground = _ground_default(task, name)
    if of_ground is not None:
        return of_ground
    if name in OF_PAIRS and task.pairs and _pair_default(task, name) is not None:
        return _pair_default(task, name)
    if name == "latency" and task.drives is not None:
        if task.vary[name].how != "abs" or task.vary[name].low < 0:
            raise TaskError(f'{task.name}.vary: {name} must have how="abs", in seconds from 0 on')
        return 0.0
    if name in (*SENSORS, QUADRATIC):
        return _default_of_sensor_or_joint(task, name)
    if name in OF_MODEL:
        return [nominal_value(name, owner) for owner in owners(task, name)]
    if name in (*DRIVEN, "latency"):
        raise TaskError(f"{task.name}.vary.{name} belongs to drives, and the task has none")
    raise TaskError(
        f"{task.name}.vary: {name!r} is not a number that can vary; these can: gravity, "
        f"{', '.join((*DRIVEN, 'latency', *SENSORS, QUADRATIC, *TOUCHED, *OF_PAIRS))}, those of the drives and of the "
        f"pairs where the task has some, and {', '.join(OF_MODEL)} of the model"
    )


def _ground_default(task: Task, name: str) -> Any:
    """The number of the task's ground or terrain; None if it has none of this name."""
    if name == ORIGIN and isinstance(task.terrain, HeightMap):
        if task.vary[name].how != "scale":
            raise TaskError(f'{task.name}.vary: an origin must have how="scale", of (1, 1, 0) m')
        return (1.0, 1.0, 0.0)
    if name not in TOUCHED:
        return None
    if not task.points:
        pairs = f"; for its pairs: pair_{name}" if task.pairs else ""
        owner = "contact points on the ground, and the task has no points"
        raise TaskError(f"{task.name}.vary.{name} belongs to {owner}{pairs}")
    ground = with_default_numbers(task.ground)
    given = getattr(ground, name, None)
    if given is None and name == "stiffness" and isinstance(ground, Ground):
        return default_stiffness(task.model)
    return 0.0 if given is None and name in OF_MOMENTS else given


def _pair_default(task: Task, name: str) -> Any:
    """The number of all pairs, or of each pair if they differ; None if the step chooses it."""
    name = name.removeprefix("pair_")
    given = getattr(task.pair_contact, name)
    if name == "friction":
        numbers = described_friction(task.pairs, given)
    elif name in OF_MOMENTS:
        found = described_moments(task.pairs, task.pair_contact)[OF_MOMENTS.index(name)]
        numbers = 0.0 if found is None else found
    else:
        return given
    each = np.atleast_1d(numbers)
    return each[0] if (each == each[0]).all() else each


def owners(task: Task, quantity: str) -> list[Link | Joint]:
    """Links or joints whose number varies: those of the pattern that have this quantity."""
    of, model = task.vary[quantity].of, task.model
    every = every_owner(model, quantity)
    found = [x for x in every if fnmatchcase(x.name, of) and _has(quantity, x)]
    if not found:
        raise TaskError(
            f"{task.name}.vary: no {QUANTITIES[quantity].owner} of {model.name} that "
            f"matches {of!r} has {quantity}"
        )
    return found


def _has(quantity: str, owner: Link | Joint) -> bool:
    if isinstance(owner, Link):
        return owner.mass > 0
    bounded = owner.is_bounded or quantity != "damping"
    return bounded and owner.mimic is None and owner.kind.nv == 1


def _default_of_sensor_or_joint(task: Task, name: str) -> np.ndarray:
    """Zero: sensors without error, joints without quadratic friction. Raises for a draw that makes no
    sense."""
    if name == QUADRATIC:
        return np.zeros(len(_joints_of_one_freedom(task)))
    vary = task.vary[name]
    if name == OBSERVATION_LATENCY:
        if vary.how != "abs" or vary.low < 0:
            raise TaskError(f'{task.name}.vary: {name} must have how="abs", in seconds from 0 on')
        return np.zeros(())
    columns = task.model.joint_position_columns
    if len(columns) != len(task.model.joint_columns):
        raise TaskError(f"{task.name}.vary: {name} needs joints with one degree of freedom each")
    return np.zeros(len(columns))


def late_shape(task: Task) -> dict[str, tuple[int, ...]]:
    """The shape of the stored targets, by name; empty if targets are not late."""
    if "latency" not in task.vary:
        return {}
    launches = max(math.ceil(task.vary["latency"].largest / task.step_seconds - 1e-9), 1)
    return {LATE: (launches, len(task.model.joint_columns))}


def simulate_steps(
    task: Task,
    robot: Any,
    s: Any,
    wanted: Mapping[str, Any],
    f_ext: Mapping[str, Any] = MappingProxyType({}),
) -> SimulatedRobot:
    """The robot after the simulation's steps, with the result of `control` and forces on links."""
    given, late = _drives(task, s, wanted)
    if task.points:
        changed = _carried_numbers(s, TOUCHED)
        for name in ("friction", *OF_MOMENTS):
            if name in changed:
                changed[name] = changed[name] * np.ones(len(task.points))
        given |= {"points": task.points, "impulses": s.impulses, "terrain": s.terrain}
        given["ground"] = task.ground._replace(**changed)
    if task.pairs:
        given |= {"pairs": task.pairs, "pair_contact": _pair_contact(task, s)}
        given |= {n: getattr(s, n) for n in memory_shapes(task.pairs)}
    given |= gravity_argument(task, s)
    if task.stops is not None:
        given["stops"] = task.stops
    if JOINTS in contact_memory(task):
        given[JOINTS] = s.joint_impulses
    times: dict[str, Any] = {"dt": task.dt, "substeps": task.substeps, "sweeps": task.sweeps}
    if task.integrator != "semi_implicit":
        times["integrator"] = task.integrator
    tau = wanted.get("tau", np.zeros(task.model.nv))
    if f_ext:
        given["f_ext"] = dict(f_ext)
    names = (*contact_results(task), *contact_memory(task))
    varied = with_its_numbers(task, robot, s)
    try:
        if task.substep_forces and task.points:
            memory = {n: getattr(s, n) for n in contact_memory(task)}
            found = step_by_step(varied, s.q, s.v, tau, {**times, **given}, memory)
            return SimulatedRobot(found["q"], found["v"], {n: found[n] for n in names} | dict(late))
        end = varied.step(s.q, s.v, tau, **times, **given)
    except ValueError as error:  # the step refuses an attribute of the task
        raise TaskError(f"{task.name}: {error}") from error
    return SimulatedRobot(end.q, end.v, {n: getattr(end, n) for n in names} | dict(late))


def _pair_contact(task: Task, s: Episode) -> PairContact:
    """The properties of the task's pairs, with the numbers that this environment carries."""
    ones = np.ones(len(task.pairs))
    carried = _carried_numbers(s, OF_PAIRS)
    return task.pair_contact._replace(
        **{name.removeprefix("pair_"): x * ones for name, x in carried.items()}
    )


def _drives(task: Task, s: Any, wanted: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments of the step for the drives, and the carried targets if they are late."""
    if "targets" not in wanted:
        return {}, {}
    if task.drives is None:
        raise TaskError(
            f"{task.name}.control gives targets, but the task has no drives = wd.PD(kp, kd)"
        )
    targets, joints = wanted["targets"], len(task.model.joint_columns)
    changed = {n: x * np.ones(joints) for n, x in _carried_numbers(s, DRIVEN).items()}
    given = {"control": task.drives._replace(**changed), "targets": targets}
    if "latency" not in task.vary:
        return given, {}
    # Before the first step of an episode, targets are those of that step.
    count = late_shape(task)[LATE][0]
    rows = [np.where(s.age < 0.5, targets, s.earlier_targets[k]) for k in range(count)]
    given["latency"] = np.stack([np.floor(s.latency * (1.0 / task.dt) + 0.5)])
    given[LATE] = np.stack(rows)
    return given, {LATE: np.stack([targets, *rows[:-1]])}


def _joints_of_one_freedom(task: Task) -> tuple[Joint, ...]:
    """The joints that drives can move. TaskError: one has several degrees of freedom."""
    joints = internal_joints(task.model)
    if any(joint.kind.nv != 1 for joint in joints):
        raise TaskError(
            f"{task.name}.vary: {QUADRATIC} needs joints with one degree of freedom each"
        )
    return joints


def _with_quadratic_friction(
    task: Task, s: Any, quantities: dict[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """The quantities with viscous friction that is larger by c |v|, v at the begin of the launch."""
    viscous = dict(quantities.get("viscous", {}))
    for k, joint in enumerate(_joints_of_one_freedom(task)):
        own = viscous.get(joint.name, nominal_value("viscous", joint))
        speed = np.abs(s.v[task.model.joint_columns[k]])
        viscous[joint.name] = own + s.quadratic_friction[k] * speed
    return {**quantities, "viscous": viscous}


def with_its_numbers(task: Task, robot: Any, s: Episode, moving: bool = True) -> Any:
    """The robot with the varied quantities of its model; `moving`: with the friction that depends
    on its speed."""
    quantities: dict[str, dict[str, Any]] = {}
    for name in OF_MODEL:
        if name in task.vary:
            values = getattr(s, name)
            whose = [owner.name for owner in owners(task, name)]
            quantities[name] = {each: values[k] for k, each in enumerate(whose)}
    if "mass" in quantities:
        # A heavier link of the same shape: moments about its centre scale with the mass.
        quantities["inertia"] = {
            link.name: np.array(nominal_value("inertia", link))
            * (quantities["mass"][link.name] * (1.0 / nominal_value("mass", link)))
            for link in owners(task, "mass")
        } | quantities.get("inertia", {})
    if moving and QUADRATIC in task.vary:
        quantities = _with_quadratic_friction(task, s, quantities)
    return robot.with_values(**quantities) if quantities else robot


def _carried_numbers(s: Episode, names: Sequence[str]) -> dict[str, Any]:
    """The named numbers that the environment carries, or that all environments share."""
    return {n: getattr(s, n) for n in names if n in vars(s)}


def place_terrain(task: Task, tables: Mapping[str, Any], origin: Any) -> Any:
    """The task's terrain inside a kernel: its tables are arguments of the kernel, and its
    environments are at their places."""
    terrain = task.terrain
    if not isinstance(terrain, HeightMap):
        return terrain
    friction = tables.get("map_friction")
    made = HeightMap(tables["heights"], terrain.cell, origin=terrain.origin, friction=friction)
    return made if origin is None else made.with_offset(origin)


def terrain_tables(task: Task) -> dict[str, np.ndarray]:
    """The lookup arrays of a task: its own, and those of its height map."""
    found = {name: np.asarray(x, dtype=float) for name, x in task.tables.items()}
    if isinstance(task.terrain, HeightMap):
        found["heights"] = np.asarray(task.terrain.heights, dtype=float)
        if task.terrain.friction is not None:
            found["map_friction"] = np.asarray(task.terrain.friction, dtype=float)
    return found
