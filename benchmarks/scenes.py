"""Contacts between bodies compared with MuJoCo C: an arm that grasps a cube, hands, a humanoid, and piles.

    taskset -c 1 python -m benchmarks.scenes [grasp hand fingers humanoid pile-2 pile-3 pile-5 pile-8 pile-12]
                                             [--envs 4096]
    python -m benchmarks.scenes grasp pile-3 --thrown 10000000

Both simulate the same masses, shapes, drives and friction at the same time step. MuJoCo has elliptic
cones, `implicitfast` and `impratio` 10, and computes in float64 on one thread. warpdyn computes in
float32 on the cores of the process. Both scenes settle first and are then timed in turns. `--thrown`
instead computes this number of steps from random states, many with overlapping bodies, and counts
states that are not finite.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from lxml import etree
from tqdm import tqdm

import warpdyn as wd
from warpdyn.algorithms.simulation.contact_shapes import GROUND, ContactPair, ContactShape
from warpdyn.cli.hardware import processor
from warpdyn.peers.mujoco_scene import Drives, mujoco_scene

from .hand_scene import Fingers, Hand
from .interleave import Turn, take_turns

DT, SUBSTEPS, SWEEPS = 0.002, 5, 4
FRICTION, HALF, MASS = 0.8, 0.02, 0.1
"""Friction, half of the side [m] and mass [kg] of each cube."""

PAD, PAD_AT = (0.01, 0.004, 0.01), (0.004, 0.045)
"""A finger's pad: half lengths, and its place across and along the finger [m]."""

STEPS = 200
"""Steps of MuJoCo in one run."""

HAND = "panda_hand_tcp"
KP = np.array([4500, 4500, 3500, 3500, 2000, 2000, 2000, 2000, 2000.0])
KD = np.array([450, 450, 350, 350, 200, 200, 200, 100, 100.0])


@dataclass
class Result:
    """Result of one scene: contacts, ns per step of each, the ratio of MuJoCo's time to warpdyn's, seconds of
    the first call, and warpdyn's largest speed at the end [m/s, rad/s]."""

    scene: str
    contacts: int
    ns: float
    mujoco_ns: float
    ratio: float
    first_call: float
    speed: float
    failures: float
    slip_mm: float | None = None
    mujoco_slip_mm: float | None = None


def arm() -> wd.Model:
    """A Panda with independent fingers, because MuJoCo's URDF reader has no mimic joints."""
    root = etree.fromstring(wd.load_robot("panda").to_urdf().encode())
    for mimic in list(root.iter("mimic")):
        mimic.getparent().remove(mimic)
    return wd.load(etree.tostring(root))


