"""Time of a simulation step compared with MuJoCo's `mj_step`: same robot, points, drives and time step.

    python -m benchmarks.simulation [--envs 4096] [--rounds 11] [--residuals] [--threads]

One thread. The robots stand first, and their foot forces are compared before anything is timed. MuJoCo
computes in float64 and could collide any shapes; its model here has the same spheres and a plane.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
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

QUADRUPED_STANCE = [0.1, 0.8, -1.5, -0.1, 0.8, -1.5, 0.1, 1.0, -1.5, -0.1, 1.0, -1.5]

PANDA_HOME = [0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785]


class Scene:
    """A robot with its first state, gains and contact points; without feet, for example an arm, no contacts."""

    def __init__(self, name: str, height: float, stance: Sequence[float], gains: Any, feet: str):
        self.name, self.gains = name, gains
        self.robot = wd.load_robot(name)
        if stance:  # the first joints have drives; a gripper behind them is locked
            self.robot = self.robot.reduce(self.robot.joint_names[: len(stance)])
        self.model = self.robot.with_armature(0.01)
        self.points = wd.ContactPoints(self.model).only(feet) if feet else ()
        self.free = 6 if self.model.floating_base else 0
        base = [0, 0, height, 0, 0, 0, 1] if self.free else []
        joints = list(stance) or [0.0] * (self.model.nv - self.free)
        self.start = np.array([*base, *joints], float)
        self.targets = self.start[len(base) :]
        self.weight = self.model.total_mass * 9.81

    def simulation(
        self, envs: int, dtype: str, sweeps: int, substeps: int, terrain: Any = None
    ) -> wd.Simulation:
        return wd.Simulation(
            self.model,
            envs,
            points=self.points,
            control=wd.PD(*self.gains),
            start=self.start,
            dt=DT,
            sweeps=sweeps,
            substeps=substeps,
            terrain=terrain,
            dtype=dtype,
        )

    def mujoco(self) -> tuple[Any, Any]:
        """MuJoCo's model with a plane and the same spheres, drives and step, and its state at the start."""
        scene = OnGround(
            self.name,
            self.robot.to_urdf(),
            self.points,
            self.start,
            gains=self.gains,
            armature=0.01,
            free=bool(self.free),
        )
        return in_mujoco.build(scene, DT)


def compare(scene: Scene, envs: int, rounds: int) -> list[str]:
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
    for (_, _, substeps), sim in ours.items():
        for _ in tqdm(range(round(SETTLED / DT / substeps)), desc=scene.name, leave=False):
            sim.step(scene.targets)
    if scene.points:
        stands = [in_mujoco.contact_force(robot, data)[2] / scene.weight]
        stands += [float(sim.forces[:, :, 2].sum(1).mean()) / scene.weight for sim in ours.values()]
        if max(abs(x - 1) for x in stands) > 0.01:
            raise RuntimeError(
                f"{scene.name} does not stand: its feet carry {stands} of its weight"
            )
    else:
        off = max(float(np.abs(sim.q - data.qpos).max()) for sim in ours.values())
        if off > 1e-3:
            raise RuntimeError(f"{scene.name} is held {off} rad from where MuJoCo holds it")
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


def by_threads(scene: Scene, envs: int, rounds: int) -> list[str]:
    """Print the gain of a second thread, from the best turns of each."""
    sims = {n: scene.simulation(envs, "float32", 4, 4) for n in (1, 2)}
    turns = {}
    for n, sim in sims.items():

        def run(n: int = n, sim: wd.Simulation = sim) -> None:
            wd.runtime.set_num_threads(n)
            sim.step(scene.targets)

        turns[n] = Turn(run, envs * 4)
    take_turns([*turns.values()], rounds)
    one, two = (min(turns[n].samples) for n in (1, 2))
    return [f"| {scene.name} | {envs} environments, 2 threads | {one / two:.2f} times one |"]


