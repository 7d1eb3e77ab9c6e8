"""A pyramid of six boxes stands for five seconds. Then a ball knocks it over.

Balls of different speeds hit equal pyramids.
"""

from __future__ import annotations

import argparse

import numpy as np

import warpdyn as wd

ROWS = 3
SIDE, MASS = 0.1, 0.5  # of a box, m and kg
RADIUS, WEIGHT = 0.06, 2.0  # radius and mass of the ball, m and kg
SPEEDS = np.array([0.5, 1.0, 2.0, 4.0, 8.0])  # of the balls, m/s
FLIGHT = 0.1  # s, from the throw to the pyramid
FALL = 2.0  # s, from the throw to the end
STEP, SUBSTEPS = 0.002, 5  # s


def pyramid() -> tuple[wd.Model, list[str]]:
    """A yard with a pyramid of boxes and a ball far away, and the names of the boxes."""
    model = wd.ModelBuilder("yard").add_link("yard").build()
    box = wd.description.Box(SIDE, SIDE, SIDE)
    boxes = []
    for row in range(ROWS):
        for k in range(ROWS - row):
            boxes.append(f"box_{row}{k}")
            x = 1.1 * SIDE * (k - (ROWS - row - 1) / 2)
            at, shade = (x, 0.0, SIDE * (row + 0.5)), (0.9 - 0.2 * row, 0.55, 0.25 + 0.2 * row)
            model = model.with_object(boxes[-1], box, mass=MASS, pose=at, color=shade)
    ball, there = wd.description.Sphere(RADIUS), (0.0, -2.0, RADIUS)
    return model.with_object("ball", ball, mass=WEIGHT, pose=there, color=(0.2, 0.3, 0.8)), boxes


def simulate(seconds: float) -> tuple[wd.Model, np.ndarray, np.ndarray, np.ndarray]:
    """The scene, its configurations (steps, envs, nq), the speed of the fastest box (steps, envs)
    in m/s, and the number of boxes that have left their places (steps, envs). The balls are thrown
    after `seconds`."""
    scene, boxes = pyramid()
    pairs = wd.ContactPairs(scene).with_ground(*boxes, "ball")
    sim = wd.Simulation(
        scene, len(SPEEDS), points=[], pairs=pairs, dt=STEP, substeps=SUBSTEPS, dtype="float64"
    )
    bodies = [sim.body(name) for name in boxes]
    places = np.stack([body.pose[:, :3] for body in bodies], axis=1)
    throw = round(seconds / (STEP * SUBSTEPS))
    configurations, speeds, fallen = [], [], []
    for step in range(throw + round(FALL / (STEP * SUBSTEPS))):
        if step == throw:
            velocity = np.zeros((len(SPEEDS), 6))
            # The ball arrives at the height from which it was thrown.
            velocity[:, 1], velocity[:, 2] = SPEEDS, 9.81 * FLIGHT / 2
            pose = np.zeros((len(SPEEDS), 7))
            pose[:, 1] = -SIDE / 2 - RADIUS - FLIGHT * SPEEDS
            pose[:, 2], pose[:, 6] = 1.5 * SIDE, 1.0
            sim.body("ball").reset(pose=pose, velocity=velocity)
        sim.step()
        at = np.stack([body.pose[:, :3] for body in bodies], axis=1)
        moved = np.linalg.norm(at - places, axis=2)
        configurations.append(sim.q.copy())
        speeds.append(np.max([np.linalg.norm(x.velocity[:, :3], axis=1) for x in bodies], axis=0))
        fallen.append((moved > SIDE / 2).sum(1))
    return scene, np.array(configurations), np.array(speeds), np.array(fallen)


def draw(speeds: np.ndarray, fallen: np.ndarray, file: str) -> None:
    """The speed of the fastest box and the number of boxes that have left their places."""
    from matplotlib.figure import Figure

    times = STEP * SUBSTEPS * (1 + np.arange(len(speeds)))
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    for n, speed in enumerate(SPEEDS):
        upper.semilogy(times, np.maximum(speeds[:, n], 1e-7), label=f"ball at {speed:g} m/s")
        lower.plot(times, fallen[:, n])
    upper.set_ylabel("fastest box [m/s]")
    upper.legend(fontsize="small")
    lower.set_ylabel("boxes out of place")
    lower.set_xlabel("time [s]")
    figure.savefig(file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    text = "time before the balls are thrown; default: 5"
    parser.add_argument("--seconds", type=float, default=5.0, help=text)
    parser.add_argument("--plot", metavar="FILE", help="draw speeds and fallen boxes over time")
    arguments = parser.parse_args()
    _, _, speeds, fallen = simulate(arguments.seconds)
    standing = speeds[: round(arguments.seconds / (STEP * SUBSTEPS))]
    # In the first half second the boxes settle into the ground and into each other.
    settled = standing[50:] if len(standing) > 50 else standing
    print(f"for {arguments.seconds:g} s the fastest box moved with {settled.max():.1e} m/s at most")
    for speed, number in zip(SPEEDS, fallen[-1], strict=True):
        print(
            f"a ball at {speed:3.1f} m/s: {number} of {ROWS * (ROWS + 1) // 2} boxes left their places"
        )
    if arguments.plot:
        draw(speeds, fallen, arguments.plot)
        print(f"picture: {arguments.plot}")


if __name__ == "__main__":
    main()