class Grasp:
    """A Panda closes its fingers on a cube with 30 N, lifts it by 23 cm from 1 to 2 s, and holds it."""

    name = "grasp"
    settles = 0.9

    def __init__(self) -> None:
        self.arm = arm()
        self.low = self._reach(HALF)
        self.high = self._reach(0.25)
        place = (0.5, 0.0, HALF)
        cube = wd.description.Box(2 * HALF, 2 * HALF, 2 * HALF)
        self.model = self.arm.with_object("cube", cube, mass=MASS, pose=place)
        self.start = [*self.low, 0.0205, 0.0205, *place, 0.0, 0.0, 0.0, 1.0]
        shape = ContactShape("cube", "box", (HALF, HALF, HALF))
        pads = (
            ContactShape(f"panda_{side}finger", "box", PAD, (0.0, sign * PAD_AT[0], PAD_AT[1]))
            for side, sign in (("left", 1.0), ("right", -1.0))
        )
        self.pairs = [ContactPair(GROUND, shape), *(ContactPair(pad, shape) for pad in pads)]
        self.control = wd.PD(KP, KD)

    def _reach(self, height: float) -> np.ndarray:
        target = np.diag([1.0, -1.0, -1.0, 1.0])
        target[:3, 3] = 0.5, 0.0, height
        near = [0.0, 0.3, 0.0, -2.2, 0.0, 2.5, 0.785, 0.04, 0.04]
        found = wd.inverse_kinematics(self.arm, target, q0=np.array(near), frame=HAND)
        return np.asarray(found.q)[:7]

    def targets(self, t: float) -> np.ndarray:
        """Targets of the drives at time `t`."""
        s = np.clip(t - 1.0, 0.0, 1.0)
        closing = 0.0155 * np.clip((t - 0.05) / 0.3, 0.0, 1.0)
        joints = self.low + (self.high - self.low) * s * s * (3 - 2 * s)
        return np.array([*joints, 0.0205 - closing, 0.0205 - closing])

    def in_mujoco(self) -> tuple[Any, Any]:
        """MuJoCo's model and state."""
        spec = mujoco_scene(self.arm, DT, drives=Drives(KP, KD, np.full(9, np.inf)))
        spec.option.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        for side, sign in (("left", 1.0), ("right", -1.0)):
            _add_box(spec.body(f"panda_{side}finger"), PAD, (0.0, sign * PAD_AT[0], PAD_AT[1]))
        spec.add_exclude(bodyname1="panda_leftfinger", bodyname2="panda_rightfinger")
        _add_cube(spec, "cube")
        robot, data = _compile(spec)
        data.qpos[:] = [*self.start[:12], 1.0, 0.0, 0.0, 0.0]
        return robot, data

    def slip(self, sim: wd.Simulation, robot: Any, data: Any) -> tuple[float, float]:
        """Sliding of the cube in the hand from 2 to 7 s, in warpdyn and MuJoCo [mm]."""
        ours, theirs = [], []
        for step in range(round(7.0 / (DT * SUBSTEPS))):
            target = self.targets((step + 1) * DT * SUBSTEPS)
            sim.step(np.tile(target, (sim.envs, 1)).astype(np.float32))
            data.ctrl[:] = target
            mujoco.mj_step(robot, data, SUBSTEPS)
            if step + 1 in (round(2.0 / (DT * SUBSTEPS)), round(7.0 / (DT * SUBSTEPS))):
                ours.append(self._in_hand(sim.q[0, :9], sim.q[0, 9:12]))
                theirs.append(self._in_hand(data.qpos[:9], data.qpos[9:12]))
        return tuple(1e3 * float(np.linalg.norm(x[1] - x[0])) for x in (ours, theirs))  # type: ignore[return-value]

    def _in_hand(self, q: np.ndarray, cube: np.ndarray) -> np.ndarray:
        T = wd.fk(self.arm, np.float64(q), frame=HAND)
        return np.asarray(T[:3, :3].T @ (np.float64(cube) - T[:3, 3]))


class Pile:
    """A stack of slightly shifted cubes that fall and come to rest. Every pair is a contact candidate."""

    settles = 2.4
    control = None

    def __init__(self, count: int) -> None:
        self.name, self.count = f"pile-{count}", count
        self.model = wd.ModelBuilder("floor").add_link("floor").build()
        cube = wd.description.Box(2 * HALF, 2 * HALF, 2 * HALF)
        for n in range(count):
            self.model = self.model.with_object(f"cube{n}", cube, mass=MASS)
        names = [f"cube{n}" for n in range(count)]
        self.pairs = wd.ContactPairs(self.model).with_ground(*names)
        random, self.start = np.random.default_rng(0), []
        for n in range(count):
            x, y = random.uniform(-0.012, 0.012, 2)
            turn = random.normal(size=4) * 0.15 + [0, 0, 0, 1]
            self.start += [x, y, 0.03 + 0.05 * n, *turn / np.linalg.norm(turn)]

    def targets(self, _: float) -> None:
        """None: there are no drives."""

    def in_mujoco(self) -> tuple[Any, Any]:
        """MuJoCo's model and state."""
        spec = mujoco.MjSpec()
        option = spec.option
        option.timestep, option.cone = DT, mujoco.mjtCone.mjCONE_ELLIPTIC
        option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        for n in range(self.count):
            _add_cube(spec, f"cube{n}")
        robot, data = _compile(spec)
        for n in range(self.count):
            *place, x, y, z, w = self.start[7 * n : 7 * n + 7]
            data.qpos[7 * n : 7 * n + 7] = [*place, w, x, y, z]
        return robot, data


