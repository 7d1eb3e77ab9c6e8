"""Tracking of a motion: a robot follows a clip of joint positions and poses of its base."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from ...functions.simulation.contact_points import ContactPoint, ContactPoints
from ...functions.simulation.drives import PD
from ...functions.simulation.point_kinematics import point_positions
from ...model import Model
from ...robots import load_robot
from ...user_kernels.random_numbers import uniform
from ..recipe import Recipe
from ..task import Episode, Task, TaskError
from ..terms import gravity_in_base, joint_limits, rotation, sum_of_squares
from ..variation import Push, Vary
from .motion_clip import MotionClip, resampled, velocities_of

ROUTINE = "clips/humanoid_routine.npz"
"""The clip that comes with warpdyn, of its humanoid."""

STIFFNESS, DAMPING = 2.5, 0.025
"""Default kp as a multiple of the effort limit [1/rad], and kd as a multiple of kp [s]: a drive
reaches its limit at an error of 0.4 rad."""

RESIDUAL = 0.25
"""Change of a drive's target for an action of 1 [rad, m]."""

CLOSED = (0.02, 0.05)
"""Largest differences between both ends of a motion that repeats: height of the base [m], and
rotations and joint positions [rad, m]."""

ARMATURE, VISCOUS = 0.01, 0.1
"""Rotor inertia [kg·m²] and friction [N·m·s/rad] of joints whose description has none."""


