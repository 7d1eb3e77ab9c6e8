"""Motion clip of the package, made by inverse kinematics: a squat with raised arms, then one-leg stands.

`python -m benchmarks.rl.humanoid_clip` writes warpdyn/rl/clips/humanoid_routine.npz. The centre of mass
stays above the supporting feet, so the motion is balanced if it is slow.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

import warpdyn as wd
from warpdyn.rl.tasks.motion_clip import MotionClip

RATE = 50.0
FILE = Path(wd.__file__).parent / "rl/clips/humanoid_routine.npz"

FEET = ("left_ankle_roll_link", "right_ankle_roll_link")
SIDES = {"left": 1.0, "right": -1.0}

ARMS_FORWARD = {"shoulder_pitch": -1.5, "shoulder_roll": 0.15, "elbow": 0.6}
ARMS_ASIDE = {"shoulder_pitch": 0.0, "shoulder_roll": 1.45, "elbow": 1.2}
"""Angles of the arms [rad]; rolls are of the left arm, the right one mirrors them."""


class Moment(NamedTuple):
    """A pose of the routine, and the time from the previous pose. The motion rests at both ends.

    sink: lowering of the pelvis [m]. lean: forward tilt of the pelvis [rad]. shift: of the centre of mass
    from the middle towards the left foot; 1 is above the left foot, -1 above the right one. lifted: heights
    of both feet [m]. forward, aside: weights of the two arm poses.
    """

    seconds: float
    sink: float = 0.0
    lean: float = 0.0
    shift: float = 0.0
    lifted: tuple[float, float] = (0.0, 0.0)
    forward: float = 0.0
    aside: float = 0.0


def one_leg(side: float) -> list[Moment]:
    """A stand on the left leg (1) or on the right one (-1)."""
    lifted = (0.0, 0.16) if side > 0 else (0.16, 0.0)
    return [
        Moment(0.9, sink=0.02, shift=side, aside=0.6),
        Moment(0.8, sink=0.02, shift=side, lifted=lifted, aside=1.0),
        Moment(0.5, sink=0.02, shift=side, lifted=lifted, aside=1.0),
        Moment(0.8, sink=0.02, shift=side, aside=0.6),
    ]


ROUTINE = [
    Moment(0.0),
    Moment(1.3, sink=0.2, lean=0.25, forward=1.0),
    Moment(0.3, sink=0.2, lean=0.25, forward=1.0),
    Moment(1.2),
    *one_leg(1.0),
    Moment(0.9, sink=0.02),
    *one_leg(-1.0),
    Moment(0.9),
]


def smooth(share: float) -> float:
    """Blend from 0 to 1 with zero velocity and acceleration at both ends."""
    return share**3 * (10.0 - 15.0 * share + 6.0 * share**2)


def moments(routine: Sequence[Moment]) -> list[Moment]:
    """Poses of all frames."""
    ends = np.cumsum([each.seconds for each in routine])
    frames = []
    for time in np.arange(round(ends[-1] * RATE) + 1) / RATE:
        k = int(np.clip(np.searchsorted(ends, time - 1e-9), 1, len(routine) - 1))
        share = smooth(float(np.clip((time - ends[k - 1]) / routine[k].seconds, 0.0, 1.0)))
        first, last = (np.hstack([*each]) for each in (routine[k - 1], routine[k]))
        x = first + share * (last - first)
        frames.append(Moment(time, x[1], x[2], x[3], (x[4], x[5]), x[6], x[7]))
    return frames


class Posture:
    """Inverse kinematics of the humanoid for successive poses, by damped and weighted least squares."""

    def __init__(self) -> None:
        self.model = wd.load_robot("humanoid")
        self.home = np.array(self.model.configurations["home"], float)
        self.q = self.home.copy()
        # The feet are flat on the ground at their home positions.
        self.feet = [self._frame(name)[0] for name in FEET]
        self.middle = np.mean([T[:2, 3] for T in self.feet], axis=0)

    def _frame(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        T, J = wd.pose_and_jacobian(self.model, self.q[None], frame=name)
        return np.asarray(T)[0], np.asarray(J)[0]

    def reach(self, moment: Moment, iterations: int = 30) -> np.ndarray:
        """Configuration of a pose, from the previous configuration."""
        arms = self._arms(moment)
        for _ in range(iterations):
            rows = list(self._errors(moment, arms))
            J = np.concatenate([np.atleast_2d(w * j) for w, _, j in rows])
            error = np.concatenate([np.ravel(w * e) for w, e, _ in rows])
            step = np.linalg.solve(J.T @ J + 1e-6 * np.eye(J.shape[1]), J.T @ error)
            self.q = np.asarray(
                wd.clamp(self.model, wd.integrate(self.model, self.q[None], step[None]))
            )[0]
        return self.q

    def _arms(self, moment: Moment) -> np.ndarray:
        """Angles of all joints, with the arms in their pose."""
        angles = self.home[7:].copy()
        for side, sign in SIDES.items():
            for pose, share in ((ARMS_FORWARD, moment.forward), (ARMS_ASIDE, moment.aside)):
                for joint, angle in pose.items():
                    k = self.model.joint_names.index(f"{side}_{joint}_joint")
                    wanted = sign * angle if joint == "shoulder_roll" else angle
                    angles[k] += share * (wanted - self.home[7 + k])
        return angles

    def _errors(self, moment: Moment, arms: np.ndarray):  # type: ignore[no-untyped-def]
        """Weights, errors and Jacobians of all goals."""
        for name, T0, lifted in zip(FEET, self.feet, moment.lifted, strict=True):
            T, J = self._frame(name)
            goal = T0[:3, 3] + [0.0, 0.0, lifted]
            yield 10.0, goal - T[:3, 3], J[:3]
            yield 5.0, turn(T0[:3, :3] @ T[:3, :3].T), J[3:]
        # The centre of mass is above the supporting feet.
        com = np.asarray(wd.com(self.model, self.q[None]))[0]
        side = self.feet[0 if moment.shift > 0 else 1][:2, 3]
        goal = self.middle + np.abs(moment.shift) * (side - self.middle) + [0.02, 0.0]
        yield 10.0, goal - com[:2], np.asarray(wd.com_jacobian(self.model, self.q[None]))[0, :2]
        T, J = self._frame("pelvis")
        yield 10.0, self.home[2] - moment.sink - T[2, 3], J[2]
        c, s = np.cos(moment.lean), np.sin(moment.lean)
        lean = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
        yield 3.0, turn(lean @ T[:3, :3].T), J[3:]
        joints = np.eye(self.model.nv)[6:]
        weights = np.where(np.arange(len(joints)) < 12, 0.05, 2.0)[:, None]
        yield weights, (arms - self.q[7:])[:, None], joints


def turn(R: np.ndarray) -> np.ndarray:
    """The rotation vector of a small rotation [rad]."""
    return 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])


def routine() -> MotionClip:
    """The whole motion. In each frame the lowest point of the feet is on the ground."""
    posture = Posture()
    frames = moments(ROUTINE)
    for _ in range(5):
        posture.reach(frames[0])
    q = np.array([posture.reach(each) for each in frames])
    points = wd.ContactPoints(posture.model).only("*_ankle_roll_link")
    q[:, 2] -= np.asarray(wd.point_heights(posture.model, q, points=points)).min(axis=1)
    q[-1] = q[0]  # the motion repeats
    return MotionClip(RATE, tuple(posture.model.joint_names), q[:, 7:], q[:, :3], q[:, 3:7])


if __name__ == "__main__":
    clip = routine()
    FILE.parent.mkdir(exist_ok=True)
    clip.write(FILE)
    print(f"{FILE.name}: {clip.seconds:.1f} s, {FILE.stat().st_size / 1024:.0f} KiB")