def on_terrain(scene: Scene, envs: int, rounds: int) -> list[str]:
    """Lines of the table for one robot on a flat ground, a plane and height maps.

    On a map of 40 m by 40 m all robots are at one place, or each at another one. Ratios are within rounds.
    """
    rng = np.random.default_rng(0)
    small = wd.HeightMap.generate("rough", 0.2)
    wide, coarse = wd.HeightMap.tiles(), wd.HeightMap.tiles(cell=0.1)
    places = np.zeros((envs, 3), np.float32)
    places[:, :2] = rng.uniform(-18.0, 18.0, (envs, 2))
    lines = []
    for substeps in (1, 4):
        grounds = {
            "flat": None,
            "a slope": wd.Plane((0.1, 0.0)),
            "a height map": small,
            "a height map, places": wide.with_offset(places),
            "a height map of 0.1 m cells, places": coarse.with_offset(places),
        }
        sims = {
            what: scene.simulation(envs, "float32", 4, substeps, terrain)
            for what, terrain in grounds.items()
        }
        for what, sim in sims.items():
            if (
                sim.terrain is grounds["a height map, places"]
            ):  # each robot at the height of the ground below it
                scan = wd.height_scan(
                    scene.model, sim.q, np.zeros((1, 2), np.float32), terrain=sim.terrain
                )
                places[:, 2] = scene.start[2] - scan[:, 0]
            for _ in tqdm(range(round(SETTLED / DT / substeps)), desc=what, leave=False):
                sim.step(scene.start[7:])
        times = np.array([[_seconds(sim.step) for sim in sims.values()] for _ in range(3 * rounds)])
        ns = np.median(times, 0) / (envs * substeps) * 1e9
        ratios = np.median(times / times[:, :1], 0)
        for what, each, ratio in zip(sims, ns, ratios, strict=True):
            what = f"{what}, {substeps} steps a launch"
            lines.append(f"| {scene.name} | {what} | {each:,.0f} | {ratio:.3f} |")
    return lines


def _seconds(run: Callable[[], Any]) -> float:
    """CPU time of a run on this thread, the minimum of three."""
    taken = []
    for _ in range(3):
        begin = time.thread_time()
        run()
        taken.append(time.thread_time() - begin)
    return min(taken)


def residuals(scene: Scene, envs: int = 256, steps: int = 400) -> list[str]:
    """Print the remaining error of sweeps: forces after n sweeps compared with those after 400 sweeps.

    The states are those of random roll-outs. The error is relative to the weight.
    """
    rng = np.random.default_rng(0)
    sim = scene.simulation(envs, "float64", 4, 1)
    sim.start[:, 2] = rng.uniform(scene.start[2], scene.start[2] + 0.2, envs)
    sim.reset(v=rng.normal(size=(envs, scene.model.nv)))
    targets = np.tile(scene.targets, (envs, 1))
    options = {"points": scene.points, "control": sim.control, "targets": targets, "dt": DT}
    kept: dict[int, list[np.ndarray]] = {2: [], 4: [], 8: [], 50: []}
    for k in tqdm(range(steps), desc="residuals", leave=False):
        if k % 20 == 0:
            targets[:] = scene.targets + rng.normal(scale=0.3, size=targets.shape)
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
    parser.add_argument("--robot", choices=("quadruped", "humanoid", "panda"), action="append")
    parser.add_argument(
        "--residuals", action="store_true", help="print residuals of sweeps instead of times"
    )
    parser.add_argument("--threads", action="store_true", help="two beside one")
    parser.add_argument(
        "--terrain", action="store_true", help="compare uneven ground with flat ground"
    )
    arguments = parser.parse_args()
    wd.runtime.set_num_threads(1)
    scenes = {
        "quadruped": ("quadruped", 0.32, QUADRUPED_STANCE, (40.0, 1.0), "*_foot"),
        "humanoid": ("humanoid", 0.79, (), (300.0, 10.0), "*_ankle_roll_link"),
        "panda": ("panda", 0.0, PANDA_HOME, (600.0, 30.0), ""),
    }
    if arguments.threads:
        for name in arguments.robot or scenes:
            print("\n".join(by_threads(Scene(*scenes[name]), arguments.envs, arguments.rounds)))
        return
    if arguments.residuals:
        print("| robot | sweeps | mean | 99 % | worst |\n|---|---|---|---|---|")
        for name in arguments.robot or scenes:
            print("\n".join(residuals(Scene(*scenes[name]))))
        return
    print(f"{arguments.envs} environments, one thread, median of {arguments.rounds} rounds in turn")
    against, lines = ("of flat", on_terrain) if arguments.terrain else ("times MuJoCo", compare)
    print(f"| robot | what | ns an environment and step | {against} |\n|---|---|---|---|")
    for name in arguments.robot or scenes:
        print("\n".join(lines(Scene(*scenes[name]), arguments.envs, arguments.rounds)))


if __name__ == "__main__":
    main()