class MotionTracking(Task):
    """A robot that follows a motion clip. The policy adds its actions to the clip's joint positions.

    Without arguments it is the bundled humanoid with the bundled clip. The policy observes the
    reference `ahead`. Episodes begin at a random frame, in the state of the clip (reference state
    initialisation), and end when the robot is far from it (Peng et al., DeepMimic, arXiv
    1804.02717). Rewards have the form of BeyondMimic's (Liao et al., arXiv 2508.08241), a Gaussian
    of each mean squared error.

    model: the robot, with x-y-z-w quaternions and velocities of the base in its own axes. clip: a
    `MotionClip`, or its file. repeat: True if the motion goes on after its last frame as after its
    first one, from where it is, as in a gait; else an episode ends with the clip, and on a robot the
    last frame is held. feet: links that may touch the ground, or patterns. bodies: links whose
    places count, or patterns; None: the last link of each limb. kp, kd, effort: of the drives,
    numbers or (joints,); None: `STIFFNESS` times the effort limit, `DAMPING` times kp, and the
    limits of the description.

    TaskError: the clip does not fit the robot, or a motion that repeats does not end as it begins.
    """

    dt, substeps, seconds = 0.005, 4, 10.0
    clip: str = ""
    repeat: bool = False
    ahead: tuple[float, float, float] = (0.02, 0.1, 0.3)
    """Times ahead for which the policy observes the reference [s]."""
    residual: float = RESIDUAL
    largest_action = 4.0
    scales = {
        "joints": 1.0,
        "speeds": 0.5,
        "bodies": 1.0,
        "place": 0.5,
        "attitude": 0.5,
        "base_speed": 0.5,
        "base_turning": 0.5,
        "jerk": -0.02,
        "torque": -0.05,
        "limits": -1.0,
    }
    widths = {
        "joints": 0.3,
        "speeds": 2.0,
        "bodies": 0.15,
        "place": 0.2,
        "attitude": 0.3,
        "base_speed": 0.5,
        "base_turning": 1.5,
    }
    """Errors at which a reward is 1/e: [rad], [rad/s], [m], [m], [rad], [m/s], [rad/s]."""
    farthest = {"place": 0.4, "attitude": 0.8, "bodies": 0.4, "joints": 0.8}
    """Errors at which an episode ends: of the base [m] and [rad], of any body [m], and the root mean
    square of all joints [rad]."""
    sensed = ("velocity", "turning", "gravity", "joints", "speeds")
    vary = {"friction": Vary(0.5, 1.0)}
    push: Push | None = Push(0.4, 4.0)
    recipe = Recipe(envs=2048, deviation=0.4, entropy=0.002, minutes=15.0)

    def __init__(
        self,
        model: Model | None = None,
        clip: MotionClip | str | Path | None = None,
        *,
        repeat: bool | None = None,
        feet: str | Sequence[str] = ("*foot", "*FOOT", "*_ankle_roll_link"),
        bodies: str | Sequence[str] | None = None,
        kp: Any = None,
        kd: Any = None,
        effort: Any = None,
    ):
        clip = clip or self.clip
        if model is None:
            model = load_robot("humanoid")
            if not clip:
                clip, repeat = Path(str(files("warpdyn.rl"))) / ROUTINE, True
        elif not clip:
            raise TaskError(
                f"{self.name} of {model.name} needs a motion: --set clip=FILE, or clip=MotionClip(...)"
            )
        self.motion = clip if isinstance(clip, MotionClip) else MotionClip.read(clip)
        self.repeat = self.repeat if repeat is None else repeat
        # The clip is compared with the robot before anything follows from it.
        q = self.motion.configurations(model)
        self.floating = model.floating_base
        self.first_joint, self.first_speed = (7, 6) if self.floating else (0, 0)
        self.model = with_losses(model)
        self.points = self._points(feet)
        self.actions = len(model.joint_columns)
        self.effort, self.drives = self._drives(kp, kd, effort)
        if not self.floating:
            self.push = None
            base = ("place", "attitude", "base_speed", "base_turning")
            self.scales = {n: x for n, x in self.scales.items() if n not in base}
        if not self.points:
            self.vary = {n: x for n, x in self.vary.items() if n != "friction"}
        self.tips = self._tips(bodies)
        self._build_tables(q)

    def _points(self, feet: str | Sequence[str]) -> Any:
        """Contact points of the feet; none for a robot with a fixed base."""
        if not self.floating:
            return ()
        names = (feet,) if isinstance(feet, str) else tuple(feet)
        links = [link.name for link in self.model.links]
        points = ContactPoints(self.model)
        found = [n for n in points.links if any(fnmatchcase(n, x) for x in names)]
        if not found:
            raise TaskError(
                f"no link of {self.model.name} with collision shapes is named {', '.join(names)}; it "
                f"has {', '.join(points.links or links)}: --feet LINK ..., or feet=[...]"
            )
        return points.only(*found)

    def _drives(self, kp: Any, kd: Any, effort: Any) -> tuple[np.ndarray, PD]:
        """The largest efforts of the joints, and their drives."""
        model = self.model
        limit = model.effort_limit[model.joint_columns] if effort is None else effort
        limit = np.asarray(limit, float) * np.ones(self.actions)
        lacking = [n for n, x in zip(model.joint_names, limit, strict=True) if not 0.0 < x < np.inf]
        if lacking:
            raise TaskError(
                f"{lacking[0]} of {model.name} has no effort limit: --effort N, or effort=[...] [N·m]"
            )
        kp = STIFFNESS * limit if kp is None else np.asarray(kp, float) * np.ones(self.actions)
        kd = DAMPING * kp if kd is None else np.asarray(kd, float) * np.ones(self.actions)
        return limit, PD(kp, kd, None if effort is None else limit)

    def _tips(self, bodies: str | Sequence[str] | None) -> tuple[ContactPoint, ...]:
        """The origins of the bodies whose places count."""
        links = [link.name for link in self.model.links]
        if bodies is None:
            moving = {joint.child: joint.parent for joint in self.model.joints}
            carried = set(_moving_parents(self.model, moving))
            names = [
                j.child
                for j in self.model.joints
                if j.name in self.model.joint_names and j.child not in carried
            ]
        else:
            patterns = (bodies,) if isinstance(bodies, str) else tuple(bodies)
            names = [n for n in links if any(fnmatchcase(n, x) for x in patterns)]
            if not names:
                raise TaskError(
                    f"no link of {self.model.name} is named {', '.join(patterns)}; it has "
                    f"{', '.join(links)}"
                )
        return tuple(ContactPoint(n, (0.0, 0.0, 0.0), 0.0) for n in names)

    def _build_tables(self, q: np.ndarray) -> None:
        """The motion as a table with a row for each step: q, v, and the places of the bodies. After
        the last frame come the rows that an episode looks ahead."""
        model, rate = self.model, 1.0 / self.step_seconds
        if self.repeat:
            self._check_closed(q)
        v = velocities_of(model, q, self.motion.rate, closed=self.repeat)
        q, v = resampled(model, q, v, self.motion.rate, rate)
        self.steps_ahead = tuple(max(1, round(x * rate)) for x in self.ahead)
        self.frames, more = len(q) - 1, max(self.steps_ahead) + 1
        if self.frames < 2:
            raise TaskError(
                f"{self.motion.name} lasts {self.motion.seconds:.3g} s, less than two steps of "
                f"{self.step_seconds:g} s"
            )
        self.lap_turn, self.lap_place = self._lap(q)
        if self.repeat:
            again = 1 + np.arange(more) % self.frames
            laps = 1 + np.arange(more) // self.frames
            later = np.array([self._moved(q[k], lap) for k, lap in zip(again, laps, strict=True)])
            q, v = np.concatenate([q, later]), np.concatenate([v, v[again]])
        else:
            q = np.concatenate([q, np.repeat(q[-1:], more, 0)])
            v = np.concatenate([v, np.zeros((more, v.shape[1]))])
        places = np.asarray(point_positions(model, q, points=self.tips)).reshape(len(q), -1)
        self.tables = {"motion": np.concatenate([q, v, places], axis=1)}
        self.middle = q[: self.frames, self.first_joint :].mean(axis=0)
        columns = model.joint_position_columns
        self.lower, self.upper = model.position_lower[columns], model.position_upper[columns]

    def _check_closed(self, q: np.ndarray) -> None:
        """Raise if the motion does not end as it begins."""
        off = np.abs(q[-1] - q[0])
        joint = int(np.argmax(off[self.first_joint :])) if self.actions else 0
        most, why = off[self.first_joint + joint], ""
        if most > CLOSED[1]:
            why = f"{self.model.joint_names[joint]} differs by {most:.3g}"
        if self.floating:
            tilt = np.linalg.norm(np.cross(_up(q[0]), _up(q[-1])))
            if off[2] > CLOSED[0]:
                why = f"the height of the base differs by {off[2]:.3g} m"
            elif tilt > CLOSED[1]:
                why = f"the tilt of the base differs by {tilt:.3g} rad"
        if why:
            raise TaskError(
                f"{self.motion.name} does not end as it begins, so that it cannot repeat: {why}; cut "
                "it, or set repeat=false"
            )

    def _lap(self, q: np.ndarray) -> tuple[float, np.ndarray]:
        """The turn about the vertical [rad] and the way (2,) [m] of the base in the whole motion, in
        the axes of its beginning; zero for a motion that does not repeat."""
        if not (self.repeat and self.floating):
            return 0.0, np.zeros(2)
        turned = _matrix(q[-1]) @ _matrix(q[0]).T
        return float(np.arctan2(turned[1, 0], turned[0, 0])), q[-1, :2] - _plane(
            np.arctan2(turned[1, 0], turned[0, 0])
        ) @ q[0, :2]

    def _moved(self, q: np.ndarray, laps: int) -> np.ndarray:
        """A configuration after some laps of the motion."""
        moved = q.copy()
        for _ in range(laps if self.floating else 0):
            moved[:2] = self.lap_place + _plane(self.lap_turn) @ moved[:2]
            moved[3:7] = _turned(moved[3:7], self.lap_turn)
        return moved

    # The functions of one robot. The reference is the row of the table at `frame`, moved by the
    # laps before: turned by `facing` about the vertical, then shifted by `offset`.

    def _row(self, s: Episode, frame: Any, first: int, count: int) -> Any:
        """Numbers of the table at a frame, from a column on."""
        return s.motion.look(np.stack([frame] * count), np.arange(first, first + count))

    def _reference_joints(self, s: Episode, frame: Any) -> tuple[Any, Any]:
        """Positions and velocities of the joints at a frame."""
        first = self.model.nq + self.first_speed
        return (
            self._row(s, frame, self.first_joint, self.actions),
            self._row(s, frame, first, self.actions),
        )

    def _reference_base(self, s: Episode, frame: Any) -> tuple[Any, Any]:
        """Place (3,) and rotation (3, 3) of the base at a frame."""
        pose = self._row(s, frame, 0, 7)
        return self._in_world(s, pose[:3]), self._about_vertical(s) @ rotation(pose)

    def _about_vertical(self, s: Episode) -> Any:
        """The rotation by `facing` (3, 3)."""
        c, n = np.cos(s.facing), np.sin(s.facing)
        return np.stack([np.stack([c, -n, 0.0]), np.stack([n, c, 0.0]), np.array([0.0, 0.0, 1.0])])

    def _in_world(self, s: Episode, place: Any) -> Any:
        """A place of the table in the world."""
        if not self.floating:
            return place
        at = self._about_vertical(s) @ place
        return np.stack([at[0] + s.offset[0], at[1] + s.offset[1], at[2]])

    def _places(self, s: Episode, frame: Any) -> Any:
        """Places of the bodies at a frame (bodies, 3)."""
        first = self.model.nq + self.model.nv
        each = [self._row(s, frame, first + 3 * k, 3) for k in range(len(self.tips))]
        return np.stack([self._in_world(s, x) for x in each])

    def begin(self, robot: Any, s: Episode) -> dict[str, Any]:
        model = self.model
        frame = np.floor(uniform(s.random, 1, 0.0, float(self.frames))[0])
        q, v = self._row(s, frame, 0, model.nq), self._row(s, frame, model.nq, model.nv)
        joints = uniform(s.random.at(40), self.actions, -0.05, 0.05)
        speeds = uniform(s.random.at(41), model.nv, -0.1, 0.1)
        base, first = q[: self.first_joint], q[self.first_joint :] + joints
        within = np.minimum(np.maximum(first, self.lower), self.upper)
        begun = {"q": np.concatenate([base, within]), "v": v + speeds, "frame": frame}
        return begun | ({"facing": 0.0 * frame, "offset": np.zeros(2)} if self.floating else {})

    def control(self, robot: Any, s: Episode) -> dict[str, Any]:
        joints = self._row(s, s.frame + 1.0, self.first_joint, self.actions)
        return {"targets": joints + self.residual * s.action}

    def update(self, robot: Any, s: Episode) -> dict[str, Any]:
        frame = s.frame + 1.0
        if not self.repeat:
            return {"frame": np.minimum(frame, float(self.frames))}
        over = frame > self.frames - 0.5
        changed = {"frame": np.where(over, frame - self.frames, frame)}
        if not self.floating:
            return changed
        place = np.concatenate([self.lap_place, [0.0]])
        offset = (self._about_vertical(s) @ place)[:2] + s.offset
        return changed | {
            "facing": np.where(over, s.facing + self.lap_turn, s.facing),
            "offset": np.where(over, offset, s.offset),
        }

    def finished(self, robot: Any, s: Episode) -> Any:
        return False if self.repeat else s.frame > self.frames - 0.5

    def observe(self, robot: Any, s: Episode) -> dict[str, Any]:
        q, v = s.q[self.first_joint :], s.v[self.first_speed :]
        wanted, speeds = self._reference_joints(s, s.frame + self.steps_ahead[0])
        ahead = [
            self._row(s, s.frame + k, self.first_joint, self.actions) for k in self.steps_ahead
        ]
        seen = {
            "joints": q - self.middle,
            "speeds": 0.05 * v,
            "joint_errors": wanted - q,
            "reference": np.concatenate([x - self.middle for x in ahead]),
            "reference_speeds": 0.05 * speeds,
            "last_action": s.last_action,
        }
        if not self.floating:
            return seen
        R = rotation(s.q)
        poses = []
        for k in self.steps_ahead:
            place, turned = self._reference_base(s, s.frame + k)
            relative = R.T @ turned
            poses += [R.T @ (place - s.q[:3]), relative[:, 0], relative[:, 1]]
        return {
            "velocity": s.v[:3],
            "turning": s.v[3:6],
            "gravity": gravity_in_base(s.q),
            **seen,
            "base": np.concatenate(poses),
        }

    def _errors(self, robot: Any, s: Episode) -> dict[str, Any]:
        """Squared errors: means over joints and over bodies."""
        wanted, speeds = self._reference_joints(s, s.frame)
        off = robot.point_positions(s.q, points=self.tips) - self._places(s, s.frame)
        errors = {
            "joints": sum_of_squares(s.q[self.first_joint :] - wanted) / self.actions,
            "speeds": sum_of_squares(s.v[self.first_speed :] - speeds) / self.actions,
            "bodies": sum_of_squares(off) / len(self.tips),
        }
        if not self.floating:
            return errors
        place, turned = self._reference_base(s, s.frame)
        motion = self._row(s, s.frame, self.model.nq, 6)
        # The squared angle between two rotations, to second order: 2 (1 - cos).
        relative = np.sum(rotation(s.q) * turned)
        return errors | {
            "place": sum_of_squares(s.q[:3] - place),
            "attitude": 3.0 - relative,
            "base_speed": sum_of_squares(s.v[:3] - motion[:3]),
            "base_turning": sum_of_squares(s.v[3:6] - motion[3:]),
        }

    def reward(self, robot: Any, s: Episode) -> dict[str, Any]:
        q = s.q[self.first_joint :]
        shapes = {n: np.exp(-x / self.widths[n] ** 2) for n, x in self._errors(robot, s).items()}
        return shapes | {
            "jerk": sum_of_squares(s.action - s.last_action),
            "torque": sum_of_squares(s.torques / self.effort) / self.actions,
            "limits": joint_limits(q, self.lower, self.upper, 0.95),
        }

    def ended(self, robot: Any, s: Episode) -> Any:
        errors = self._errors(robot, s)
        off = robot.point_positions(s.q, points=self.tips) - self._places(s, s.frame)
        far = errors["joints"] > self.farthest["joints"] ** 2
        for k in range(len(self.tips)):
            far = far | (sum_of_squares(off[k]) > self.farthest["bodies"] ** 2)
        if self.floating:
            far = far | (errors["place"] > self.farthest["place"] ** 2)
            far = far | (errors["attitude"] > self.farthest["attitude"] ** 2)
        return far

    def measure(self, robot: Any, s: Episode) -> dict[str, Any]:
        return {f"{n}_error": np.sqrt(x) for n, x in self._errors(robot, s).items()}


