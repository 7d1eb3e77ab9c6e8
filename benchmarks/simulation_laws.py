"""Compare a simulation with exact results at several time steps.

    python -m benchmarks.simulation_laws [--json benchmarks/results/simulation_laws.json]

Every law has a figure with a known exact value. The table has the simulated values at 1, 5 and 10 ms,
in float64. `tests/benchmarks/test_simulation_laws.py` checks each at 5 ms against its tolerance.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tqdm import tqdm

import warpdyn as wd
from warpdyn.cli.hardware import processor

from .roll_outs import Roll, agm, body, crossings, roll_out

G = 9.81
STEPS = (0.001, 0.005, 0.01)
"""Lengths of a step [s]."""


class Law(NamedTuple):
    """A figure: its name, exact value, the value of a simulation with step dt, and a tolerance at step `at`."""

    name: str
    exact: float
    figure: Callable[[float], float]
    tolerance: float
    at: float = 0.005


# Boxes on the ground, in one roll-out.

EDGE, FRICTION, STIFFNESS = 0.1, 0.5, 5e4
BOX = body(1.0, [0.01 / 6] * 3)
CORNERS = tuple(
    wd.ContactPoint("b", (x, y, z), 0.0)
    for x in (-0.05, 0.05)
    for y in (-0.05, 0.05)
    for z in (-0.05, 0.05)
)
TUMBLING = 32
SLOPES = np.radians([0.0, 0.0, 20.0, 30.0, *[0.0] * TUMBLING])


@cache
def boxes(dt: float) -> Roll:
    """Boxes at rest, sliding at 1 m/s, on slopes of 20 and 30 degrees, and thrown with random attitude and
    spin, for 3 s."""
    rng = np.random.default_rng(0)
    count = len(SLOPES)
    q, v = np.tile(BOX.neutral, (count, 1)), np.zeros((count, 6))
    q[:, 2] = EDGE / 2 - G * np.cos(SLOPES) / 4 / STIFFNESS
    v[1, 0] = 1.0
    turn = rng.normal(size=(TUMBLING, 4))
    q[4:, 3:7] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
    q[4:, 2] = rng.uniform(0.2, 0.5, TUMBLING)
    v[4:] = rng.normal(size=(TUMBLING, 6)) * [1, 1, 1, 8, 8, 8]
    gravity = G * np.stack([np.sin(SLOPES), 0 * SLOPES, -np.cos(SLOPES)], 1)
    ground = wd.Ground(FRICTION, STIFFNESS, 0.01)
    scene = {"points": CORNERS, "sweeps": 8, "ground": ground, "gravity": gravity}
    return roll_out(BOX, q, v, dt, 3.0, **scene)


def _on_faces(dt: float) -> float:
    """Share of thrown boxes that rest on a face after 3 s."""
    end = boxes(dt)
    x, y, z, w = end.q[-1, 4:, 3:7].T
    up = np.abs([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]).max(0)
    return float(((up > 1 - 1e-4) & (np.abs(end.v[-1, 4:]).max(1) < 0.05)).mean())


def _drop(dt: float) -> float:
    """Depth of a ball dropped by 0.2 m, at rest after 1 s [µm]: m g / k."""
    end = roll_out(
        *(BALL, [0, 0, 0.3, 0, 0, 0, 1], [0.0] * 6, dt, 1.0),
        points=[wd.ContactPoint("b", (0, 0, 0), 0.1)],
        ground=wd.Ground(FRICTION, STIFFNESS, 0.01),
    )
    return 1e6 * float(0.1 - end.q[-1, 0, 2])


BALL = body(1.0, [0.4 * 0.01] * 3)


def _rolling(dt: float) -> float:
    end = roll_out(
        *(BALL, [0, 0, 0.1, 0, 0, 0, 1], [1.0, 0, 0, 0, 0, 0], dt, 1.0),
        points=[wd.ContactPoint("b", (0, 0, 0), 0.1)],
        ground=wd.Ground(FRICTION, STIFFNESS, 0.01),
    )
    return float(np.linalg.norm(end.v[-1, 0, :3]))


# Free flight.

RACKET_J = (0.02, 0.05, 0.06)
RACKET = body(2.0, RACKET_J, "0.1 0.05 -0.2")
SPIN = np.array([3.0, 0.2, 1.0]) * 3.0 / np.linalg.norm([3.0, 0.2, 1.0])


@cache
def flight(dt: float, speed: float) -> Roll:
    """A body whose centre of mass is off its origin, spinning about no principal axis."""
    v = [1.0, 0.5, -0.2, *(SPIN * speed / 3.0)]
    return roll_out(RACKET, [0, 0, 5, 0, 0, 0, 1], v, dt, 1.0, gravity=(0.0, 0.0, 0.0))


def momenta(model: wd.Model, path: Roll) -> np.ndarray:
    """Linear momentum, and angular momentum about the centre of mass, in world axes: (steps, 6)."""
    return np.array([wd.oracle(wd.centroidal_momentum, model, q[0], v[0]) for q, v in _ends(path)])


def _ends(path: Roll) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(path.q[k], path.v[k]) for k in (0, -1)]


def drift(model: wd.Model, path: Roll, rows: slice) -> float:
    """Relative change of momentum."""
    begin, end = momenta(model, path)[:, rows]
    return float(np.linalg.norm(end - begin) / np.linalg.norm(begin))


def _energy_gained(dt: float, speed: float) -> float:
    path = flight(dt, speed)
    E = [
        wd.oracle(wd.kinetic_energy, RACKET, q[0], v[0])
        for q, v in zip(path.q, path.v, strict=True)
    ]
    return float(max(E) / E[0] - 1)


TWO = wd.load_urdf(
    """<robot name="two">
    <link name="a"><inertial><origin xyz="0.1 0 0"/><mass value="1.5"/>
    <inertia ixx=".01" ixy="0" ixz="0" iyy=".02" iyz="0" izz=".025"/></inertial></link>
    <link name="b"><inertial><origin xyz="0.3 0 0.1"/><mass value="1"/>
    <inertia ixx=".004" ixy="0" ixz="0" iyy=".012" iyz="0" izz=".01"/></inertial></link>
    <joint name="j" type="continuous"><parent link="a"/><child link="b"/><origin xyz=".2 0 0"/>
    <axis xyz="0 1 0"/></joint></robot>""",
    floating_base=True,
)


@cache
def two_bodies(dt: float) -> Roll:
    """Two bodies on a hinge that turns at 4 rad/s, thrown with a spin."""
    v = [1.0, 0.5, 3.0, 1.0, -0.5, 2.0, 4.0]
    return roll_out(TWO, [0, 0, 5, 0, 0, 0, 1, 0.3], v, dt, 1.0)


def _parabola(dt: float) -> float:
    """Distance of the centre of mass from its parabola after 1 s [m].

    The fall of semi-implicit Euler is longer by g h / 2, which is subtracted.
    """
    path = two_bodies(dt)
    begin, end = (wd.oracle(wd.com, TWO, q[0]) for q, _ in _ends(path))
    speed = momenta(TWO, path)[0, :3] / TWO.total_mass
    exact = begin + speed + np.array([0, 0, -G / 2 - G * dt / 2])
    return float(np.linalg.norm(end - exact))


def _falling_momentum(dt: float) -> float:
    """Error of the momentum after 1 s of fall, relative to the first momentum."""
    begin, end = momenta(TWO, two_bodies(dt))[:, :3]
    fallen = begin - np.array([0, 0, TWO.total_mass * G])
    return float(np.linalg.norm(end - fallen) / np.linalg.norm(begin))


# The tennis racket turns over about its middle axis: Landau and Lifshitz, Mechanics, section 37.


def flip_time(J: Sequence[float], w: Sequence[float]) -> float:
    """Seconds between two flips: half the period of ω2."""
    (a, b, c), E2 = J, sum(j * x * x for j, x in zip(J, w, strict=True))
    L2 = sum((j * x) ** 2 for j, x in zip(J, w, strict=True))
    if E2 * b > L2:
        a, c = c, a
    rate = math.sqrt((c - b) * (L2 - E2 * a) / (a * b * c))
    k2 = (b - a) * (E2 * c - L2) / ((c - b) * (L2 - E2 * a))
    return 2 * math.pi / (2 * agm(1.0, math.sqrt(1 - k2))) / rate


FLIPPING = (0.2, 6.0, 0.3)
"""Angular velocity of the racket's flight [rad/s]."""


