"""A user's quadruped: the data that its tasks need, and the values that follow from its model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import numpy as np

from ...execution.oracle import oracle
from ...functions.simulation.contact_points import ContactPoint, ContactPoints
from ...functions.simulation.drives import PD
from ...functions.simulation.ground import STANDARD_WEIGHT
from ...functions.simulation.point_kinematics import point_heights, point_jacobians, point_positions
from ...model import Model
from ..task import TaskError

FEET = 4

STANCES = ("home", "standing", "stand")
"""Configurations for the default stance; the first that exists is used."""

STIFFNESS, DAMPING = 0.5, 0.02
"""kp per radian as a share of weight times height, and kd as a share of kp [s]. A Go2 has 25 and
0.5, an ANYmal 80 and 2, a Solo 3 and 0.06 to 0.2 in publications."""

ARMATURE, VISCOUS = 0.0065, 0.2
"""Rotor inertia as a share of mass times height², and joint friction as a share of kd, if the
description has none."""

STOP_STIFFNESS, STOP_DAMPING = 8.0, 2.0
"""Springs and dampers beyond joint limits, as multiples of kp and kd."""


HEIGHT = 0.3222205708102056
"""Standing height for which the tasks' numbers are chosen, that of the bundled quadruped [m]."""


class QuadrupedForm(NamedTuple):
    """A quadruped in the form that its tasks use.

    model: with rotors, friction and limit springs.
    points: one sphere per foot. stance (joints).
    height: of the base's origin with the feet on the floor [m].
    centre, half: of the trunk's box in the base's frame [m]. drives.
    moment: weight times height, a scale for torques [N·m].
    pace: times of its steps, and its speeds, relative to those of a robot with the height HEIGHT:
    both grow with the root of the height for dynamically similar motions (Alexander and Jayes, A
    dynamic similarity hypothesis for the gaits of quadrupedal mammals, 1983).
    feet: their positions in the stance, in the base's frame (feet, 3) [m].
    reach: joint motions that move each foot along the base's axes, at the stance (feet, joints, 3)
    [rad/m].
    """

    model: Model
    points: tuple[ContactPoint, ...]
    stance: np.ndarray
    height: float
    centre: np.ndarray
    half: np.ndarray
    drives: PD
    moment: float
    pace: float
    feet: np.ndarray
    reach: np.ndarray