class Humanoid:
    """Gymnasium's humanoid falls and lies on the ground. All pairs of its capsules and spheres are candidates."""

    name = "humanoid"
    settles = 2.0
    control = None

    def __init__(self) -> None:
        self.file = str(resources.files("gymnasium") / "envs/mujoco/assets/humanoid.xml")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", wd.ModelWarning)
            self.model = wd.load_mjcf(self.file)
        self.pairs = wd.ContactPairs(self.model)
        self.start = [*self.model.configurations["qpos0"]]

    def targets(self, _: float) -> None:
        """None: there are no drives."""

    def in_mujoco(self) -> tuple[Any, Any]:
        """MuJoCo's model of the same file, and its state."""
        spec = mujoco.MjSpec.from_file(self.file)
        option = spec.option
        option.timestep, option.cone = DT, mujoco.mjtCone.mjCONE_ELLIPTIC
        option.integrator, option.impratio = mujoco.mjtIntegrator.mjINT_IMPLICITFAST, 10
        robot = spec.compile()
        return robot, mujoco.MjData(robot)


Scene = Grasp | Hand | Pile | Humanoid

SCENES: dict[str, Callable[[], Scene]] = {
    "grasp": Grasp,
    "hand": lambda: Hand(DT, FRICTION, MASS),
    "fingers": lambda: Fingers(DT, FRICTION, MASS),
    "humanoid": Humanoid,
    **{f"pile-{n}": lambda n=n: Pile(n) for n in (2, 3, 5, 8, 12)},  # type: ignore[misc]
}


def _add_box(body: Any, half: Sequence[float], at: Sequence[float] = (0.0, 0.0, 0.0)) -> None:
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=half,
        pos=at,
        friction=[FRICTION, 0, 0],
        condim=3,
        mass=0,
    )


def _add_cube(spec: Any, name: str) -> None:
    body = spec.worldbody.add_body(name=name)
    body.add_freejoint()
    body.mass, body.inertia = MASS, [MASS * (2 * HALF) ** 2 / 6] * 3
    body.explicitinertial = True
    _add_box(body, (HALF, HALF, HALF))


def _compile(spec: Any) -> tuple[Any, Any]:
    """MuJoCo's model with a floor, and its state."""
    spec.option.impratio = 10
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE, size=[1, 1, 0.1], friction=[FRICTION, 0, 0], condim=3
    )
    robot = spec.compile()
    return robot, mujoco.MjData(robot)


def simulation(scene: Scene, envs: int, device: str = "cpu") -> wd.Simulation:
    """warpdyn's simulation of the scene."""
    return wd.Simulation(
        scene.model,
        envs,
        points=None if isinstance(scene, Humanoid) else [],
        pairs=scene.pairs,
        pair_contact=wd.description.PairContact(friction=FRICTION),
        control=scene.control,
        dt=DT,
        substeps=SUBSTEPS,
        sweeps=SWEEPS,
        start=scene.start,
        gravity=scene.gravity if isinstance(scene, Hand) else (0.0, 0.0, -9.81),
        stops=None if isinstance(scene, Humanoid) else "none",
        device=None if device == "cpu" else device,
    )


def settle(scene: Scene, *advance: Callable[[np.ndarray | None], Any]) -> np.ndarray | None:
    """Step the scene in units of `SUBSTEPS` until it has settled, and return the last targets."""
    target = None
    for step in range(round(scene.settles / (DT * SUBSTEPS))):
        target = scene.targets((step + 1) * DT * SUBSTEPS)
        for each in advance:
            each(target)
    return target


def mujoco_step(robot: Any, data: Any) -> Callable[[np.ndarray | None], Any]:
    """A function that sets MuJoCo's targets and steps it."""

    def advance(target: np.ndarray | None) -> None:
        if target is not None:
            data.ctrl[:] = target
        mujoco.mj_step(robot, data, SUBSTEPS)

    return advance


