"""Tracking of a motion: a robot follows a clip of joint positions and poses of its base."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from ...functions.simulation.contact_points import ContactPoint, ContactPoints
from ...functions.simulation.drives import PD
from ...model import Model
from ...robots import load_robot
from ...user_kernels.random_numbers import uniform
from ..recipe import Recipe
from ..task import Task, TaskError
from ..terms import gravity_in_base, joint_limits, rotation, sum_of_squares
from ..variation import SIM_TO_REAL_ARM, Noise, Push, Vary
from .humanoid_tasks import HUMANOID_TO_REAL
from .motion_clip import MotionClip
from .motion_reference import MotionReference
from .onboard import ONBOARD_SENSED

ROUTINE = "clips/humanoid_routine.npz"
"""The clip that comes with warpdyn, of its humanoid."""

STIFFNESS, DAMPING = 2.5, 0.025
"""Default kp as a multiple of the effort limit [1/rad], and kd as a multiple of kp [s]: a drive
reaches its limit at an error of 0.4 rad."""

TRACKING_TO_REAL = HUMANOID_TO_REAL._replace(
    push=None,
    noise={**HUMANOID_TO_REAL.noise, "joint_errors": Noise(0.01), "base": Noise(0.01)},
)
"""Domain randomisation of the humanoids, with the pushes of the task. A robot with a fixed base has
that of arms."""

REPEAT = {"auto": None, "always": True, "never": False}
"""Words that say if a motion repeats; None: if it ends as it begins."""

RESIDUAL = 0.25
"""Change of a drive's target for an action of 1 [rad, m]."""

ARMATURE, VISCOUS = 0.01, 0.1
"""Rotor inertia [kg·m²] of a robot without any, and friction [N·m·s/rad] of a robot that has none and
whose description has none."""