def _flips(dt: float) -> float:
    """Mean time between two flips in 10 s [s]."""
    path = roll_out(
        *(body(1.0, RACKET_J), [0, 0, 5, 0, 0, 0, 1], [0, 0, 0, *FLIPPING], dt, 10.0),
        gravity=(0.0, 0.0, 0.0),
    )
    return float(np.diff(crossings(path.v[:, 0, 4], dt)).mean())


# Pendulums.

BOB_MASS, LENGTH, BOB_J, SWING = 1.0, 0.5, 0.002, 1.0
PENDULUM = wd.load_urdf(
    f"""<robot name="pendulum"><link name="w"/><link name="bob"><inertial>
    <origin xyz="0 0 {-LENGTH}"/><mass value="{BOB_MASS}"/><inertia ixx="{BOB_J}" ixy="0" ixz="0"
    iyy="{BOB_J}" iyz="0" izz="{BOB_J}"/></inertial></link><joint name="j" type="continuous">
    <parent link="w"/><child link="bob"/><axis xyz="0 1 0"/></joint></robot>"""
)
PERIOD = (2 * math.pi * math.sqrt((BOB_J + BOB_MASS * LENGTH**2) / (BOB_MASS * G * LENGTH))) / agm(
    1.0, math.cos(SWING / 2)
)


