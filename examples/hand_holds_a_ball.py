"""A hand of four fingers closes around a ball and holds it while it is turned over.

The builder makes the hand from capsules. Several hands hold equal balls with fingers of different strength. The weak
ones drop the ball when the palm faces down.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import warpdyn as wd

FINGERS = 4
BALL, MASS = 0.035, 0.3  # radius and mass of the ball, m and kg
RED = 0.85, 0.2, 0.15
# Distance of the fingers from the middle of the palm, and their radius, m.
PALM, THICK = 0.045, 0.008
LENGTHS = 0.05, 0.045  # of the two links of a finger, m
OPEN, CLOSED = np.array([-0.3, 0.3]), np.array([0.3, 1.4])  # angles of a finger's joints, rad
HEIGHT, DEPTH = 0.3, 0.008  # of the palm, and half of its thickness, m
STEP, SUBSTEPS = 0.002, 5  # s
STRENGTHS = np.array([0.02, 0.05, 0.1, 0.2, 0.4])  # largest torque of a finger's joint, N·m
# Times at which the fingers are closed, and at which the turn begins and ends, s.
CLOSE, TURN, TURNED = 0.5, 1.0, 3.0


def capsule(length: float) -> dict[str, Any]:
    """Mass, centre, inertia (of a thin rod) and shape of a finger's link along z."""
    shape = wd.description.Geometry(
        "capsule", (THICK, length), pose=wd.description.Pose((0.0, 0.0, length / 2))
    )
    moments = [length**2 / 12, length**2 / 12, THICK**2 / 2]
    return {
        "mass": 0.05,
        "com": (0.0, 0.0, length / 2),
        "inertia": 0.05 * np.diag(moments),
        "visuals": [shape],
        "collisions": [shape],
    }


def hand() -> wd.Model:
    """A palm that turns about x, and fingers around it that bend inwards."""
    palm = wd.description.Geometry("box", (0.1, 0.1, 2 * DEPTH))
    builder = wd.ModelBuilder("hand").add_link("stand")
    builder.add_link(
        "palm", mass=0.4, inertia=np.diag([4e-4, 4e-4, 7e-4]), visuals=[palm], collisions=[palm]
    )
    builder.add_joint("wrist", "revolute", "stand", "palm", (0.0, 0.0, HEIGHT), effort=20.0)
    for n in range(FINGERS):
        angle = 2 * np.pi * n / FINGERS
        cos, sin = np.cos(angle), np.sin(angle)
        base = np.eye(4)
        base[:3, :3] = [[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]]
        base[:3, 3] = PALM * cos, PALM * sin, DEPTH
        tips = f"finger{n}_lower", f"finger{n}_upper"
        for tip, length in zip(tips, LENGTHS, strict=True):
            builder.add_link(tip, **capsule(length))
        # Positive angles about -y lean a finger towards the middle, which is at -x of its base.
        bend = {"axis": (0.0, -1.0, 0.0), "armature": 1e-4}
        builder.add_joint(f"finger{n}_base", "revolute", "palm", tips[0], base, **bend)
        builder.add_joint(f"finger{n}_knuckle", "revolute", *tips, (0, 0, LENGTHS[0]), **bend)
    return builder.build()


def angles(wrist: float, fingers: np.ndarray) -> np.ndarray:
    """Targets of all joints: the wrist, and the same two angles for each finger."""
    return np.array([wrist, *np.tile(fingers, FINGERS)])


def simulate(seconds: float) -> tuple[wd.Model, np.ndarray, np.ndarray, np.ndarray]:
    """The scene, its configurations (steps, envs, nq), positions of the balls in the palm's axes
    (steps, envs, 3), and the largest force of a fingertip on the ball (steps, envs)."""
    above = (0.0, 0.0, HEIGHT + DEPTH + BALL)
    scene = hand().with_object(
        "ball", wd.description.Sphere(BALL), mass=MASS, pose=above, color=RED
    )
    pairs = wd.ContactPairs(scene).only("ball").with_ground("ball")
    envs = len(STRENGTHS)
    effort = np.tile(STRENGTHS[:, None], 1 + 2 * FINGERS)
    effort[:, 0] = 20.0  # of the wrist
    stiffness = np.array([100.0, *np.full(2 * FINGERS, 1.0)])
    sim = wd.Simulation(
        scene,
        envs,
        points=[],
        pairs=pairs,
        control=wd.PD(stiffness, stiffness / 20, effort),
        start=[*angles(0.0, OPEN), *above, 0.0, 0.0, 0.0, 1.0],
        dt=STEP,
        substeps=SUBSTEPS,
        dtype="float64",
    )
    configurations, places, forces = [], [], []
    for step in range(round(seconds / (STEP * SUBSTEPS))):
        t = step * STEP * SUBSTEPS
        turned = np.clip((t - TURN) / (TURNED - TURN), 0.0, 1.0)
        wrist = np.pi * turned**2 * (3 - 2 * turned)
        target = angles(wrist, OPEN + (CLOSED - OPEN) * min(1.0, t / CLOSE))
        sim.step(np.tile(target, (envs, 1)))
        palm = wd.fk(scene, sim.q, frame="palm")
        away = sim.body("ball").pose[:, :3] - palm[:, :3, 3]
        tips = [sim.force_between(f"finger{n}_upper", "ball") for n in range(FINGERS)]
        configurations.append(sim.q.copy())
        places.append(np.einsum("bij,bi->bj", palm[:, :3, :3], away))
        forces.append(np.linalg.norm(tips, axis=2).max(0))
    return scene, np.array(configurations), np.array(places), np.array(forces)


def draw(places: np.ndarray, forces: np.ndarray, file: str) -> None:
    """Distances of the balls from the palm and forces of the fingertips over time."""
    from matplotlib.figure import Figure

    times = STEP * SUBSTEPS * (1 + np.arange(len(places)))
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    for n, strength in enumerate(STRENGTHS):
        upper.plot(times, 1000 * np.linalg.norm(places[:, n], axis=1), label=f"{strength:g} N·m")
        lower.plot(times, forces[:, n])
    upper.axvspan(TURN, TURNED, color="#dddddd", label="the hand turns")
    upper.set_ylabel("ball to palm [mm]")
    upper.set_ylim(0.0, 120.0)
    upper.legend(fontsize="small", loc="lower right")
    lower.set_ylabel("force of a fingertip [N]")
    lower.set_xlabel("time [s]")
    figure.savefig(file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=6.0, help="default: 6")
    parser.add_argument("--plot", metavar="FILE", help="draw distances and forces over time")
    arguments = parser.parse_args()
    _, _, places, forces = simulate(arguments.seconds)
    before = places[min(round(TURN / (STEP * SUBSTEPS)), len(places) - 1)]
    moved = np.linalg.norm(places[-1] - before, axis=1)
    for strength, distance, force in zip(STRENGTHS, moved, forces[-1], strict=True):
        held = f"holds the ball, which has moved {1000 * distance:.2f} mm in it"
        ends = held if distance < BALL else "has dropped the ball"
        print(
            f"torques of {strength:4.2f} N·m: fingertips press with {force:4.1f} N, the hand {ends}"
        )
    if arguments.plot:
        draw(places, forces, arguments.plot)
        print(f"picture: {arguments.plot}")


if __name__ == "__main__":
    main()
