"""A force-torque sensor: its wrench without the weight of the load, filtered, at a link's origin."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from warpdyn.execution.oracle import oracle
from warpdyn.functions.kinematics import fk
from warpdyn.model import Model

from ..settings.node_settings import Settings
from ..states.external_wrench import WRENCH_BOUND

RIGID = 1e-6
"""Largest change of the pose between two links that move together [m, 1]."""
LONGEST_STEP = 0.1
"""Longest time that one step of the filter counts [s]."""


class WrenchSensor:
    """The wrench of ~/ft_wrench, which load and environment exert on the sensor, about its origin and in its axes.

    The load is every link of the model beyond `ft_link`, at the neutral position, and the payload.
    Its weight is subtracted, its inertial forces are not. `contact` is the rest, in the root link's
    axes about the origin of `frame`.
    """

    def __init__(self, model: Model, frame: str, settings: Settings, counts: Counter[str]) -> None:
        """Raise ValueError if the sensor or the payload's link does not move with the frame."""
        self.link = settings.ft_link or frame
        if self.link not in model.link_names:
            links = ", ".join(model.link_names[:40])
            raise ValueError(
                f"ft_link {self.link!r} is not a link of {model.name}, which has {links}"
            )
        self.arrived = -np.inf
        self.refusal = ""
        """The reason why the last wrench was refused."""
        self.contact = np.zeros(6)
        self._model, self._counts = model, counts
        self._in_frame = rigid_pose(model, frame, self.link)
        self._beyond = load_beyond(model, self.link)
        self._reading, self._bias, self._smooth = np.zeros(6), np.zeros(6), np.zeros(6)
        self._is_first = True
        self.change(settings)

    def change(self, settings: Settings) -> None:
        """Use another payload, gravity or filter; ValueError if the payload's link does not move with the sensor."""
        mass, com = self._beyond
        if settings.payload_mass:  # settings with a mass have a link
            T = rigid_pose(self._model, self.link, settings.payload_link)
            at = T[:3, :3] @ np.array(settings.payload_com) + T[:3, 3]
            total = mass + settings.payload_mass
            mass, com = total, (mass * com + settings.payload_mass * at) / total
        self._mass, self._com = mass, com
        self._gravity = np.array(settings.gravity)
        self._cutoff = settings.ft_cutoff
        self._deadband = settings.ft_deadband

    def read(
        self, frame: str, force: Sequence[float], torque: Sequence[float], now: float
    ) -> str | None:
        """Use a wrench in place of the previous one. Returns the reason if it is refused."""
        wrench = np.array((*force, *torque), dtype=float)
        refusal = ""
        if frame != self.link:
            refusal = f"frame_id {frame!r} is not ft_link {self.link}"
        elif not (np.abs(wrench) <= WRENCH_BOUND).all():
            refusal = "a number is not finite, or too large to be right"
        if refusal:
            self._counts["ft_wrench_refused"] += 1
            self.refusal = refusal
            return refusal
        if now - self.arrived > LONGEST_STEP:
            self._is_first = True
        self._reading[:], self.arrived = wrench, now
        return None

    def tare(self) -> None:
        """Use the present wrench as the sensor's offset. Nothing may touch the sensor at this
        time."""
        self._bias[:] = self._smooth
        self._smooth[:] = 0.0

    def update(self, R_frame: np.ndarray, passed: float) -> None:
        """Filter the last reading for a time [s]; R_frame is the rotation of the frame in the root link."""
        if not np.isfinite(self.arrived):
            return
        R = R_frame @ self._in_frame[:3, :3]
        weight = R.T @ (self._mass * self._gravity)
        raw = self._reading.copy()
        raw[:3] -= weight
        raw[3:] -= _cross(self._com, weight)
        raw -= self._bias
        # First order, exact if a reading is constant until the next one.
        share = (
            1.0
            if self._is_first or not self._cutoff
            else -np.expm1(-2.0 * np.pi * self._cutoff * min(passed, LONGEST_STEP))
        )
        self._is_first = False
        self._smooth += share * (raw - self._smooth)
        parts = zip(
            self._smooth.reshape(2, 3), self.contact.reshape(2, 3), self._deadband, strict=True
        )
        for part, contact, deadband in parts:
            size = math.sqrt(part @ part)
            left = max(size - deadband, 0.0) / size if size else 0.0
            contact[:] = left * (R @ part)
        self.contact[3:] += _cross(R_frame @ self._in_frame[:3, 3], self.contact[:3])


def _cross(a: np.ndarray, b: np.ndarray) -> tuple[float, float, float]:
    """The product a × b, five times as fast as NumPy's."""
    x, y, z = a.tolist()
    u, v, w = b.tolist()
    return y * w - z * v, z * u - x * w, x * v - y * u


@lru_cache(maxsize=32)
def rigid_pose(model: Model, base: str, link: str) -> np.ndarray:
    """The pose (4, 4) of a link in another one to which it is fixed; ValueError if it is not."""
    moved, joints = model.neutral.copy(), model.moving_joints
    moved[model.q_indices([j.name for j in joints if j.kind.nq == j.kind.nv == 1])] += 0.3
    poses = []
    for each in (model.neutral, moved):
        A, B = (np.asarray(oracle(fk, model, q=each, frame=x)) for x in (base, link))
        poses.append(np.linalg.inv(A) @ B)
    if np.abs(poses[1] - poses[0]).max() > RIGID:
        raise ValueError(f"{link} must not move against {base}: a joint lies between them")
    return poses[0]


def load_beyond(model: Model, link: str) -> tuple[float, np.ndarray]:
    """Mass [kg] of all links beyond a link, and their centre of mass in its axes (3,) [m], in the
    neutral position."""
    children: dict[str, list[str]] = {}
    for joint in model.joints:
        children.setdefault(joint.parent, []).append(joint.child)
    beyond, pending = [], list(children.get(link, []))
    while pending:
        name = pending.pop()
        beyond.append(name)
        pending += children.get(name, [])
    mass, moment = 0.0, np.zeros(3)
    base = np.asarray(oracle(fk, model, q=model.neutral, frame=link))
    for name in beyond:
        T = np.linalg.inv(base) @ np.asarray(oracle(fk, model, q=model.neutral, frame=name))
        each = model.link(name)
        mass += each.mass
        moment += each.mass * (T[:3, :3] @ np.array(each.com) + T[:3, 3])
    return mass, moment / mass if mass else moment
