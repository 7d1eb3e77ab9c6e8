"""Scenes on the ground with exact results, a standing quadruped, and the quantities that are compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import cos, nan, radians, sin

import numpy as np

import warpdyn as wd

from .simulators import GRAVITY, Motion, OnGround

SIDE, RADIUS, EDGE = 0.1, 0.1, 0.001
"""Of the cube and of the ball, and of the spheres in the cube's corners [m]."""

MU, SPEED, DROP = 0.5, 1.0, 0.2
STIFFNESS = 5e4
QUADRUPED_HEIGHT = 0.32
QUADRUPED_STANCE = (0.1, 0.8, -1.5, -0.1, 0.8, -1.5, 0.1, 1.0, -1.5, -0.1, 1.0, -1.5)

BODY = """<robot name="{name}"><link name="body"><inertial><mass value="1"/><inertia ixx="{0}"
ixy="0" ixz="0" iyy="{0}" iyz="0" izz="{0}"/></inertial></link></robot>"""
REACH, LOW = SIDE / 2 - EDGE, EDGE - SIDE / 2
CORNERS = tuple(
    wd.ContactPoint("body", (x, y, LOW), EDGE) for x in (-REACH, REACH) for y in (-REACH, REACH)
)
BALL = BODY.format(0.4 * RADIUS**2, name="ball")
BLOCK = BODY.format(SIDE**2 / 6, name="block")


@dataclass(frozen=True)
class Row:
    """A row of the table: a quantity of a scene's motion, and its exact value."""

    scene: str
    what: str
    unit: str
    exact: float
    read: Callable[[Motion], float]
    digits: int = 5


def block(name: str, *, speed: float = 0.0, slope: float = 0.0) -> OnGround:
    start = [0, 0, SIDE / 2, 0, 0, 0, 1]
    return OnGround(name, BLOCK, CORNERS, start, (speed, 0, 0), slope, MU, STIFFNESS)


def ball(name: str, *, height: float, speed: float = 0.0) -> OnGround:
    point = (wd.ContactPoint("body", (0.0, 0.0, 0.0), RADIUS),)
    start = [0, 0, height, 0, 0, 0, 1]
    return OnGround(name, BALL, point, start, (speed, 0, 0), 0.0, MU, STIFFNESS)


def standing(
    name: str, height: float, stance: Sequence[float], gains: tuple[float, float], feet: str
) -> OnGround:
    """A bundled robot with drives, dropped by some centimetres onto its feet."""
    model = wd.load_robot(name)
    weight = model.total_mass * GRAVITY
    return OnGround(
        name,
        model.to_urdf(),
        tuple(wd.ContactPoints(model).only(feet)),
        [0, 0, height, 0, 0, 0, 1, *(list(stance) or [0.0] * (model.nv - 6))],
        stiffness=weight / 0.005,
        gains=gains,
        armature=0.01,
        seconds=2.0,
    )


def scenes() -> dict[str, OnGround]:
    """All scenes of the table, by name."""
    return {
        "rest": block("rest"),
        "slide": block("slide", speed=SPEED),
        "slope of 20 degrees": block("slope of 20 degrees", slope=radians(20)),
        "slope of 30 degrees": block("slope of 30 degrees", slope=radians(30)),
        "rolling ball": ball("rolling ball", height=RADIUS, speed=SPEED),
        "dropped ball": ball("dropped ball", height=RADIUS + DROP),
        "quadruped": standing(
            "quadruped", QUADRUPED_HEIGHT, QUADRUPED_STANCE, (40.0, 1.0), "*_foot"
        ),
    }


def _x(motion: Motion, at: float = 1.0) -> float:
    return float(motion.positions[motion.at(at), 0])


def _v(motion: Motion, at: float = 1.0) -> float:
    return float(motion.velocities[motion.at(at), 0])


def _depth(motion: Motion, rests_at: float) -> float:
    return 1e3 * (rests_at - float(motion.positions[motion.at(1.0), 2]))


def _load(motion: Motion, weight: float) -> float:
    """Mean force over the last tenth of a second, relative to the weight."""
    last = motion.forces[-round(0.1 / motion.dt) :, 2]
    return float(last.mean()) / weight


def _creep(motion: Motion) -> float:
    return 2 * (_x(motion) - _x(motion, 0.5))


def _lift(motion: Motion) -> float:
    return 1e3 * max(float(motion.positions[:, 2].max()) - SIDE / 2, 0.0)


def _rebound(motion: Motion) -> float:
    """Rise after the lowest point [mm]."""
    z = motion.positions[:, 2]
    low = int(np.argmax(np.diff(z) > 0)) if (np.diff(z) > 0).any() else len(z) - 1
    return 1e3 * (max(float(z[low:].max()), RADIUS) - RADIUS)


def rows() -> list[Row]:
    """Rows of the table."""
    rolls = 2 / 7 * SPEED / (MU * GRAVITY)
    rolled = SPEED * rolls - MU * GRAVITY * rolls**2 / 2 + 5 / 7 * SPEED * (1 - rolls)
    down = GRAVITY * (sin(radians(30)) - MU * cos(radians(30)))
    weight = wd.load_robot("quadruped").total_mass * GRAVITY
    soft = "depth on a spring of k"
    return [
        Row("rest", soft, "mm", 1e3 * GRAVITY / 4 / STIFFNESS, partial(_depth, rests_at=SIDE / 2)),
        Row("rest", "force / weight", "", 1.0, partial(_load, weight=GRAVITY)),
        Row("slide", "distance after 1 s", "m", SPEED**2 / (2 * MU * GRAVITY), _x),
        Row("slope of 20 degrees", "creep speed", "m/s", 0.0, _creep, 8),
        Row("slope of 30 degrees", "speed after 1 s", "m/s", down, _v),
        Row("slope of 30 degrees", "distance after 1 s", "m", down / 2, _x),
        Row("slope of 30 degrees", "largest lift", "mm", 0.0, _lift, 3),
        Row("rolling ball", "speed after 1 s", "m/s", 5 / 7 * SPEED, _v, 6),
        Row("rolling ball", "distance after 1 s", "m", rolled, _x),
        Row(
            "dropped ball", soft, "mm", 1e3 * GRAVITY / STIFFNESS, partial(_depth, rests_at=RADIUS)
        ),
        Row("dropped ball", "rebound", "mm", 0.0, _rebound, 3),
        Row("quadruped", "height after 2 s", "m", nan, lambda m: float(m.positions[-1, 2])),
        Row("quadruped", "force / weight", "", 1.0, partial(_load, weight=weight)),
    ]