class MotionTracking(Task):
    """A robot that follows a motion clip. The policy adds its actions to the clip's joint positions.

    Without arguments it is the bundled humanoid with the bundled clip. The policy observes the
    reference `ahead`. Episodes begin at a random frame, in the state of the clip (reference state
    initialisation), and end when the robot is far from it (Peng et al., DeepMimic, arXiv
    1804.02717). Rewards have the form of BeyondMimic's (Liao et al., arXiv 2508.08241), a Gaussian
    of each mean squared error.

    model: the robot, with x-y-z-w quaternions and velocities of the base in its own axes. clip: a
    `MotionClip`, or its file. repeat: "always": after the last frame the motion starts its next lap
    from the place that it has reached, like a gait; "never": an episode ends with the clip, and a
    real robot holds the last frame; "auto": the motion repeats if it ends as it begins, except for
    place and heading. feet: links that may touch the ground, or patterns, not case-sensitive.
    bodies: links whose places are tracked, or patterns; None: the last link of each limb. kp, kd,
    effort: of the drives, numbers or (joints,); None: `STIFFNESS` times the effort limit, `DAMPING`
    times kp, and the limits of the description.

    TaskError: the clip does not fit the robot, or a motion that repeats does not end as it begins.
    """

    dt, substeps, seconds = 0.005, 4, 10.0
    clip: str = ""
    repeat: str = "auto"
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
    sensed: tuple[str, ...] = (
        "velocity",
        "turning",
        "gravity",
        "joints",
        "speeds",
        "joint_errors",
        "base",
    )
    vary = {"friction": Vary(0.5, 1.0)}
    push: Push | None = Push(0.3, 4.0)
    _needs_a_free_base = False
    recipe = Recipe(
        envs=1024,
        epochs=2,
        batches=6,
        deviation=0.25,
        entropy=0.0,
        vary=TRACKING_TO_REAL,
        minutes=10.0,
    )

    def __init__(
        self,
        model: Model | None = None,
        clip: MotionClip | str | Path | None = None,
        *,
        repeat: str | None = None,
        feet: str | Sequence[str] = ("*foot", "*_ankle_roll_link"),
        bodies: str | Sequence[str] | None = None,
        kp: Any = None,
        kd: Any = None,
        effort: Any = None,
    ):
        clip = clip or self.clip
        if model is None:
            model = load_robot("humanoid")
            if not clip:
                clip = Path(str(files("warpdyn.rl"))) / ROUTINE
        elif not clip:
            raise TaskError(
                f"{self.name} of {model.name} needs a motion: --set clip=FILE, or clip=MotionClip(...)"
            )
        self.motion = clip if isinstance(clip, MotionClip) else MotionClip.read(clip)
        word = self.repeat if repeat is None else repeat
        if word not in REPEAT:
            raise TaskError(f"repeat must be {', '.join(map(repr, REPEAT))}, got {word!r}")
        self.motion.configurations(model)  # refuses a clip of another robot first
        self.floating = model.floating_base
        if self._needs_a_free_base and not self.floating:
            raise TaskError(f"{model.name} has a fixed base: use motion_tracking")
        self.first_joint, self.first_speed = (7, 6) if self.floating else (0, 0)
        self.model = with_losses(model)
        self.points = self._points(feet)
        self.actions = len(model.joint_columns)
        self.effort, self.drives = self._drives(kp, kd, effort)
        if not self.floating:
            self.push = None
            self.sensed = ("joints", "speeds", "joint_errors")
            if self.recipe.vary is TRACKING_TO_REAL:
                self.recipe = replace(self.recipe, vary=SIM_TO_REAL_ARM)
            base = ("place", "attitude", "base_speed", "base_turning")
            self.scales = {n: x for n, x in self.scales.items() if n not in base}
        if not self.points:
            self.vary = {n: x for n, x in self.vary.items() if n != "friction"}
        self.tips = self._tips(bodies)
        self.steps_ahead = tuple(max(1, round(x / self.step_seconds)) for x in self.ahead)
        self.reference = MotionReference(
            self.model,
            self.motion,
            self.step_seconds,
            repeat=REPEAT[word],
            more=max(self.steps_ahead) + 1,
            bodies=self.tips,
        )
        self.tables = {"motion": self.reference.table}
        columns = model.joint_position_columns
        self.lower, self.upper = model.position_lower[columns], model.position_upper[columns]

    def _points(self, feet: str | Sequence[str]) -> Any:
        """Contact points of the feet; none for a robot with a fixed base."""
        if not self.floating:
            return ()
        names = (feet,) if isinstance(feet, str) else tuple(feet)
        links = [link.name for link in self.model.links]
        points = ContactPoints(self.model)
        found = [n for n in points.links if any(fnmatchcase(n.lower(), x.lower()) for x in names)]
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
        """The origins of the bodies whose places are tracked."""
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

    def begin(self, robot: Any, s: Any) -> dict[str, Any]:
        reference = self.reference
        drawn = uniform(s.random, 1, 0.0, float(reference.frames))[0]
        frame = np.floor(drawn) if self.random_start else 0.0 * drawn
        q, v = reference.state(s, frame)
        joints = uniform(s.random.at(40), self.actions, -0.05, 0.05)
        speeds = uniform(s.random.at(41), self.model.nv, -0.1, 0.1)
        base, first = q[: self.first_joint], q[self.first_joint :] + joints
        within = np.minimum(np.maximum(first, self.lower), self.upper)
        begun = {"q": np.concatenate([base, within]), "v": v + speeds, "frame": frame}
        # The reference is turned by `facing` and moved by `offset` when the motion repeats.
        return begun | ({"facing": 0.0 * frame, "offset": np.zeros(2)} if self.floating else {})

    def control(self, robot: Any, s: Any) -> dict[str, Any]:
        joints, _ = self.reference.joints(s, s.frame + 1.0)
        return {"targets": joints + self.residual * s.action}

    def update(self, robot: Any, s: Any) -> dict[str, Any]:
        return self.reference.after_step(s)

    def is_complete(self, robot: Any, s: Any) -> Any:
        return False if self.reference.repeat else s.frame > self.reference.frames - 0.5

    def observe(self, robot: Any, s: Any) -> dict[str, Any]:
        q, v = s.q[self.first_joint :], s.v[self.first_speed :]
        middle, reference = self.reference.middle, self.reference
        frames = [s.frame + k for k in self.steps_ahead]
        ahead = [reference.joints(s, frame)[0] for frame in frames]
        _, speeds = reference.joints(s, frames[0])
        seen = {
            "joints": q - middle,
            "speeds": 0.05 * v,
            "joint_errors": ahead[0] - q,
            "reference": np.concatenate([x - middle for x in ahead]),
            "reference_speeds": 0.05 * speeds,
            "last_action": s.last_action,
        }
        if not self.floating:
            return seen
        # The reference of the base, relative to the base.
        R = rotation(s.q)
        poses = []
        for frame in frames:
            place, turned = reference.base(s, frame)
            relative = R.T @ turned
            poses += [R.T @ (place - s.q[:3]), relative[:, 0], relative[:, 1]]
        return {
            "velocity": s.v[:3],
            "turning": s.v[3:6],
            "gravity": gravity_in_base(s.q),
            **seen,
            "base": np.concatenate(poses),
        }

    def _errors(self, robot: Any, s: Any) -> dict[str, Any]:
        """Squared errors: means over joints and over bodies."""
        wanted, speeds = self.reference.joints(s, s.frame)
        off = robot.point_positions(s.q, points=self.tips) - self.reference.places(s, s.frame)
        errors = {
            "joints": sum_of_squares(s.q[self.first_joint :] - wanted) / self.actions,
            "speeds": sum_of_squares(s.v[self.first_speed :] - speeds) / self.actions,
            "bodies": sum_of_squares(off) / len(self.tips),
        }
        if not self.floating:
            return errors
        place, turned = self.reference.base(s, s.frame)
        _, motion = self.reference.state(s, s.frame)
        # The squared angle between two rotations, to second order: 2 (1 - cos).
        relative = np.sum(rotation(s.q) * turned)
        return errors | {
            "place": sum_of_squares(s.q[:3] - place),
            "attitude": 3.0 - relative,
            "base_speed": sum_of_squares(s.v[:3] - motion[:3]),
            "base_turning": sum_of_squares(s.v[3:6] - motion[3:6]),
        }

    def reward(self, robot: Any, s: Any) -> dict[str, Any]:
        q = s.q[self.first_joint :]
        shapes = {n: np.exp(-x / self.widths[n] ** 2) for n, x in self._errors(robot, s).items()}
        return shapes | {
            "jerk": sum_of_squares(s.action - s.last_action),
            "torque": sum_of_squares(s.torques / self.effort) / self.actions,
            "limits": joint_limits(q, self.lower, self.upper, 0.95),
        }

    def is_terminal(self, robot: Any, s: Any) -> Any:
        errors = self._errors(robot, s)
        off = robot.point_positions(s.q, points=self.tips) - self.reference.places(s, s.frame)
        far = errors["joints"] > self.farthest["joints"] ** 2
        for k in range(len(self.tips)):
            far = far | (sum_of_squares(off[k]) > self.farthest["bodies"] ** 2)
        if self.floating:
            far = far | (errors["place"] > self.farthest["place"] ** 2)
            far = far | (errors["attitude"] > self.farthest["attitude"] ** 2)
        return far

    def measure(self, robot: Any, s: Any) -> dict[str, Any]:
        return {f"{n}_error": np.sqrt(x) for n, x in self._errors(robot, s).items()}