def _period(dt: float) -> float:
    path = roll_out(PENDULUM, [SWING], [0.0], dt, 15.0)
    return float(2 * np.diff(crossings(path.q[:, 0, 0], dt)).mean())


def _double_energy(dt: float) -> float:
    """Largest change of energy in 5 s, relative to m g (l1 + l2)."""
    model = wd.load_robot("double_pendulum")
    path, every = roll_out(model, [1.0, 0.5], [0.0, 0.0], dt, 5.0), round(0.05 / dt)
    E = np.array(
        [
            wd.oracle(wd.kinetic_energy, model, q[0], v[0])
            + wd.oracle(wd.potential_energy, model, q[0])
            for q, v in zip(path.q[::every], path.v[::every], strict=True)
        ]
    )
    lowest = wd.oracle(wd.potential_energy, model, np.zeros(2))
    highest = wd.oracle(wd.potential_energy, model, np.array([math.pi, 0.0]))
    return float(np.abs(E - E[0]).max() / abs(highest - lowest))


# A top on its tip, precessing steadily: J1 Ω² cos θ - J3 ω3 Ω + m g l = 0.

TOP_MASS, TOP_LENGTH, TOP_J, TOP_SPIN, TILT = 0.5, 0.05, (4e-4, 4e-4, 6e-4), 100.0, math.radians(30)


def _precession_rate() -> float:
    """Slow precession rate [rad/s]; about m g l / (J3 ω3)."""
    a = (TOP_J[0] + TOP_MASS * TOP_LENGTH**2) * math.cos(TILT)
    b, c = TOP_J[2] * TOP_SPIN, TOP_MASS * G * TOP_LENGTH
    return 2 * c / (b + math.sqrt(b * b - 4 * a * c))


TOP = body(TOP_MASS, TOP_J, f"0 0 {TOP_LENGTH}")
HINGED_TOP = (
    wd.ModelBuilder("top")
    .add_link("w")
    .add_link("top", TOP_MASS, (0, 0, TOP_LENGTH), np.diag(TOP_J))
    .add_joint("tip", "ball", "w", "top")
    .build()
)


TOP_TURN = [0.0, math.sin(TILT / 2), 0.0, math.cos(TILT / 2)]
"""Tilted towards x."""

TOP_TWIST = [-_precession_rate() * math.sin(TILT), 0.0, TOP_SPIN]


def _top_on_a_tip(dt: float) -> float:
    """Mean precession rate over one second of a free top on a sticking contact [rad/s]."""
    depth = TOP_MASS * G / 1e5
    end = roll_out(
        *(TOP, [0, 0, -depth, *TOP_TURN], [0.0, 0, 0, *TOP_TWIST], dt, 1.0),
        points=[wd.ContactPoint("b", (0, 0, 0), 0.0)],
        ground=wd.Ground(2.0, 1e5, 0.01),
    )
    return _precession(end)


def _top_on_a_joint(dt: float) -> float:
    return _precession(roll_out(HINGED_TOP, TOP_TURN, TOP_TWIST, dt, 1.0))


def _precession(path: Roll) -> float:
    """Precession: the angle by which the axis has turned about the vertical [rad]."""
    x, y, z, w = path.q[:, 0, -4:].T
    angle = np.unwrap(np.arctan2(2 * (y * z - w * x), 2 * (x * z + w * y)))
    return float(angle[-1] - angle[0])


SLIP = G * (math.sin(math.radians(30)) - FRICTION * math.cos(math.radians(30)))
STOP = 1 / (2 * FRICTION * G)


