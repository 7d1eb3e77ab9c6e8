"""The target pose of a law's frame: ~/pose_reference and its checks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from warpdyn.execution.batched import bind
from warpdyn.functions.kinematics import fk
from warpdyn.model import Model

from ..settings.node_settings import Settings
from ..states.base_state import ROUNDING
from ..states.state import State

LEAD = 0.9
"""Share of `max_pose_error` by which a reference leads the frame to a pose beyond it."""
POSE_BOUND = 1e3
"""A position beyond this cannot be right [m]."""


class PoseReference:
    """The wanted pose of one robot's `frame`, in its root link: position and quaternion xyzw (7,), in
    its row of the state.

    While the robot is disabled it is the frame's present pose, so that nothing moves at ~/enable.
    Poses that arrive then are checked but not used.
    """

    def __init__(
        self,
        model: Model,
        frame: str,
        state: State,
        counts: Counter[str],
        followed: np.ndarray | None = None,
    ) -> None:
        """followed: the pose that the frame follows instead of the wanted one, if the law has one."""
        self.refusal = ""
        """The reason why the last pose was refused, if it was too far away."""
        self._model, self._state = model, state
        self._frame, self._root, self._counts = frame, model.root, counts
        self._wanted = state.pose_desired
        self._followed = self._wanted if followed is None else followed
        self._place = np.zeros((1, 7))
        self._find: Callable[[], object] = self.warm
        self._goal: np.ndarray | None = None
        """The pose beyond `max_pose_error` to which the frame is led."""
        self._clips = False
        self._far = np.full(2, np.inf)
        self._compares = followed is not None
        """True if the distance of the frame from its pose matters."""
        self._error = np.zeros(2)

    def warm(self) -> None:
        """Compile the kernel of the frame's pose and compute it."""
        self._find = bind(
            fk, self._model, q=self._state.q[None], frame=self._frame, form="pose", out=self._place
        )
        self._find()

    def change(self, settings: Settings) -> None:
        """Use new tolerances."""
        far = np.array(settings.max_pose_error)
        self._far = np.where(far > 0.0, far, np.inf)
        self._compares = self._followed is not self._wanted or bool((far > 0.0).any())
        self._clips = settings.pose_violation == "clip"

    def read(
        self, frame: str, position: Sequence[float], quaternion: Sequence[float], enabled: bool
    ) -> str | None:
        """Use a pose with quaternion xyzw from now on. Returns the reason if it is refused.

        frame: frame_id of its header, without the prefix of this robot's frames. An enabled robot
        refuses a pose that lies too far from where it is and from the pose before.
        """
        reason = self._read(frame, position, quaternion, enabled)
        if reason is not None:
            self._counts[reason] += 1
        return reason

    def _read(
        self, frame: str, position: Sequence[float], quaternion: Sequence[float], enabled: bool
    ) -> str | None:
        if frame != self._root:
            return "pose_other_frame"
        pose = np.array([*position, *quaternion], dtype=float)
        if not (np.abs(pose) <= POSE_BOUND).all():
            return "pose_nonfinite"
        length = float(np.linalg.norm(pose[3:]))
        if abs(length - 1.0) > ROUNDING:
            return "pose_no_rotation"
        if not enabled:
            return None
        pose[3:] /= length
        self._find()
        error = apart(pose, self._place[0])
        far = np.minimum(apart(pose, self._wanted), error) > self._far
        if far.any():
            if self._clips:
                self._goal = pose
                self._counts["pose_clipped"] += 1
                self._lead()
                return None
            self.refusal = self._distance_message(far, error)
            return "pose_too_far"
        self._wanted[:], self._goal = pose, None
        return None

    def _lead(self) -> None:
        """Set the wanted pose on the way to the goal, or at the goal once it is near."""
        assert self._goal is not None
        self._wanted[:] = self.lead_to(self._goal)
        if np.array_equal(self._wanted, self._goal):
            self._goal = None

    def lead_to(self, goal: np.ndarray, least: float | np.ndarray = 0.0) -> np.ndarray:
        """The pose on the way from the frame to a goal (7,) that is at most LEAD times `max_pose_error` ahead, or as
        far as `least` [m, rad].

        The rotation is about one axis (Shoemake, Animating Rotation with Quaternion Curves, 1985).
        """
        place = self._place[0]
        error = apart(goal, place)
        most = np.maximum(LEAD * self._far, least)
        if (error <= most).all():
            return goal
        with np.errstate(divide="ignore"):  # all of the way where there is none
            share = np.minimum(most / error, 1.0)
        pose = goal.copy()
        pose[:3] = place[:3] + share[0] * (goal[:3] - place[:3])
        if share[1] < 1.0:
            pose[3:] = between(place[3:], goal[3:], float(share[1]))
        return pose

    @property
    def place(self) -> np.ndarray:
        """The last known pose (7,) of the frame."""
        return self._place[0]

    def stay(self) -> None:
        """Set the wanted pose to the frame's present one."""
        self._find()
        self._wanted[:], self._goal = self._place[0], None
        self._error[:] = 0.0

    @property
    def quaternion(self) -> np.ndarray:
        """The wanted rotation (4,), xyzw."""
        return self._wanted[3:]

    def move(self, twist: np.ndarray, passed: float) -> None:
        """Move the wanted pose with a velocity (6,), linear and angular in the root link's axes
        [m/s, rad/s], for a time [s]. It leads the frame by at most LEAD times `max_pose_error`; if
        it already leads by more, the lead does not grow."""
        goal = np.concatenate(
            [self._wanted[:3] + passed * twist[:3], turn_by(self._wanted[3:], passed * twist[3:])]
        )
        self._find()
        self._wanted[:] = self.lead_to(goal, apart(self._wanted, self._place[0]))
        self._goal = None

    def compare(self) -> None:
        """Compute the distance of the frame from the pose that it follows; `astray` reads it."""
        if self._compares:
            self._find()
            if self._goal is not None:
                self._lead()
            self._error = apart(self._followed, self._place[0])

    def astray(self) -> str:
        """A message if the deviation at the last `compare` was too large, else empty."""
        far = self._error > self._far
        return self._distance_message(far, self._error) if far.any() else ""

    def _distance_message(self, far: np.ndarray, error: np.ndarray) -> str:
        units = "m", "rad"
        parts = [f"{error[k]:.3g} {units[k]}" for k in np.flatnonzero(far)]
        bounds = [f"{self._far[k]:g} {units[k]}" for k in np.flatnonzero(far)]
        return (
            f"{self._frame} is {' and '.join(parts)} from its pose reference, more than "
            f"max_pose_error {' and '.join(bounds)}"
        )


