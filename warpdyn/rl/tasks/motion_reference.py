"""The reference of a tracked motion: a table with a row for each step, and its lookup."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...functions.simulation.contact_points import ContactPoint
from ...functions.simulation.point_kinematics import point_positions
from ...model import Model
from ..task import Episode, TaskError
from ..terms import rotation
from .motion_clip import MotionClip, at_rate, velocities_of

CLOSED = (0.02, 0.05)
"""Largest differences between both ends of a motion that repeats: height of the base [m], and
its tilt and joint positions [rad, m]."""


class MotionReference:
    """A motion as a table, with a row for each step of a task: q, v, and the places of bodies.

    repeat: True if the motion starts its next lap after the last frame, from the place that it has
    reached. None: True if it ends as it begins, except for place and heading.

    table: (frames + 1 + more, columns). frames: number of steps of the motion. `more` rows follow
    the last frame: rows of the next lap if the motion repeats, else the last pose at rest.

    lap_turn, lap_place: the turn about the vertical [rad] and the displacement (2,) [m] from the
    beginning of one lap to that of the next. middle (joints,): means of the joint positions.

    The methods are written for the functions of a task. `s` has the table as `motion`, the row of
    the present step as `frame`, and, for a free base, the turn `facing` and the displacement
    `offset` (2,) of all earlier laps.

    TaskError: the motion does not fit the robot, is too short, or should repeat but does not end as
    it begins.
    """

    def __init__(
        self,
        model: Model,
        clip: MotionClip,
        step_seconds: float,
        *,
        repeat: bool | None,
        more: int,
        bodies: Sequence[ContactPoint],
    ):
        self.nq, self.nv, self.floating = model.nq, model.nv, model.floating_base
        self.bodies, self.actions = len(bodies), len(model.joint_columns)
        self.first_joint, self.first_speed = (7, 6) if self.floating else (0, 0)
        q = clip.configurations(model)
        gap = _gap(model, q)
        if repeat and gap:
            raise TaskError(
                f"{clip.name} does not end as it begins, so it cannot repeat: {gap}; cut it, or set "
                "repeat=never"
            )
        self.repeat = not gap if repeat is None else repeat
        v = velocities_of(model, q, clip.rate, closed=self.repeat)
        q, v = at_rate(model, q, v, clip.rate, 1.0 / step_seconds)
        self.frames = len(q) - 1
        if self.frames < 2:
            raise TaskError(
                f"{clip.name} lasts {clip.seconds:.3g} s, less than two steps of {step_seconds:g} s"
            )
        self.middle = q[:-1, self.first_joint :].mean(axis=0)
        self.lap_turn, self.lap_place = self._lap(q)
        q, v = self._with_rows_after(q, v, more)
        places = np.asarray(point_positions(model, q, points=bodies)).reshape(len(q), -1)
        self.table = np.concatenate([q, v, places], axis=1)

    def _lap(self, q: np.ndarray) -> tuple[float, np.ndarray]:
        """Turn and displacement of a lap; zero for a motion that does not repeat."""
        if not (self.repeat and self.floating):
            return 0.0, np.zeros(2)
        turned = rotation(q[-1]) @ rotation(q[0]).T
        turn = float(np.arctan2(turned[1, 0], turned[0, 0]))
        return turn, q[-1, :2] - _plane(turn) @ q[0, :2]

    def _with_rows_after(
        self, q: np.ndarray, v: np.ndarray, more: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """The motion with `more` frames after its last one."""
        if not self.repeat:
            still = np.zeros((more, self.nv))
            return np.concatenate([q, np.repeat(q[-1:], more, 0)]), np.concatenate([v, still])
        laps, again = np.divmod(np.arange(1, more + 1), self.frames)
        later = [self._after_laps(q[k], lap + 1) for k, lap in zip(again, laps, strict=True)]
        return np.concatenate([q, later]), np.concatenate([v, v[again]])

    def _after_laps(self, q: np.ndarray, laps: int) -> np.ndarray:
        """A configuration some laps later."""
        moved = q.copy()
        for _ in range(laps if self.floating else 0):
            moved[:2] = self.lap_place + _plane(self.lap_turn) @ moved[:2]
            x, y, z, w = moved[3:7]
            c, s = np.cos(0.5 * self.lap_turn), np.sin(0.5 * self.lap_turn)
            moved[3:7] = c * x - s * y, c * y + s * x, c * z + s * w, c * w - s * z
        return moved

    def _row(self, s: Any, frame: Any, first: int, count: int) -> Any:
        """Numbers of the table at a frame, from a column on."""
        return s.motion.look(np.stack([frame] * count), np.arange(first, first + count))

    def state(self, s: Episode, frame: Any) -> tuple[Any, Any]:
        """The state of the motion at a frame in its first lap: q (nq,) and v (nv,)."""
        return self._row(s, frame, 0, self.nq), self._row(s, frame, self.nq, self.nv)

    def joints(self, s: Episode, frame: Any) -> tuple[Any, Any]:
        """Positions and velocities of the joints at a frame, each (joints,)."""
        return (
            self._row(s, frame, self.first_joint, self.actions),
            self._row(s, frame, self.nq + self.first_speed, self.actions),
        )

    def base(self, s: Episode, frame: Any) -> tuple[Any, Any]:
        """Place (3,) and rotation (3, 3) of the base at a frame, in the world."""
        pose = self._row(s, frame, 0, 7)
        return self._in_world(s, pose[:3]), self._about_vertical(s) @ rotation(pose)

    def places(self, s: Episode, frame: Any) -> Any:
        """Places of the bodies at a frame, in the world (bodies, 3)."""
        first = self.nq + self.nv
        each = [self._row(s, frame, first + 3 * k, 3) for k in range(self.bodies)]
        return np.stack([self._in_world(s, x) for x in each])

    def after_step(self, s: Any) -> dict[str, Any]:
        """`frame` of the next step, and `facing` and `offset` where a lap begins. A motion that does
        not repeat stays at its last frame."""
        frame = s.frame + 1.0
        if not self.repeat:
            return {"frame": np.minimum(frame, float(self.frames))}
        over = frame > self.frames - 0.5
        changed = {"frame": np.where(over, frame - self.frames, frame)}
        if not self.floating:
            return changed
        offset = (self._about_vertical(s) @ np.array([*self.lap_place, 0.0]))[:2] + s.offset
        return changed | {
            "facing": np.where(over, s.facing + self.lap_turn, s.facing),
            "offset": np.where(over, offset, s.offset),
        }

    def _about_vertical(self, s: Any) -> Any:
        """The rotation by `facing` (3, 3)."""
        c, n = np.cos(s.facing), np.sin(s.facing)
        return np.stack([np.stack([c, -n, 0.0]), np.stack([n, c, 0.0]), np.array([0.0, 0.0, 1.0])])

    def _in_world(self, s: Any, place: Any) -> Any:
        """A place of the table in the world."""
        if not self.floating:
            return place
        at = self._about_vertical(s) @ place
        return np.stack([at[0] + s.offset[0], at[1] + s.offset[1], at[2]])


def _gap(model: Model, q: np.ndarray) -> str:
    """The largest difference between both ends of a motion, in words; empty if it ends as it
    begins, except for its place and heading."""
    columns = model.joint_position_columns
    off = np.abs(q[-1] - q[0])
    if model.floating_base:
        tilt = float(np.linalg.norm(np.cross(rotation(q[0])[2], rotation(q[-1])[2])))
        if off[2] > CLOSED[0]:
            return f"the height of the base differs by {off[2]:.3g} m"
        if tilt > CLOSED[1]:
            return f"the tilt of the base differs by {tilt:.3g} rad"
    joint = int(np.argmax(off[columns]))
    if off[columns[joint]] > CLOSED[1]:
        return f"{model.joint_names[joint]} differs by {off[columns[joint]]:.3g}"
    return ""


def _plane(turn: float) -> np.ndarray:
    """A rotation of the ground plane (2, 2)."""
    c, s = np.cos(turn), np.sin(turn)
    return np.array([[c, -s], [s, c]])