def _depth(dt: float) -> float:
    return 1e6 * (EDGE / 2 - float(boxes(dt).q[-1, 0, 2]))


def _speed(dt: float, env: int) -> float:
    """Speed of a box on a slope after 1 s [m/s]."""
    return float(boxes(dt).v[round(1.0 / dt), env, 0])


LAWS = (
    Law("box at rest: depth [µm]", 1e6 * G / 4 / STIFFNESS, _depth, 0.02),
    Law(
        "box at rest: contact force [N]",
        G,
        lambda dt: float(boxes(dt).forces[-1, 0, :, 2].sum()),
        1e-6,
    ),
    Law(
        "box that slides from 1 m/s, µ 0.5: stopping distance + h/2 [m]",
        *(STOP, lambda dt: float(boxes(dt).q[-1, 1, 0]) + dt / 2, 5e-5),
    ),
    Law("box on 20°, µ 0.5: creep [µm/s]", 0.0, lambda dt: 1e6 * _speed(dt, 2), 3.0),
    Law("box on 30°, µ 0.5: speed after 1 s [m/s]", SLIP, lambda dt: _speed(dt, 3), 3e-4),
    Law("thrown boxes: fraction that lies on a face after 3 s", 1.0, _on_faces, 0.0),
    Law("ball dropped by 0.2 m: depth after 1 s [µm]", 1e6 * G / STIFFNESS, _drop, 0.02),
    Law("sphere that slides until it rolls: final / initial speed", 5 / 7, _rolling, 1e-9),
    Law(
        "free body at 3 rad/s for 1 s: change of linear momentum",
        *(0.0, lambda dt: drift(RACKET, flight(dt, 3.0), slice(0, 3)), 1e-12),
    ),
    Law(
        "free body at 3 rad/s for 1 s: change of angular momentum",
        *(0.0, lambda dt: drift(RACKET, flight(dt, 3.0), slice(3, 6)), 1e-12),
    ),
    Law(
        "free body at 3 rad/s for 1 s: largest energy gain",
        0.0,
        lambda dt: _energy_gained(dt, 3.0),
        1e-11,
    ),
    Law(
        "free body at 30 rad/s: largest energy gain", 0.0, lambda dt: _energy_gained(dt, 30.0), 1e-7
    ),
    Law(
        "free body at 100 rad/s: largest energy gain",
        0.0,
        lambda dt: _energy_gained(dt, 100.0),
        1e-5,
    ),
    Law("two bodies on a hinge at 4 rad/s: error of linear momentum", 0.0, _falling_momentum, 5e-3),
    Law(
        "two bodies on a hinge at 4 rad/s: change of angular momentum",
        *(0.0, lambda dt: drift(TWO, two_bodies(dt), slice(3, 6)), 5e-3),
    ),
    Law("two bodies on a hinge: distance from the parabola after 1 s [m]", 0.0, _parabola, 5e-3),
    Law(
        "racket about its middle axis: time between flips [s]",
        flip_time(RACKET_J, FLIPPING),
        _flips,
        5e-4,
    ),
    Law("pendulum from 1 rad: period [s]", PERIOD, _period, 5e-5),
    Law("double pendulum for 5 s: change of energy", 0.0, _double_energy, 2e-2),
    Law("top at 100 rad/s on its tip: precession [rad/s]", _precession_rate(), _top_on_a_tip, 0.1),
    Law(
        "top at 100 rad/s on a ball joint: precession [rad/s]",
        _precession_rate(),
        _top_on_a_joint,
        0.05,
        at=1e-4,
    ),
)


def main() -> None:
    """Print the table and store it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    lines, records = [], []
    for law in tqdm(LAWS):
        found = [law.figure(dt) for dt in STEPS]
        cells = " | ".join(f"{x:.6g}" if law.exact else f"{x:.2g}" for x in found)
        lines.append(f"| {law.name} | {law.exact:.6g} | {cells} |")
        records.append({"law": law.name, "exact": law.exact, "dt": STEPS, "found": found})
    steps = " | ".join(f"{1000 * dt:g} ms" for dt in STEPS)
    print(f"| | exact | {steps} |\n|---|---|{'---|' * len(STEPS)}")
    print("\n".join(lines))
    if given.json:
        about = {"cpu": processor(), "date": str(date.today()), "dtype": "float64"}
        given.json.write_text(json.dumps({"hardware": about, "laws": records}, indent=1) + "\n")


if __name__ == "__main__":
    main()
