"""An arm grasps a cube, lifts it and holds it, by contacts between its fingers and the cube.

Several Pandas grasp equal cubes with different friction. If the friction is too small for the weight, the cube slips
out of the hand.
"""

from __future__ import annotations

import argparse

import numpy as np

import warpdyn as wd

HAND = "panda_hand_tcp"
SIDE, MASS = 0.04, 0.4  # of the cube, m and kg
RED = 0.85, 0.2, 0.15
STEP, SUBSTEPS = 0.002, 5  # s
FRICTIONS = np.array([0.05, 0.1, 0.2, 0.4, 0.8])
STIFFNESS = np.array([4500, 4500, 3500, 3500, 2000, 2000, 2000, 2000])  # of the drives, N·m and N
DAMPING = STIFFNESS / 10


def reach(arm: wd.Model, height: float) -> np.ndarray:
    """A configuration with the hand above the table, its fingers downwards and open."""
    target = np.diag([1.0, -1.0, -1.0, 1.0])
    target[:3, 3] = 0.5, 0.0, height
    near = np.array([0.0, 0.3, 0.0, -2.2, 0.0, 2.5, 0.785, 0.04])
    found = wd.inverse_kinematics(arm, target, q0=near, frame=HAND)
    return np.array([*found.q[:7], SIDE / 2 + 0.002])


def simulate(seconds: float) -> tuple[wd.Simulation, np.ndarray, np.ndarray, np.ndarray]:
    """The simulation at its end, times, heights of the cubes (steps, envs), and forces of the left
    finger (steps, envs)."""
    arm = wd.load_robot("panda")
    below, above = reach(arm, SIDE / 2), reach(arm, 0.25)
    cube = wd.description.Box(SIDE, SIDE, SIDE)
    scene = arm.with_object("cube", cube, mass=MASS, pose=(0.5, 0.0, SIDE / 2), color=RED)
    pairs = wd.ContactPairs(scene).only(("panda_*finger", "cube")).with_ground("cube")
    sim = wd.Simulation(
        scene,
        len(FRICTIONS),
        points=[],
        pairs=pairs,
        pair_contact=wd.description.PairContact(friction=np.tile(FRICTIONS[:, None], len(pairs))),
        control=wd.PD(STIFFNESS, DAMPING),
        start=[*below, 0.5, 0.0, SIDE / 2, 0.0, 0.0, 0.0, 1.0],
        dt=STEP,
        substeps=SUBSTEPS,
        dtype="float64",
    )
    times, heights, forces = [], [], []
    for step in range(round(seconds / (STEP * SUBSTEPS))):
        t = step * STEP * SUBSTEPS
        lifted = np.clip(t - 1.0, 0.0, 1.0)
        target = below + (above - below) * lifted**2 * (3 - 2 * lifted)
        # The fingers close in 0.3 s. Their targets lie 15 mm inside the cube: 30 N.
        target[7] = below[7] - 0.017 * min(1.0, t / 0.3)
        sim.step(np.tile(target, (len(FRICTIONS), 1)))
        times.append(t)
        heights.append(sim.body("cube").pose[:, 2].copy())
        forces.append(np.linalg.norm(sim.force_between("panda_leftfinger", "cube"), axis=1))
    return sim, np.array(times), np.array(heights), np.array(forces)


def draw(times: np.ndarray, heights: np.ndarray, forces: np.ndarray, file: str) -> None:
    """Heights of the cubes and forces of a finger over time."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    for n, friction in enumerate(FRICTIONS):
        upper.plot(times, heights[:, n], label=f"friction {friction:g}")
        lower.plot(times, forces[:, n])
    upper.set_ylabel("height of the cube [m]")
    upper.legend(fontsize="small")
    lower.set_ylabel("force of a finger [N]")
    lower.set_xlabel("time [s]")
    figure.savefig(file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4.0, help="default: 4")
    parser.add_argument("--plot", metavar="FILE", help="draw heights and forces over time")
    arguments = parser.parse_args()
    _, times, heights, forces = simulate(arguments.seconds)
    for friction, height, force in zip(FRICTIONS, heights[-1], forces[-1], strict=True):
        print(
            f"friction {friction:4.2f}: the cube is {height:.3f} m high, a finger presses with {force:4.1f} N"
        )
    if arguments.plot:
        draw(times, heights, forces, arguments.plot)
        print(f"picture: {arguments.plot}")


if __name__ == "__main__":
    main()
