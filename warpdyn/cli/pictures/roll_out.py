"""Simulation of robots that hold a posture, are dropped onto the ground and pushed, and its
measurements over time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import warp as wp

from ...arrays.libraries import library_of
from ...execution.batched import bind
from ...execution.oracle import oracle
from ...functions.dynamics import crba
from ...functions.kinematics import fk
from ...functions.simulation.contact_pairs import ContactPairs
from ...functions.simulation.contact_points import ContactPoints
from ...functions.simulation.default_points import refuse_unread
from ...functions.simulation.described_simulation import with_description, with_passive_forces
from ...functions.simulation.drives import PD
from ...functions.simulation.ground import Ground
from ...functions.simulation.simulation import Simulation
from ...functions.simulation.simulation_step import step
from ...functions.simulation.step_results import Step
from ...model import Model
from ...model.scene.free_bodies import internal_joints
from ...model.structure import HOME, start_of
from ..workload import Memory, furthest_link, on_host, position_bounds

FULL_EFFORT = 0.1
"""Distance from its target at which a drive uses all of a joint's effort [rad, m]."""

FREQUENCY = 10.0
"""Natural frequency of the drive of a joint without an effort limit, with the joint's own inertia
[rad/s]."""

DAMPING = 0.7
"""Least damping ratio, with the joint's own inertia."""

SETTLING = 0.04
"""Least ratio of damping to stiffness [s]."""

DROP, SPREAD = 0.05, 0.05
"""Largest height above the ground at which robots start [m], and largest offset of their joints
[rad, m]."""

PUSH_EVERY, PUSH_LASTS = 1.0, 0.2
"""Time between pushes, and length of one push [s]."""

ENOUGH_SWEEPS = 200
"""Number of sweeps after which contact forces do not change; the residual is the difference from
them."""

STANDARD_GRAVITY = 9.81


class Plan(NamedTuple):
    """Options of `warpdyn simulate`."""

    envs: int
    seconds: float
    dt: float
    substeps: int
    friction: float | None
    kp: float | None
    kd: float | None
    push: float
    seed: int
    residual: bool
    device: str
    pairs: Sequence[Sequence[str]] = ()
    """Two links, or patterns of names, for each --pair."""

    @property
    def launches(self) -> int:
        """Number of launches, at least one."""
        return max(1, round(self.seconds / (self.dt * self.substeps)))


@dataclass(frozen=True)
class History:
    """Measurements: `time` (launches,), and the other arrays (launches, envs).

    `heights` of a free base [m]; `errors`: root mean square of the joints' distances from their
    targets [rad, m]; `loads`: upward force of the ground relative to the weight; `pair_loads`:
    largest force of a pair of shapes relative to the weight; `efforts`: the largest torque of a
    joint relative to its limit; `residuals`: largest change of a force on a point in the next step
    with 200 sweeps, relative to the weight. Quantities that a robot does not have are left out.
    """

    time: np.ndarray
    measured: Mapping[str, np.ndarray]
    failures: int
    first_launch: float
    """Seconds of the first launch: recording and compiling, or reading the cache."""
    wall: float
    """Seconds of all launches after the first."""
    pairs_left_out: int = 0
    """How often a near pair of shapes had no slot."""


def posture(model: Model) -> np.ndarray:
    """The configuration to hold (nq,): "home", or else "qpos0" of an MJCF file or the neutral one,
    clamped to limits; a free base stands with its lowest contact point on the ground."""
    q = np.array(start_of(model), float)
    if HOME not in model.configurations:
        q = _within_limits(model, q)
    points = ContactPoints(model)
    if model.floating_base and len(points):
        poses = oracle(fk, model, q, frames=list(points.links))
        at = dict(zip(points.links, poses, strict=True))
        q[2] -= min((at[p.link] @ [*p.centre, 1.0])[2] - p.radius for p in points)
    return q