@dataclass(frozen=True)
class Quadruped:
    """Feet, stance and gains of a quadruped; attributes that are None follow from its model.

    feet: names of the four links, or patterns, not case-sensitive.
    stance: a configuration's name, angles (joints,), or angles by joint names or patterns,
    `{"*_thigh_joint": 0.8}`; the last match counts, and joints without a match are 0 [rad]; None:
    the configuration "home" or "standing".
    kp [N·m/rad], kd [N·m·s/rad]: of the drives, numbers or (joints,); None: half the weight times
    the height per radian, and a fiftieth of kp.
    effort [N·m]: None for the limits of the description.
    height [m]: of the base at the stance, None: the height at which the lowest foot touches the
    ground. box (3,): sides of the trunk around the base's origin [m], None: around its collision
    shapes.
    radius [m]: of a sphere at the origin of each foot's link, None: the sphere among the foot's
    collision shapes, or one that touches where they do.
    action: the change of a target for an action of 1 [rad].
    command_range (3,): the largest commanded speeds forward, sideways [m/s] and turning [rad/s];
    None: the task's speeds, which are for a robot with the height of the bundled one, times the
    root of the ratio of the heights; turning is divided by this root (equal Froude numbers).
    """

    feet: str | Sequence[str] = "*foot"
    stance: str | Sequence[float] | Mapping[str, float] | None = None
    kp: Any = None
    kd: Any = None
    effort: Any = None
    height: float | None = None
    box: Sequence[float] | None = None
    radius: float | None = None
    action: float = 0.25
    command_range: Sequence[float] | None = None

    def standing(self, model: Model) -> QuadrupedForm:
        """All values for a model; TaskError if they cannot be computed."""
        if not model.floating_base:
            raise TaskError(
                f"{model.name} has a fixed base and cannot walk: load it with floating_base=True"
            )
        if (model.quaternion, model.base_velocity) != ("xyzw", "local"):
            raise TaskError(
                f"{model.name} has {model.quaternion} quaternions and {model.base_velocity} base "
                "velocities: tasks are written for xyzw and local; load it without these options"
            )
        feet, stance = self._feet(model), self._stance(model)
        # Pose at the stance with the base at the origin; the lowest foot then gives the standing
        # height.
        at = np.concatenate([np.zeros(6), [1.0], stance])
        shapes = ContactPoints(model)
        points = tuple(self._foot(model, shapes, link, at) for link in feet)
        lowest = -float(np.min(oracle(point_heights, model, at, points=points)))
        height = lowest if self.height is None else float(self.height)
        if not height > 0.0:
            raise TaskError(
                f"{model.name}: at its stance its feet are not below its base "
                f"(height {height:.3g} m); check stance="
            )
        centre, half = self._trunk(model, shapes)
        moment = (model.total_mass or 1.0) * STANDARD_WEIGHT * height
        kp = STIFFNESS * moment if self.kp is None else self.kp
        kd = DAMPING * np.asarray(kp) if self.kd is None else self.kd
        drives = PD(_number(kp), _number(kd), self.effort)
        model = _add_missing_effects(model, float(np.mean(kp)), float(np.mean(kd)), moment, height)
        pace = float(np.sqrt(height / HEIGHT))
        jacobians = oracle(point_jacobians, model, at, points=points, part="linear")
        reach = np.linalg.pinv(jacobians[:, :, 6:], rcond=0.1)
        places = oracle(point_positions, model, at, points=points)
        by_pose = (points, stance, height, centre, half, drives, moment)
        return QuadrupedForm(model, *by_pose, pace, places, reach)

    def commands(self, of_the_task: np.ndarray, pace: float) -> np.ndarray:
        """The largest commanded speeds (3,), scaled from those for a robot with the height
        HEIGHT."""
        if self.command_range is None:
            return of_the_task * np.array([pace, pace, 1.0 / pace])
        most = np.array(self.command_range, dtype=float)
        if most.shape != (3,) or not (np.isfinite(most) & (most >= 0.0)).all():
            raise TaskError(
                "command_range must be the largest speeds ahead, sideways [m/s] and turning [rad/s], "
                f"from 0 on; got {self.command_range}"
            )
        return most

    def _feet(self, model: Model) -> list[str]:
        """Links of the feet, in the order of the model."""
        patterns = [self.feet] if isinstance(self.feet, str) else list(self.feet)
        chosen: set[str] = set()
        for pattern in patterns:
            fitting = {n for n in model.link_names if fnmatchcase(n.lower(), pattern.lower())}
            if not fitting:
                raise TaskError(
                    f'{model.name} has no link "{pattern}" for a foot. Name the feet: '
                    f"feet=, some of {_join_names(_leg_ends(model))}"
                )
            chosen |= fitting
        if len(chosen) != FEET:
            raise TaskError(
                f"a quadruped has four feet; {_join_names(patterns)} matches {len(chosen)} links of "
                f"{model.name}: {_join_names([n for n in model.link_names if n in chosen])}"
            )
        return [n for n in model.link_names if n in chosen]

    def _stance(self, model: Model) -> np.ndarray:
        """Angles of the joints (joints,), within their limits."""
        names, count = model.joint_names, model.nq - 7
        said = self.stance
        if said is None:
            there = [n for n in STANCES if n in model.configurations]
            if not there:
                raise TaskError(
                    f"{model.name} has no configuration {_join_names(STANCES, 'or')} to stand in: give "
                    f"stance= angles of its {count} joints, {_join_names(names)}"
                )
            said = there[0]
        # A name, a mapping from patterns, or plain angles all become one array.
        if isinstance(said, str):
            if said not in model.configurations:
                raise TaskError(
                    f"{model.name} has no configuration {said!r} for a stance; it has "
                    f"{_join_names(model.configurations) or 'none'}"
                )
            stance = model.configurations[said][7:].copy()
        elif isinstance(said, Mapping):
            stance = np.zeros(count)
            for pattern, angle in said.items():
                fitting = [k for k, n in enumerate(names) if fnmatchcase(n, pattern)]
                if not fitting:
                    raise TaskError(
                        f'stance: {model.name} has no joint "{pattern}"; it has {_join_names(names)}'
                    )
                stance[fitting] = angle
        else:
            stance = np.array(said, dtype=float)
        if stance.shape != (count,):
            raise TaskError(
                f"stance must be {count} angles for {model.name}, of {_join_names(names)}; "
                f"got {stance.size}"
            )
        beyond = (stance < model.position_lower[7:]) | (stance > model.position_upper[7:])
        for k in np.flatnonzero(beyond):
            low, high = model.position_lower[7 + k], model.position_upper[7 + k]
            raise TaskError(
                f'stance: joint "{names[k]}" of {model.name} at {stance[k]:g} is outside its '
                f"limits, {low:g} to {high:g}"
            )
        return stance

    def _foot(self, model: Model, shapes: ContactPoints, link: str, at: np.ndarray) -> ContactPoint:
        """The sphere of one foot."""
        if self.radius is not None:
            return ContactPoint(link, (0.0, 0.0, 0.0), float(self.radius))
        mine = [point for point in shapes if point.link == link]
        if not mine:
            raise TaskError(
                f'the foot "{link}" of {model.name} has no collision shape that can be read: give '
                "radius= of a sphere at its origin [m]"
            )
        largest = max(mine, key=lambda point: point.radius)
        if largest.radius > 0.0:
            return largest
        corners = np.array([point.centre for point in mine])
        x, y, z = ((corners.min(axis=0) + corners.max(axis=0)) / 2).tolist()
        middle = ContactPoint(link, (x, y, z), 0.0)
        heights = oracle(point_heights, model, at, points=[middle, *mine])
        return middle._replace(radius=float(heights[0] - np.min(heights)))

    def _trunk(self, model: Model, shapes: ContactPoints) -> tuple[np.ndarray, np.ndarray]:
        """Centre and half the sides of a box around the trunk, in the base's frame."""
        if self.box is not None:
            return np.zeros(3), np.array(self.box, dtype=float) / 2
        mine = [point for point in shapes if point.link == model.root]
        if not mine:
            raise TaskError(
                f'the trunk "{model.root}" of {model.name} has no collision shape that can be '
                "read: give box= its three sides [m]"
            )
        centres = np.array([point.centre for point in mine])
        radii = np.array([[point.radius] for point in mine])
        low, high = (centres - radii).min(axis=0), (centres + radii).max(axis=0)
        return (low + high) / 2, (high - low) / 2


