"""Random MJCF files simulated as in MuJoCo: `python -m benchmarks.fuzzing simulations COUNT`.

Each file has a floor, joint and tendon limits, springs, dampers and contact attributes, and asks
for MuJoCo's `Euler` or `RK4`. A few steps of `wd.Simulation` with the same method, the file's
softness and many sweeps are compared with MuJoCo's. Left out are features that
docs/simulation_methods.md lists as different (dry friction, friction moments, closed loops), and
contacts between bodies.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import mujoco
import numpy as np

import warpdyn as wd
from benchmarks.fuzzing.mjcf_texts import outcomes_of_texts
from benchmarks.fuzzing.outcomes import Outcome, without_names
from benchmarks.fuzzing.random_mjcf import Attributes, RandomText
from warpdyn.peers.mujoco import MuJoCo
from warpdyn.peers.peer import NotComparable

ACCURACY = 1e-6
"""Tolerance relative to the largest number. Both solve contacts iteratively."""

STEPS = 3

SWEEPS = 2000, 200_000
"""Sweeps of a comparison, and of its repetition if it differs: redundant contacts converge
slowly."""

BEYOND = 0.05
"""Largest distance of the start from a joint's limits, outside them [rad, m]."""

SHALLOW = 0.05
"""Largest depth of contacts [m]. MuJoCo takes at most four contacts of a box, so that deeper boxes
differ."""

FAST = 30.0
"""Speed beyond which steps are not compared [rad/s, m/s]: damping that is too stiff for RK4
amplifies rounding."""

DRAWS = 20
"""Starts that are drawn for one file until its contacts are shallow."""

INTEGRATORS = {
    mujoco.mjtIntegrator.mjINT_EULER: "mujoco_euler",
    mujoco.mjtIntegrator.mjINT_RK4: "mujoco_rk4",
}

SOLREF = ("0.05 1", "0.01 0.5", "-300 -20", "0.004 1")
SOLIMP = ("0.8 0.95 0.01 0.5 2", "0.9 0.9 0.1", "0 0.99 0.05 0.3 3")


class SimulatedText(RandomText):
    """One random MJCF file with a floor that its geoms may touch."""

    placed = True
    """True if geoms have poses. Those of the outermost default class would move the floor."""

    def text(self) -> str:
        option = self.some(
            timestep=(0.7, self.random.choice(("0.001", "0.002", "0.005", "0.01"))),
            gravity=(0.4, self.numbers(3, -10, 10)),
            impratio=(0.2, self.number(1, 10)),
            cone=(0.3, self.random.choice(("pyramidal", "elliptic"))),
            integrator=(0.5, self.random.choice(("Euler", "RK4"))),
        )
        off = self.some(**dict.fromkeys(("gravity", "spring", "damper"), (0.08, "disable")))
        flags = self.element("flag", off | self.some(refsafe=(0.1, "disable")))
        return (
            super()
            .text()
            .replace("<mujoco>", "<mujoco>" + self.element("option", option, flags), 1)
            .replace("<worldbody>", "<worldbody>" + self.floor(), 1)
        )

    def floor(self) -> str:
        """A floor at height 0."""
        place = {"name": "floor", "type": "plane", "size": "9 9 1"}
        return self.element("geom", place | self.contact("1", "2"))

    def defaults(self, depth: int) -> str:
        self.placed = depth > 0
        text = super().defaults(depth)
        self.placed = True
        return text

    def contact(self, kinds: str, others: str) -> Attributes:
        """Contact attributes. Geoms touch the floor, not each other."""
        return {
            "contype": kinds,
            "conaffinity": others,
            **self.some(
                friction=(0.4, self.number(0, 1.5)),
                condim=(0.4, self.random.choice("133")),
                solref=(0.2, self.random.choice(SOLREF)),
                solimp=(0.2, self.random.choice(SOLIMP)),
                margin=(0.15, self.number(0, 0.02)),
                priority=(0.15, self.random.choice("012")),
                solmix=(0.2, self.number(0, 3)),
            ),
        }

    def geom_attributes(self) -> Attributes:
        shape = self.random.choice(("sphere", "capsule", "box"))
        attributes = {"type": shape, "size": self.numbers(3, 0.05, 0.3)}
        if shape != "sphere" and self.placed and self.chance(0.2):
            attributes["fromto"] = self.numbers(6, -0.3, 0.3)
        elif self.placed:
            attributes |= {"pos": self.numbers(3, -0.3, 0.3), **self.orientation()}
        return attributes | self.some(mass=(0.3, self.number(0, 3))) | self.contact("2", "1")

    def joint_attributes(self, word: str) -> Attributes:
        attributes = super().joint_attributes(word)
        attributes.pop("frictionloss", None)
        return attributes | self.some(
            solreflimit=(0.2, self.random.choice(SOLREF)),
            solimplimit=(0.2, self.random.choice(SOLIMP)),
            margin=(0.1, self.number(0, 0.02)),
        )

    def equality(self, singles: Sequence[str]) -> str:
        return ""


