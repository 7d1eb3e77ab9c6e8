"""An arm pushes a cube over a table to a goal, by contacts between its closed fingers and the cube.

Several Pandas have different goals. Fifty times per second the controller reads the position of the cube, and the hand
pushes it along the line to the goal.
"""

from __future__ import annotations

import argparse

import numpy as np

import warpdyn as wd

HAND = "panda_hand_tcp"
SIDE, MASS = 0.05, 0.2  # of the cube, m and kg
RED = 0.85, 0.2, 0.15
START = np.array([0.45, 0.0])  # of the cube, m
GOALS = np.array([[0.65, 0.0], [0.62, 0.1], [0.62, -0.1], [0.55, 0.12], [0.55, -0.12]])  # m
HEIGHT = 0.02  # of the fingertips, m
BEHIND, ASIDE = 0.06, 0.015  # largest distances of the hand from the cube to push it, m
SPEED = 0.12  # of the hand, m/s
# Distances from the goal at which the hand slows down and stops turning, m.
SLOW, CLOSE = 0.03, 0.02
CENTRE = 3.0  # speed of the hand towards the line through cube and goal, per distance from it, 1/s
STEP, SUBSTEPS = 0.002, 10  # s
STIFFNESS = np.array([4500, 4500, 3500, 3500, 2000, 2000, 2000, 2000])  # of the drives, N·m and N
DAMPING = STIFFNESS / 10


def poses(places: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Poses (n, 4, 4) of hands that point down at places (n, 2), with their fingers perpendicular to
    the directions (n, 2)."""
    found = np.zeros((len(places), 4, 4))
    found[:, :2, 0] = directions
    found[:, :2, 1] = np.stack([directions[:, 1], -directions[:, 0]], axis=1)
    found[:, 2, 2], found[:, 3, 3] = -1.0, 1.0
    found[:, :2, 3], found[:, 2, 3] = places, HEIGHT
    return found


class Push:
    """The hands of all arms: places (envs, 2), the directions of their pushes (envs, 2), and which
    of them are done (envs,)."""

    def __init__(self) -> None:
        self.hand = np.tile(START - [BEHIND, 0.0], (len(GOALS), 1))
        self.ahead = np.tile([1.0, 0.0], (len(GOALS), 1))
        self.done = np.zeros(len(GOALS), bool)

    def move(self, cube: np.ndarray, seconds: float) -> None:
        """Move the hands for some time, with the cubes at places (envs, 2)."""
        away = GOALS - cube
        distance = np.linalg.norm(away, axis=1, keepdims=True)
        self.ahead = np.where(distance > CLOSE, away / np.maximum(distance, CLOSE), self.ahead)
        left = np.sum(away * self.ahead, axis=1, keepdims=True)  # of the way in this direction
        self.done |= left[:, 0] < 0.0
        back = np.sum((cube - self.hand) * self.ahead, axis=1, keepdims=True)
        aside = cube - self.hand - back * self.ahead
        push = SPEED * np.clip(left / SLOW, 0.1, 1.0) * self.ahead + CENTRE * aside
        around = (aside + (back - BEHIND) * self.ahead) / 0.1  # to the place behind the cube
        far = np.linalg.norm(aside, axis=1, keepdims=True) > ASIDE
        velocity = np.where(far, around, push)
        speed = np.linalg.norm(velocity, axis=1, keepdims=True)
        velocity *= np.minimum(1.0, SPEED / np.maximum(speed, 1e-9))
        self.hand += np.where(self.done, 0.0, seconds)[:, None] * velocity


def simulate(seconds: float) -> tuple[wd.Model, np.ndarray, np.ndarray]:
    """The scene, its configurations (steps, envs, nq), and distances of the cubes from their goals
    (steps, envs)."""
    arm, envs, push = wd.load_robot("panda"), len(GOALS), Push()
    cube = wd.description.Box(SIDE, SIDE, SIDE)
    scene = arm.with_object("cube", cube, mass=MASS, pose=(*START, SIDE / 2), color=RED)
    pairs = wd.ContactPairs(scene).only(("panda_*finger", "cube")).with_ground("cube")
    near = np.tile([0.0, 0.3, 0.0, -2.2, 0.0, 2.5, 0.785, 0.0], (envs, 1))

    def reach(q: np.ndarray) -> np.ndarray:
        """Configurations of the arms for the poses of their hands, with closed fingers."""
        target = poses(push.hand, push.ahead)
        found = wd.inverse_kinematics(arm, target, q0=q, frame=HAND).q
        found[:, 7] = 0.0
        return found

    q = reach(near)
    lies = np.tile([*START, SIDE / 2, 0.0, 0.0, 0.0, 1.0], (envs, 1))
    sim = wd.Simulation(
        scene,
        envs,
        points=[],
        pairs=pairs,
        control=wd.PD(STIFFNESS, DAMPING),
        start=np.concatenate([q, lies], axis=1),
        dt=STEP,
        substeps=SUBSTEPS,
        dtype="float64",
    )
    configurations, distances = [], []
    for _ in range(round(seconds / (STEP * SUBSTEPS))):
        push.move(sim.body("cube").pose[:, :2], STEP * SUBSTEPS)
        q = reach(q)
        sim.step(q)
        configurations.append(sim.q.copy())
        distances.append(np.linalg.norm(GOALS - sim.body("cube").pose[:, :2], axis=1))
    return scene, np.array(configurations), np.array(distances)


def draw(configurations: np.ndarray, distances: np.ndarray, file: str) -> None:
    """Paths of the cubes, and their distances from the goals over time."""
    from matplotlib.figure import Figure

    times = STEP * SUBSTEPS * (1 + np.arange(len(distances)))
    figure = Figure(figsize=(9, 3.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    for n, goal in enumerate(GOALS):
        x, y = configurations[:, n, -7], configurations[:, n, -6]
        (line,) = left.plot(x, y)
        left.plot(*goal, "x", color=line.get_color())
        right.semilogy(times, 1000 * distances[:, n])
    left.set_aspect("equal")
    left.set_xlabel("x of the cube [m]")
    left.set_ylabel("y [m]")
    right.set_xlabel("time [s]")
    right.set_ylabel("distance from the goal [mm]")
    figure.savefig(file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4.0, help="default: 4")
    parser.add_argument("--plot", metavar="FILE", help="draw paths of the cubes and distances")
    arguments = parser.parse_args()
    _, configurations, distances = simulate(arguments.seconds)
    for (x, y), distance in zip(GOALS, distances[-1], strict=True):
        print(f"goal ({x:.2f}, {y:5.2f}) m: the cube lies {1000 * distance:.1f} mm from it")
    if arguments.plot:
        draw(configurations, distances, arguments.plot)
        print(f"picture: {arguments.plot}")


if __name__ == "__main__":
    main()