class MotionTrackingOnboard(MotionTracking):
    """A robot that follows a motion clip with an IMU and encoders alone: its policy does not observe
    the velocity of the base, and neither its place nor its heading.

    In place of the base's pose relative to the reference, it observes the reference of gravity,
    height and velocity of the base (`reference_base`). The critic of its training, and a teacher,
    observe what the policy of `MotionTracking` does.

    TaskError: the robot has a fixed base, whose policy observes encoders in `MotionTracking` too.
    """

    history = {"policy": 3}
    groups = {
        "policy": (
            *ONBOARD_SENSED,
            "reference",
            "reference_speeds",
            "last_action",
            "reference_base",
        ),
        "critic": (
            "velocity",
            *ONBOARD_SENSED,
            "joint_errors",
            "reference",
            "reference_speeds",
            "last_action",
            "base",
        ),
    }
    sensed = ONBOARD_SENSED
    _needs_a_free_base = True

    def observe(self, robot: Any, s: Any) -> dict[str, Any]:
        base = []
        for k in self.steps_ahead:
            q, v = self.reference.state(s, s.frame + k)
            base += [gravity_in_base(q), q[2:3], v[:6]]
        return {**super().observe(robot, s), "reference_base": np.concatenate(base)}


def with_losses(model: Model) -> Model:
    """The robot with rotor inertia and friction added if it has none of its own. The friction is the
    damping of the description, if there is any."""
    driven = [j for j in model.joints if j.name in model.joint_names]
    effects = [effect for joint in driven for effect in joint.effects]
    if not any(j.armature for j in driven):
        model = model.with_armature(ARMATURE)
    if not any(effect.viscous or effect.coulomb for effect in effects):
        described = any(any(j.v_damping) for j in driven)
        model = model.with_friction(viscous="description" if described else VISCOUS)
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
