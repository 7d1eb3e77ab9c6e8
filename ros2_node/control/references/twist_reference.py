"""Jogging: the velocity of a link that ~/twist commands, as motions of joints or of a wanted pose."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from warpdyn.execution.batched import bind
from warpdyn.functions.kinematics import fk, jacobian
from warpdyn.model import Model

from ..settings.node_settings import Settings
from .pose_reference import PoseReference, rotation_of
from .setpoint import Setpoint

SINGULAR = 0.02
"""Singular value of the Jacobian below which a direction is damped [m, 1]."""
DAMPING = 0.02
"""Damping of a direction that the joints cannot reach at all [m, 1]."""
LIMIT_TIME = 0.2
"""A joint approaches its position limit no faster than its distance in this time [s], and no faster than its largest
acceleration can stop it."""
LONGEST_STEP = 0.05
"""Longest time that one step counts [s]."""


class TwistReference:
    """The commanded velocity of one link of a robot, integrated in each cycle by `follow`.

    With a mode or law that follows joints, damped least squares at the *reference* give joint
    velocities: exact in each direction with a singular value of at least SINGULAR, and damped below
    (Nakamura, Hanafusa, Inverse Kinematic Solutions With Singularity Robustness, J. Dynamic
    Systems, Measurement and Control 108, 1986; by direction as in Chiaverini, IEEE Trans. Robotics
    and Automation 13, 1997). One factor slows all joints when one of them would exceed its velocity
    limit or come too fast to its position limit, so that the link's direction of motion does not
    change. With a law that holds a frame, the wanted pose moves.
    """

    def __init__(
        self,
        model: Model,
        link: str,
        setpoint: Setpoint,
        pose: PoseReference | None,
        counts: Counter[str],
    ) -> None:
        """pose: target pose of a law that holds the link; None if joints move the link."""
        if link not in model.link_names:
            links = ", ".join(model.link_names[:40])
            raise ValueError(
                f"twist_link {link!r} is not a link of {model.name}, which has {links}"
            )
        self.active = False
        """True while the link is commanded to move."""
        self.refusal = ""
        """The reason why the last twist was refused."""
        self.slowed_by = ""
        """The joint that slows the link down, and why; empty if none does."""
        self._model, self._link, self._root = model, link, model.root
        self._setpoint, self._pose, self._counts = setpoint, pose, counts
        self._names = setpoint.tracked
        self._joints = setpoint.limits_of(self._names)
        self._target, self._twist = np.zeros(6), np.zeros(6)
        self._in_link = False
        self._arrived = self._then = -np.inf
        self._q, self._J = model.neutral[None].copy(), np.zeros((1, 6, model.nv))
        self._place = np.zeros((1, 7))
        self._speed = np.zeros(len(self._names))
        self._point = np.zeros((3, len(self._names)))
        self._find: Callable[[], object] = self.warm
        self._differentiate: Callable[[], object] = self.warm

    def warm(self) -> None:
        """Compile the kernels of the link's pose and Jacobian."""
        if self._pose is not None:
            return
        model, q, link = self._model, self._q, self._link
        self._find = bind(fk, model, q=q, frame=link, form="pose", out=self._place)
        self._differentiate = bind(
            jacobian, model, q=q, frame=link, reference="local_world_aligned", out=self._J
        )
        self._find()
        self._differentiate()

    def change(self, settings: Settings, followed: bool) -> None:
        """Use other bounds. followed: true if mode or law track joints or hold the link."""
        self._followed, self._law_name = followed, settings.law_name
        self._most = np.array(settings.twist_max_speed)
        self._strongest = np.array(settings.twist_max_acceleration)
        self._timeout = settings.twist_timeout
        self._link_axes = settings.twist_axes == "link"
        self._joints = self._setpoint.limits_of(self._names)

    def read(
        self,
        frame: str,
        linear: Sequence[float],
        angular: Sequence[float],
        now: float,
        enabled: bool,
    ) -> str | None:
        """Move with this velocity [m/s, rad/s] until the next message, or until this one is too
        old. Returns the reason if it is refused.

        frame: link whose axes the velocity has: the root link, the link itself, or empty for
        `twist_axes`.
        """
        twist = np.array([*linear, *angular], dtype=float)
        if refusal := self._unfit(frame, twist, enabled):
            self._counts["twist_refused"] += 1
            self.refusal = refusal
            return refusal
        for part, most in zip(twist.reshape(2, 3), self._most, strict=True):
            size = math.hypot(*part)  # of 1e200 too, whose square is infinite
            if size > most:
                part *= most / size
                self._counts["twist_clipped"] += 1
        self._target[:], self._arrived = twist, now
        self._in_link = frame == self._link or (not frame and self._link_axes)
        if not self.active:
            self.active, self._then = True, now
            self._twist[:] = 0.0
            self._speed[:] = self._setpoint.v[self._joints.columns]
        return None

    def _unfit(self, frame: str, twist: np.ndarray, enabled: bool) -> str:
        if not self._followed:
            return f"{self._law_name} follows no twist: use computed_torque or an impedance law"
        if not enabled:
            return "the robot is not enabled: call ~/enable first"
        if frame not in ("", self._root, self._link):
            return f"frame_id {frame!r} is neither {self._root}, nor {self._link}, nor empty"
        sizes = (math.hypot(*part) for part in twist.reshape(2, 3))
        return "" if all(map(math.isfinite, sizes)) else "a number is not finite"

    def end(self) -> None:
        """Release the reference, which then rests."""
        if self.active:
            self.release()
            if self._pose is None:
                self._setpoint.rest()

    def release(self) -> None:
        """Release the reference to another input."""
        self.active, self.slowed_by = False, ""

    def follow(self, now: float) -> None:
        """Advance the reference to this time [s]."""
        passed, self._then = min(max(now - self._then, 0.0), LONGEST_STEP), now
        is_late = now - self._arrived > self._timeout
        if self._pose is None:
            self._q[0] = self._setpoint.q
        target = np.zeros(6) if is_late else self._in_root_axes()
        parts = zip(self._twist.reshape(2, 3), target.reshape(2, 3), self._strongest, strict=True)
        for part, wanted, strongest in parts:
            step = wanted - part
            size, most = float(np.linalg.norm(step)), strongest * passed
            part += step if size <= most else step * (most / size)
        moves = bool(self._twist.any())
        if self._pose is not None:
            if moves:
                self._pose.move(self._twist, passed)
        elif passed > 0.0:
            moves = self._move_joints(now, passed) or moves
        if is_late and not moves:
            self.end()

    def _in_root_axes(self) -> np.ndarray:
        """The commanded velocity in the axes of the root link."""
        if not self._in_link:
            return self._target
        if self._pose is None:
            self._find()
        quaternion = self._place[0, 3:] if self._pose is None else self._pose.quaternion
        R = rotation_of(quaternion)
        return np.concatenate([R @ self._target[:3], R @ self._target[3:]])

    def _move_joints(self, now: float, passed: float) -> bool:
        """Move the setpoint. Returns true if a joint moves."""
        joints, point = self._joints, self._point
        self._differentiate()
        speed = damped_solution(self._J[0][:, joints.columns], self._twist)
        q = self._setpoint.q[joints.rows]
        joints = joints.including(q)
        # A joint that moves away from its limit is not slowed down.
        room = np.where(speed > 0.0, joints.high - q, q - joints.low)
        # The speed v from which it stops within its room if it decelerates from the next cycle on:
        # v passed + v² / (2 strongest) = room. A joint without a position limit has no such speed.
        near_limit, ends = np.full(len(room), np.inf), np.isfinite(room)
        root = np.sqrt(passed**2 + 2.0 * room[ends] / joints.strongest[ends])
        near_limit[ends] = np.minimum(room[ends] / LIMIT_TIME, 2.0 * room[ends] / (passed + root))
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = np.minimum(joints.fastest, near_limit) / np.abs(speed)
        factors[speed == 0.0] = np.inf
        k = int(np.argmin(factors))
        factor = min(float(factors[k]), 1.0)
        self.slowed_by = ""
        if factor < 1.0:
            near = near_limit[k] < joints.fastest[k]
            self.slowed_by = f"{joints.names[k]} {'near its position limit' if near else 'at its velocity limit'}"
        # The reference keeps to max_reference_acceleration, even where the Jacobian changes quickly.
        most = joints.strongest * passed
        change = np.clip(factor * speed - self._speed, -most, most)
        self._speed += change
        point[0] = q + passed * self._speed
        beyond = (point[0] < joints.low) | (point[0] > joints.high)
        np.clip(point[0], joints.low, joints.high, out=point[0])
        self._speed[beyond] = 0.0
        point[1], point[2] = self._speed, change / passed
        point[2, beyond] = 0.0
        self._setpoint.move(joints, point, now)
        return bool(self._speed.any())


def damped_solution(J: np.ndarray, twist: np.ndarray) -> np.ndarray:
    """Joint velocities (n,) with J v = twist; J is (6, n), twist (6,).

    A direction with a singular value s below SINGULAR has the gain s / (s² + d²) in place of 1 / s, where
    d² = DAMPING² (1 - (s / SINGULAR)²).
    """
    squares, axes = np.linalg.eigh(J @ J.T)
    damping = DAMPING**2 * np.maximum(1.0 - squares / SINGULAR**2, 0.0)
    return np.asarray(J.T @ (axes @ ((axes.T @ twist) / (np.maximum(squares, 0.0) + damping))))