def _add_missing_effects(model: Model, kp: float, kd: float, moment: float, height: float) -> Model:
    """The model with rotors, friction and limit springs added if it has none of its own."""
    moving = model.moving_joints[1:]
    effects = [effect for joint in moving for effect in joint.effects]
    if not any(joint.armature for joint in moving):
        model = model.with_armature(ARMATURE * moment / STANDARD_WEIGHT * height)
    if not any(effect.viscous for effect in effects):
        described = any(any(joint.v_damping) for joint in moving)
        model = model.with_friction(viscous="description" if described else VISCOUS * kd)
    if not any(effect.stiffness for effect in effects):
        model = model.with_limit_springs(stiffness=STOP_STIFFNESS * kp, damping=STOP_DAMPING * kd)
    return model


def _leg_ends(model: Model) -> Iterator[str]:
    """Links at the ends of legs: those without children, carried by a joint that moves."""
    moving = {joint.child for joint in model.moving_joints[1:]}
    parents = {joint.child: joint.parent for joint in model.joints}
    for name in model.link_names:
        link: str | None = name
        while link is not None and link not in moving:
            link = parents.get(link)
        if link is not None and name not in parents.values():
            yield name


def _join_names(names: Any, word: str = "and") -> str:
    each = list(names)
    return f" {word} ".join([", ".join(each[:-1]), each[-1]]) if len(each) > 1 else "".join(each)


def _number(x: Any) -> Any:
    """A scalar as a float, an array as an array."""
    return float(x) if np.ndim(x) == 0 else np.array(x, dtype=float)