def simulations(seed: int) -> Iterator[Outcome]:
    """Yield outcomes of random files, without end."""
    before, wd.config.compile = wd.config.compile, "never"
    try:
        yield from outcomes_of_texts(SimulatedText, compare, seed)
    finally:
        wd.config.compile = before


def compare(text: str, path: Path, rng: np.random.Generator) -> Outcome | None:
    """Outcome of one file, whose content is `text`; None if MuJoCo refuses it, nothing moves in it,
    or every start has deep contacts."""
    try:
        robot = mujoco.MjModel.from_xml_string(text)
    except ValueError:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # remarks, and starts beyond limits
            model = wd.load(path, quaternion="wxyz")
            peer = MuJoCo(model, path, whole=True)
            if not model.nv:
                return None
            start = _start(model, peer, robot, rng)
            if start is None:
                return None
            quantity = ""
            for sweeps in SWEEPS:
                sim = _simulation(model, robot, *start, sweeps)
                quantity = _difference(sim, peer, robot)
                if not quantity:
                    return Outcome("equal")
    except (wd.ModelError, NotComparable) as error:
        return Outcome("refused", without_names(str(error)))
    return Outcome("different", quantity, text)


def _start(
    model: wd.Model, peer: MuJoCo, robot: mujoco.MjModel, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray] | None:
    """A random state with shallow contacts; None if none of many is one."""
    data = mujoco.MjData(robot)
    for _ in range(DRAWS):
        spread = rng.choice([0.3, 1.0])
        q = model.neutral + spread * rng.normal(size=model.nq)
        q = np.clip(q, model.position_lower - BEYOND, model.position_upper + BEYOND)
        q = wd.oracle(wd.normalize, model, q)
        depth = _depth_at(q, peer, robot, data)
        if depth > SHALLOW and robot.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE:
            q[2] += depth - SHALLOW * rng.uniform()
            depth = _depth_at(q, peer, robot, data)
        if depth <= SHALLOW:
            return q, rng.normal(size=model.nv)
    return None


def _depth_at(q: np.ndarray, peer: MuJoCo, robot: mujoco.MjModel, data: mujoco.MjData) -> float:
    """Depth of the deepest contact at a position q [m]."""
    data.qpos, _ = peer._convert(q)
    mujoco.mj_forward(robot, data)
    return _depth(data)


def _depth(data: mujoco.MjData) -> float:
    """Depth of the deepest contact [m]."""
    return -float(data.contact.dist.min(initial=0.0))


def _simulation(
    model: wd.Model, robot: mujoco.MjModel, q: np.ndarray, v: np.ndarray, sweeps: int
) -> wd.Simulation:
    """warpdyn's simulation of the file, from a state, with this number of sweeps."""
    weightless = robot.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
    sim = wd.Simulation(
        model,
        1,
        ground=wd.Ground(softness="description"),
        stops="soft",
        integrator=INTEGRATORS[robot.opt.integrator],  # type: ignore[arg-type]
        dt=robot.opt.timestep,
        substeps=1,
        sweeps=sweeps,
        gravity=[0.0] * 3 if weightless else robot.opt.gravity.tolist(),
        start=q,
        dtype=np.float64,
    )
    sim.v[:] = v
    return sim


def _difference(sim: wd.Simulation, peer: MuJoCo, robot: mujoco.MjModel) -> str:
    """The first difference: "positions" or "velocities", with the number of the step. Returns "" if
    there is none. The comparison ends where a contact is deep or the motion is fast."""
    robot.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ACTUATION
    robot.opt.tolerance, robot.opt.iterations = 1e-14, 500
    data = mujoco.MjData(robot)
    data.qpos, T = peer._convert(sim.q[0])
    data.qvel = T @ sim.v[0]
    for step in range(1, STEPS + 1):
        sim.step()
        mujoco.mj_step(robot, data)
        mujoco.mj_forward(robot, data)
        if _depth(data) > SHALLOW or not np.abs(data.qvel).max() < FAST:
            return ""
        qpos, T = peer._convert(sim.q[0])
        for quantity, ours, theirs in (
            ("velocities", T @ sim.v[0], data.qvel),
            ("positions", qpos, data.qpos),
        ):
            if not np.abs(ours - theirs).max() <= ACCURACY * (1 + np.abs(theirs).max()):
                return f"{quantity} after step {step}"
    return ""