def with_losses(model: Model) -> Model:
    """The robot with rotor inertia and friction, if its description has none."""
    driven = [j for j in model.joints if j.name in model.joint_names]
    if not any(j.armature for j in driven):
        model = model.with_armature(ARMATURE)
    if not any(j.damping or j.friction for j in driven):
        model = model.with_friction(viscous=VISCOUS)
    return model


def _moving_parents(model: Model, parents: dict[str, str]) -> list[str]:
    """Links that carry a moving joint, fixed links in between included."""
    found = []
    for joint in model.joints:
        if joint.name not in model.joint_names:
            continue
        link: str | None = joint.parent
        while link is not None:
            found.append(link)
            link = parents.get(link)
    return found


def _matrix(q: np.ndarray) -> np.ndarray:
    """The rotation of the base of a configuration (3, 3)."""
    x, y, z, w = q[3:7]
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def _up(q: np.ndarray) -> np.ndarray:
    """The vertical in the base's axes (3,)."""
    return _matrix(q)[2]


def _plane(turn: float) -> np.ndarray:
    """A rotation of the ground plane (2, 2)."""
    c, s = np.cos(turn), np.sin(turn)
    return np.array([[c, -s], [s, c]])


def _turned(quaternion: np.ndarray, turn: float) -> np.ndarray:
    """A quaternion turned about the vertical of the world (4,)."""
    x, y, z, w = quaternion
    c, s = np.cos(0.5 * turn), np.sin(0.5 * turn)
    return np.array([c * x - s * y, c * y + s * x, c * z + s * w, c * w - s * z])