def apart(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Distance [m] and angle [rad] between two poses with unit quaternions."""
    way = one[:3] - other[:3]
    # The shorter way: a quaternion and its negative are one rotation.
    a, b = one[3:], other[3:] if one[3:] @ other[3:] >= 0.0 else -other[3:]
    less, more = a - b, a + b
    # Plain numbers, because norms of so short arrays cost several times as much.
    angle = 4.0 * math.atan2(math.sqrt(less @ less), math.sqrt(more @ more))
    return np.array([math.sqrt(way @ way), angle])


def between(one: np.ndarray, other: np.ndarray, share: float) -> np.ndarray:
    """The unit quaternion at a share of the shorter way from one to another."""
    if one @ other < 0.0:
        other = -other
    half = 2.0 * np.arctan2(np.linalg.norm(one - other), np.linalg.norm(one + other))
    if half < 1e-9:
        return np.asarray(other)
    mixed = np.sin((1.0 - share) * half) * one + np.sin(share * half) * other
    return np.asarray(mixed / np.linalg.norm(mixed))


def turn_by(quaternion: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """A unit quaternion xyzw after a rotation (3,) about fixed axes [rad]: exp(turn) times the
    quaternion."""
    # Plain numbers, because arrays of four cost several times as much.
    tx, ty, tz = turn.tolist()
    angle = math.sqrt(tx * tx + ty * ty + tz * tz)
    share = math.sin(0.5 * angle) / angle if angle > 1e-12 else 0.5
    product = _product((share * tx, share * ty, share * tz, math.cos(0.5 * angle)), quaternion)
    return np.array(product) / math.hypot(*product)


def turn_between(begin: np.ndarray, end: np.ndarray) -> list[float]:
    """The rotation vector (3,) about fixed axes from one unit quaternion xyzw to another, at most half a turn [rad]."""
    a, b, c, d = begin.tolist()
    x, y, z, w = _product(end.tolist(), (-a, -b, -c, d))
    sign = 1.0 if w >= 0.0 else -1.0
    sine = math.sqrt(x * x + y * y + z * z)
    share = 2.0 * sign * (math.atan2(sine, sign * w) / sine if sine > 1e-12 else 1.0)
    return [share * x, share * y, share * z]


def _product(p: Sequence[float], q: Sequence[float] | np.ndarray) -> tuple[float, ...]:
    """The product of two quaternions xyzw."""
    x, y, z, w = p
    a, b, c, d = q
    return (
        w * a + x * d + y * c - z * b,
        w * b - x * c + y * d + z * a,
        w * c + x * b - y * a + z * d,
        w * d - x * a - y * b - z * c,
    )


def rotation_of(quaternion: np.ndarray) -> np.ndarray:
    """The rotation matrix (3, 3) of a unit quaternion xyzw."""
    x, y, z, w = quaternion.tolist()
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