def gains(model: Model, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Stiffness and damping (joints,) of drives for a robot of any size: all of a joint's effort at
    0.1 rad, or without an effort limit 10 rad/s with the joint's own inertia."""
    columns = model.joint_columns
    inertia = np.diagonal(oracle(crba, model, q))[columns]
    effort = model.effort_limit[columns]
    bounded = np.isfinite(effort)
    kp = np.where(bounded, np.where(bounded, effort, 0.0) / FULL_EFFORT, inertia * FREQUENCY**2)
    return kp, np.maximum(SETTLING * kp, 2 * DAMPING * np.sqrt(kp * inertia))


def drivable(model: Model) -> bool:
    """True if every joint consists of single angles and lengths, which `wd.PD` drives."""
    return all(part.single for joint in internal_joints(model) for part in joint.kind.parts)


def pushed_link(model: Model) -> str:
    """The link that is pushed: a free base, or the link behind the most joints."""
    return model.root if model.floating_base else furthest_link(model)


def roll_out(
    model: Model, plan: Plan, watch: Callable[[Simulation], None] | None = None
) -> tuple[Simulation, History]:
    """The robots after `plan.seconds`, and the measurements; shows a progress bar if stderr is a
    terminal. watch: called before the first launch and after each."""
    from tqdm import tqdm

    model = with_passive_forces(model, None)
    draw = np.random.default_rng(plan.seed)
    held = posture(model)
    push = Memory(layout="rows", device=plan.device).array_of(np.zeros((plan.envs, 6), np.float32))
    scene = _scene(model, plan, held, push)
    sim = Simulation(
        model,
        plan.envs,
        start=_starts(model, plan, held, draw),
        device=None if plan.device == "cpu" else plan.device,
        substeps=plan.substeps,
        **scene,
    )
    if sim.control is not None:
        targets = np.tile(held[model.joint_position_columns], (plan.envs, 1))
        library_of(sim.targets).write(sim.targets, targets.astype(np.float32))
    residual = _residual(model, sim, scene) if plan.residual and len(sim.points) else None
    if watch is not None:
        watch(sim)
    began = time.perf_counter()
    sim.step()  # it may compile, and then shows its own bar
    first = time.perf_counter() - began
    if watch is not None:
        watch(sim)
    rows, wall = [_measure(model, sim, held, residual)], 0.0
    for k in tqdm(range(1, plan.launches), unit="launch", leave=False, disable=None):
        if plan.push:
            _write_push(push, plan, k, draw)
        began = time.perf_counter()
        sim.step()
        wp.synchronize_device(plan.device)
        wall += time.perf_counter() - began
        if watch is not None:
            watch(sim)
        rows.append(_measure(model, sim, held, residual))
    seconds = plan.dt * plan.substeps * (1 + np.arange(plan.launches))
    return sim, History(
        seconds,
        {name: np.array([row[name] for row in rows]) for name in rows[0]},
        int(on_host(sim.failures).sum()),
        first,
        wall,
        int(on_host(sim.pairs_left_out).sum()),
    )


def _scene(model: Model, plan: Plan, held: np.ndarray, push: Any) -> dict[str, Any]:
    """Arguments that `Simulation` and `wd.step` have in common."""
    points = ContactPoints(model)
    refuse_unread(points)
    scene: dict[str, Any] = {
        "points": points,
        "ground": with_description(model, points, Ground(friction=plan.friction)),
        "f_ext": {pushed_link(model): push} if plan.push else None,
        "dt": plan.dt,
    }
    if plan.pairs:
        scene["pairs"] = ContactPairs(model).only(*((a, b) for a, b in plan.pairs))
    if model.is_simulated:  # as in a Simulation, for the residual's steps too
        scene["stops"] = "rows"
    if drivable(model):
        kp, kd = gains(model, held)
        control = PD(kp if plan.kp is None else plan.kp, kd if plan.kd is None else plan.kd)
        scene["control"] = control
    return scene


def _starts(model: Model, plan: Plan, held: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """Start configurations (envs, nq) around the posture, with random offsets of joints and
    heights."""
    start = np.tile(held, (plan.envs, 1))
    if drivable(model):
        columns = model.joint_position_columns
        start[:, columns] += draw.uniform(-SPREAD, SPREAD, (plan.envs, len(columns)))
        start = _within_limits(model, start)
    if model.floating_base:
        start[:, 2] += draw.uniform(0.0, DROP, plan.envs)
    return start


def _residual(model: Model, sim: Simulation, scene: dict[str, Any]) -> Callable[[], np.ndarray]:
    """Function for the residual of the sweeps in the next step (envs,): the largest difference of a
    force on a point from that after many more sweeps, relative to the weight."""
    options = {**scene, "impulses": sim.impulses}
    if len(sim.pairs):
        options |= {"pair_impulses": sim.pair_impulses, "pair_features": sim.pair_features}
    if sim.control is not None:
        options["targets"] = sim.targets
    few: Callable[[], Step] = bind(step, model, sim.q, sim.v, sim.tau, **options)
    options["sweeps"] = ENOUGH_SWEEPS
    many: Callable[[], Step] = bind(step, model, sim.q, sim.v, sim.tau, **options)

    def residual() -> np.ndarray:
        difference = on_host(few().forces) - on_host(many().forces)
        return np.linalg.norm(difference, axis=2).max(1) / _weight(model)

    return residual


def pushes(plan: Plan) -> list[tuple[float, float]]:
    """Times at which pushes begin and end [s], in whole launches."""
    if not plan.push:
        return []
    launch = plan.dt * plan.substeps
    period, length = (max(1, round(x / launch)) for x in (PUSH_EVERY, PUSH_LASTS))
    begins = range(period // 2, plan.launches, period)
    return [(k * launch, min(k + length, plan.launches) * launch) for k in begins]


def _write_push(push: Any, plan: Plan, launch: int, draw: np.random.Generator) -> None:
    """Start a push if it is due, in a random horizontal direction of the link's axes, or end it."""
    time = launch * plan.dt * plan.substeps
    times = np.array(pushes(plan)).reshape(-1, 2)
    if np.isclose(times[:, 0], time).any():
        angle = draw.uniform(0, 2 * np.pi, plan.envs)
        none = np.zeros((plan.envs, 4))
        force = plan.push * np.stack([np.cos(angle), np.sin(angle)], 1)
        library_of(push).write(push, np.concatenate([force, none], 1).astype(np.float32))
    elif np.isclose(times[:, 1], time).any():
        library_of(push).write(push, 0.0)


def _measure(
    model: Model, sim: Simulation, held: np.ndarray, residual: Callable[[], np.ndarray] | None
) -> dict[str, np.ndarray]:
    """Measurements of a launch: see `History`."""
    q, torques = on_host(sim.q), on_host(sim.torques)
    found: dict[str, np.ndarray] = {}
    if model.floating_base:
        found["heights"] = q[:, 2].copy()
    if len(sim.points):
        found["loads"] = on_host(sim.forces)[:, :, 2].sum(1) / _weight(model)
    if len(sim.pairs):
        strengths = np.linalg.norm(on_host(sim.pair_forces), axis=2)
        found["pair_loads"] = strengths.max(1) / _weight(model)
    if sim.control is not None and len(model.joint_columns):
        off = (q - held)[:, model.joint_position_columns]
        found["errors"] = np.sqrt(np.mean(off**2, axis=1))
    effort = model.effort_limit[model.joint_columns]
    limited = np.isfinite(effort) & (effort > 0)
    if limited.any():
        found["efforts"] = np.abs(torques[:, limited] / effort[limited]).max(1)
    if residual is not None:
        found["residuals"] = residual()
    return found


def _weight(model: Model) -> float:
    return (model.total_mass or 1.0) * STANDARD_GRAVITY


def _within_limits(model: Model, q: np.ndarray) -> np.ndarray:
    """Joints clamped to their limits; quaternions and a free base are unchanged."""
    lower, upper = position_bounds(model)
    reached = np.clip(q, lower, upper)
    for joint in model.moving_joints:
        if not all(part.single for part in joint.kind.parts):
            columns = model.coordinates[joint.name].q
            reached[..., columns] = q[..., columns]
    return reached