def measure(scene: Scene, envs: int, rounds: int) -> Result:
    """Settle both simulations and time them in turns."""
    began = time.perf_counter()
    sim = simulation(scene, envs)
    sim.step(_rows(scene.targets(0.0), envs))
    first = time.perf_counter() - began
    sim.reset()
    robot, data = scene.in_mujoco()
    settle(scene, lambda target: sim.step(_rows(target, envs)), mujoco_step(robot, data))
    # CPU time of this process: other processes on the core do not count.
    ours = Turn(sim.step, envs * SUBSTEPS, clock=time.process_time)
    theirs = Turn(lambda: mujoco.mj_step(robot, data, STEPS), STEPS, clock=time.process_time)
    take_turns([ours, theirs], rounds)
    ratios = np.array(theirs.samples) / STEPS / (np.array(ours.samples) / (envs * SUBSTEPS))
    result = Result(
        scene=scene.name,
        contacts=sum(pair.contacts for pair in scene.pairs),
        ns=ours.figures["ns"],
        mujoco_ns=theirs.figures["ns"],
        ratio=float(np.median(ratios)),
        first_call=first,
        speed=float(abs(sim.v).max()),
        failures=float(sim.failures.sum()),
    )
    if isinstance(scene, Grasp):
        slips = scene.slip(simulation(scene, 1), *scene.in_mujoco())
        result.slip_mm, result.mujoco_slip_mm = slips
    return result


def failures_when_thrown(scene: Scene, envs: int, steps: int) -> float:
    """Number of states that are not finite in `steps` steps of all environments together.

    All environments are reset to random states every 100 launches.
    """
    sim, random = simulation(scene, envs), np.random.default_rng(0)
    model, launches = scene.model, -(-steps // (envs * SUBSTEPS))
    for launch in tqdm(range(launches), unit="launch", leave=False, disable=None):
        if launch % 100 == 0:
            box = ((-0.05, -0.05, 0.0), (0.05, 0.05, 0.2))  # of the cubes
            state = wd.random_state(
                model, envs, seed=launch, box=box, linear=(-3, 3), angular=(-30, 30), joints=(-3, 3)
            )
            sim.reset(q=state.q.astype(np.float32), v=state.v.astype(np.float32))
        sim.step(_rows(scene.targets(2.0 * random.random()), envs))
    return float(sim.failures.sum())


def _rows(target: np.ndarray | None, envs: int) -> np.ndarray | None:
    return None if target is None else np.tile(target, (envs, 1)).astype(np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenes", nargs="*", choices=[*SCENES, []], default=[])
    parser.add_argument("--envs", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument(
        "--thrown", type=int, metavar="STEPS", help="count states that are not finite instead"
    )
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    names = given.scenes or [*SCENES]
    wd.config.compile = "wait"
    if given.thrown:
        for name in names:
            count = failures_when_thrown(SCENES[name](), given.envs, given.thrown)
            print(
                f"{name}: {count:.0f} states that are not finite in {given.thrown:,} steps",
                flush=True,
            )
        return
    print(
        "| scene | contacts | ns a step | MuJoCo C | ratio | first call | speed at the end | not finite |"
    )
    print("|---|---|---|---|---|---|---|---|")
    results = []
    for name in tqdm(names, unit="scene", disable=None):
        x = measure(SCENES[name](), given.envs, given.rounds)
        results.append(x)
        print(
            f"| {x.scene} | {x.contacts} | {x.ns:,.0f} | {x.mujoco_ns:,.0f} | {x.ratio:.1f} "
            f"| {x.first_call:.1f} s | {x.speed:.1e} | {x.failures:.0f} |",
            flush=True,
        )
        if x.slip_mm is not None:
            print(f"slip from 2 to 7 s: {x.slip_mm:.2f} mm, MuJoCo {x.mujoco_slip_mm:.2f} mm")
    if given.json:
        record = {"hardware": processor(), "results": [asdict(x) for x in results]}
        given.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
