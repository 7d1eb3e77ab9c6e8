"""A step of a simulation beside MuJoCo's `mj_step` on the same robot, points, drives and time step.

    python -m benchmarks.simulation [--envs 4096] [--rounds 11]

One thread. Both stand first, and what their feet carry is compared, before anything is timed. MuJoCo
computes in float64 and could collide anything; its model here has the same spheres and a plane.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
from tqdm import tqdm

import warpdyn as wd

from .interleave import Turn, take_turns
from .simulators import OnGround, in_mujoco

DT, STEPS = 0.005, 100
"""Time step [s]; steps of MuJoCo in one run."""

SETTLED = 4.0
"""Seconds after which a robot stands."""

LEGS = ("FL", "FR", "RL", "RR")
QUADRUPED_STANCE = [0.1, 0.8, -1.5, -0.1, 0.8, -1.5, 0.1, 1.0, -1.5, -0.1, 1.0, -1.5]


class Scene:
    """A robot, where it begins, its gains and what touches."""

    def __init__(self, name: str, height: float, stance: Sequence[float], gains: Any, feet: str):
        self.name, self.gains = name, gains
        self.model = wd.load_robot(name).with_armature(0.01)
        self.points = wd.ContactPoints(self.model).only(feet)
        joints = list(stance) or [0.0] * (self.model.nv - 6)
        self.start = np.array([0, 0, height, 0, 0, 0, 1, *joints])
        self.weight = self.model.total_mass * 9.81

    def simulation(self, envs: int, dtype: str, sweeps: int, substeps: int) -> wd.Simulation:
        return wd.Simulation(
            self.model,
            envs,
            points=self.points,
            control=wd.PD(*self.gains),
            **{"start": self.start, "dt": DT, "sweeps": sweeps, "substeps": substeps},
            dtype=dtype,
        )

    def mujoco(self) -> tuple[Any, Any]:
        """MuJoCo's model with a plane, the same spheres, drives and step; its state at the start."""
        return in_mujoco.built(
            OnGround(
                self.name,
                wd.load_robot(self.name).to_urdf(),
                self.points,
                self.start,
                gains=self.gains,
                armature=0.01,
            ),
            DT,
        )


def compared(scene: Scene, envs: int, rounds: int) -> list[str]:
    """Lines of the table for one robot."""
    robot, data = scene.mujoco()
    ours = {
        (dtype, sweeps, substeps): scene.simulation(envs, dtype, sweeps, substeps)
        for dtype, sweeps, substeps in (
            ("float32", 4, 1),
            ("float32", 4, 4),
            ("float32", 8, 4),
            ("float64", 4, 4),
        )
    }
    mujoco.mj_step(robot, data, nstep=round(SETTLED / DT))
    stands = [in_mujoco.carried(robot, data)[2] / scene.weight]
    for (_, _, substeps), sim in ours.items():
        for _ in tqdm(range(round(SETTLED / DT / substeps)), desc=scene.name, leave=False):
            sim.step(scene.start[7:])
        stands.append(float(sim.forces[:, :, 2].sum(1).mean()) / scene.weight)
    if max(abs(x - 1) for x in stands) > 0.01:
        raise RuntimeError(f"{scene.name} does not stand: feet carry {stands} of its weight")
    theirs = Turn(lambda: mujoco.mj_step(robot, data, nstep=STEPS), STEPS)
    turns = {key: Turn(sim.step, envs * key[2]) for key, sim in ours.items()}
    take_turns([theirs, *turns.values()], rounds)
    peer = theirs.figures["ns"]
    lines = [f"| {scene.name} | MuJoCo {mujoco.__version__}, float64 | {peer:,.0f} | 1 |"]
    for (dtype, sweeps, substeps), turn in turns.items():
        ns = turn.figures["ns"]
        what = f"{dtype}, {sweeps} sweeps, {substeps} steps a launch"
        lines.append(f"| {scene.name} | {what} | {ns:,.0f} | {peer / ns:.0f} |")
    return lines


def residuals(scene: Scene, envs: int = 256, steps: int = 400) -> list[str]:
    """What sweeps leave undone: forces after n sweeps against those after 400 from the same state,
    along roll-outs that are thrown and driven at random, in parts of the weight."""
    rng = np.random.default_rng(0)
    sim = scene.simulation(envs, "float64", 4, 1)
    sim.start[:, 2] = rng.uniform(scene.start[2], scene.start[2] + 0.2, envs)
    sim.reset(v=rng.normal(size=(envs, scene.model.nv)))
    targets = np.tile(scene.start[7:], (envs, 1))
    options = {"points": scene.points, "control": sim.control, "targets": targets, "dt": DT}
    kept: dict[int, list[np.ndarray]] = {2: [], 4: [], 8: [], 50: []}
    for k in tqdm(range(steps), desc="residuals", leave=False):
        if k % 20 == 0:
            targets[:] = scene.start[7:] + rng.normal(scale=0.3, size=targets.shape)
        if k % 10 == 5:
            state = (scene.model, sim.q, sim.v, sim.tau)
            found = {
                n: wd.step(*state, impulses=sim.impulses, sweeps=n, **options).forces
                for n in (*kept, 400)
            }
            for n, rest in kept.items():
                rest.append(np.linalg.norm(found[n] - found[400], axis=(1, 2)) / scene.weight)
        sim.step(targets)
    return [
        f"| {scene.name} | {n} | {np.mean(x):.1e} | {np.percentile(x, 99):.1e} | {np.max(x):.1e} |"
        for n, x in kept.items()
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--envs", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--robot", choices=("quadruped", "humanoid"), action="append")
    parser.add_argument("--residuals", action="store_true", help="of sweeps, instead of times")
    arguments = parser.parse_args()
    wd.set_num_threads(1)
    scenes = {
        "quadruped": ("quadruped", 0.32, QUADRUPED_STANCE, (40.0, 1.0), "*_foot"),
        "humanoid": ("humanoid", 0.79, (), (300.0, 10.0), "*_ankle_roll_link"),
    }
    if arguments.residuals:
        print("| robot | sweeps | mean | 99 % | worst |\n|---|---|---|---|---|")
        for name in arguments.robot or scenes:
            print("\n".join(residuals(Scene(*scenes[name]))))
        return
    print(f"{arguments.envs} environments, one thread, median of {arguments.rounds} rounds in turn")
    print("| robot | what | ns an environment and step | times MuJoCo |\n|---|---|---|---|")
    for name in arguments.robot or scenes:
        print("\n".join(compared(Scene(*scenes[name]), arguments.envs, arguments.rounds)))


if __name__ == "__main__":
    main()
