"""Robots in random states and motions, and robots that stand for an hour.

    python -m benchmarks.simulation_robustness thrown [--steps 10000000] [--robot hand --dt 0.01]
    python -m benchmarks.simulation_robustness standing [--envs 4096] [--minutes 60]

Thrown: robots have any attitude, also inside the ground. Half of all speeds come from N(0, 3) and half
from N(0, 30). Targets are at joint limits and up to 1 rad beyond. The simulation counts states that are
not finite and resets them; the remaining states are read and checked, too. All robots are thrown again
every 200 steps. Standing: movement of the trunks per minute, speeds, weights, and memory of the
process. Records are added to the JSON files in benchmarks/results.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import warp as wp
from tqdm import tqdm

import warpdyn as wd
from warpdyn.cli.hardware import processor

from .simulation import QUADRUPED_STANCE, Scene

RESULTS = Path(__file__).parent / "results"
ALLEGRO = "cmeel.prefix/share/example-robot-data/robots/allegro_hand_description/urdf/allegro_right_hand.urdf"
STEPS = (0.001, 0.002, 0.005, 0.01, 0.02)
"""Lengths of a step [s]; the last is beyond what is promised."""

ENVS, SUBSTEPS, LAUNCHES, HELD = 4096, 4, 50, 5
"""Robots; steps a launch; launches from throw to throw, and from targets to targets."""


class ThrownRobot(NamedTuple):
    """A robot, its contact points, and its drives."""

    model: wd.Model
    points: wd.ContactPoints
    control: wd.PD


def main() -> None:
    """Run one of the two commands."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("thrown", "standing"))
    parser.add_argument(
        "--steps", type=int, default=10**7, help="total number of steps of all environments"
    )
    parser.add_argument("--robot", choices=("quadruped", "humanoid", "arm", "hand"))
    parser.add_argument("--dt", type=float, choices=STEPS)
    parser.add_argument("--envs", type=int, default=4096)
    parser.add_argument("--minutes", type=int, default=60)
    given = parser.parse_args()
    if given.what == "standing":
        stand(given.envs, given.minutes)
        return
    for name in [given.robot] if given.robot else ["quadruped", "humanoid", "arm", "hand"]:
        for dt in [given.dt] if given.dt else STEPS:
            write_record("simulation_thrown", throw(name, robot(name), dt, given.steps))


def robot(name: str) -> ThrownRobot:
    """A robot of the page.

    Quadruped and humanoid fall. An arm has a ball at its end that can hit the floor. A hand with four
    fingers is thrown.
    """
    if name in ("quadruped", "humanoid"):
        gains = (25.0, 0.5) if name == "quadruped" else (100.0, 3.0)
        feet = "*_foot" if name == "quadruped" else "*_ankle_roll_link"
        model = wd.load_robot(name).with_armature(0.01)
        return ThrownRobot(model, wd.ContactPoints(model).only(feet), wd.PD(*gains))
    if name == "arm":
        model = wd.load_robot("ur5e").with_armature(0.1)
        tool = wd.ContactPoints(model).with_sphere("wrist_3_link", (0, 0, 0.1), 0.05)
        return ThrownRobot(model, tool, wd.PD(500.0, 20.0))
    text = Path(str(metadata.distribution("example-robot-data").locate_file(ALLEGRO))).read_text()
    model = wd.load_urdf(text, floating_base=True)
    tips = wd.ContactPoints(model).only("*_tip")
    return ThrownRobot(model, tips, wd.PD(3.0, 0.1))


def throw(name: str, thrown: ThrownRobot, dt: float, steps: int) -> dict[str, Any]:
    """Record of a robot that was thrown and driven at random."""
    rng = np.random.default_rng(0)
    model = thrown.model
    options: dict[str, Any] = {"points": thrown.points, "control": thrown.control}
    sim = wd.Simulation(model, ENVS, dt=dt, substeps=SUBSTEPS, **options)
    base, joints = model.floating_base, sim.targets.shape[1]
    lower, upper = (
        np.clip(x[-joints:], -3.0, 3.0) for x in (model.position_lower, model.position_upper)
    )
    beyond = 1.0
    count = -(-steps // (ENVS * SUBSTEPS))
    left, fastest, cone, length = 0, 0.0, 0.0, 0.0
    friction = 0.8
    for k in tqdm(range(count), desc=f"{name}, {1000 * dt:g} ms", mininterval=5):
        if k % LAUNCHES == 0:
            _begin(sim, rng, lower, upper)
        if k % HELD == 0:
            targets = rng.uniform(lower - beyond, upper + beyond, sim.targets.shape)
            at = rng.integers(0, 3, sim.targets.shape)
            targets = np.where(at == 0, np.where(targets > 0, upper, lower), targets)
            sim.targets[:] = targets
        sim.step()
        finite = np.isfinite(sim.q).all(1) & np.isfinite(sim.v).all(1)
        left += int((~finite).sum())
        fastest = max(fastest, float(np.abs(sim.v[finite]).max()))
        tangent = np.hypot(sim.forces[..., 0], sim.forces[..., 1])
        over = tangent - friction * sim.forces[..., 2]
        cone = max(cone, float((over / (1.0 + tangent)).max()))
        if base:
            error = np.abs(np.linalg.norm(sim.q[:, 3:7], axis=1) - 1.0).max()
            length = max(length, float(error))
    return {
        **{"robot": name, "dt": dt, "env_steps": count * ENVS * SUBSTEPS},
        **{"not_finite": int(sim.failures.sum()), "left_not_finite": left},
        "environments_that_failed": int((sim.failures > 0).sum()),
        **{"fastest": fastest, "beyond_the_cone": cone, "quaternion_length_error": length},
    }


def _begin(sim: wd.Simulation, rng: np.random.Generator, lower: Any, upper: Any) -> None:
    """Throw all robots, half of them ten times as fast."""
    model, base = sim.model, sim.model.floating_base
    q = np.tile(model.neutral, (ENVS, 1))
    if base:
        turn = rng.normal(size=(ENVS, 4))
        q[:, :2] = 0.1 * rng.normal(size=(ENVS, 2))
        q[:, 2] = rng.uniform(-0.1, 0.8, ENVS)
        q[:, 3:7] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
    q[:, 7 if base else 0 :] = rng.uniform(lower - 0.5, upper + 0.5, (ENVS, len(lower)))
    v = 3.0 * rng.normal(size=(ENVS, model.nv))
    v[::2] *= 10.0
    sim.reset(q=q, v=v)


def stand(envs: int, minutes: int) -> None:
    """Yield a record of standing quadrupeds in different stances, minute by minute."""
    scene = Scene("quadruped", 0.32, QUADRUPED_STANCE, (40.0, 1.0), "*_foot")
    rng = np.random.default_rng(0)
    dt, substeps = 0.005, 10
    sim = wd.Simulation(
        scene.model,
        envs,
        points=scene.points,
        control=wd.PD(*scene.gains),
        start=scene.start,
        dt=dt,
        substeps=substeps,
    )
    sim.targets[:] = scene.start[7:] + 0.02 * rng.normal(size=sim.targets.shape)
    launches = round(60 / dt / substeps)
    begin, samples = time.perf_counter(), []
    before = sim.q.copy()
    for minute in range(minutes):
        for _ in tqdm(range(launches), desc=f"minute {minute + 1}", leave=False, mininterval=5):
            sim.step()
        moved = np.linalg.norm(sim.q[:, :2] - before[:, :2], axis=1)
        sunk = np.abs(sim.q[:, 2] - before[:, 2])
        energy = wd.kinetic_energy(scene.model, sim.q, sim.v)
        carried = sim.forces[:, :, 2].sum(1) / scene.weight
        samples.append(
            {
                "minute": minute + 1,
                "crept_mm": [float(np.median(moved)) * 1e3, float(moved.max()) * 1e3],
                "height_mm": float(sunk.max()) * 1e3,
                "kinetic_energy_j": float(energy.max()),
                "weight": [float(carried.min()), float(carried.max())],
                "failures": int(sim.failures.sum()),
                "rss_mb": _rss(),
            }
        )
        before = sim.q.copy()
        record = {
            **{"robot": "quadruped", "envs": envs, "dt": dt, "minutes": minute + 1},
            **{"seconds": time.perf_counter() - begin, "samples": samples},
        }
        write_record("simulation_standing", record)


def _rss() -> float:
    """Resident memory of the process [MB]."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def write_record(name: str, record: dict[str, Any]) -> None:
    """Write a record to its file in place of a record with the same robot, step and number."""
    path = RESULTS / f"{name}.json"
    kept = json.loads(path.read_text())["records"] if path.exists() else []
    same = ("robot", "dt", "envs")
    kept = [r for r in kept if any(r.get(k) != record.get(k) for k in same)]
    hardware = {
        "cpu": processor(),
        "cores": os.cpu_count(),
        "load_average": os.getloadavg()[0],
        **{"python": platform.python_version(), "warp": wp.__version__},
        "date": str(date.today()),
    }
    text = json.dumps({"hardware": hardware, "records": [*kept, record]}, indent=1)
    path.write_text(text + "\n")
    shown = {k: v for k, v in record.items() if k != "samples"}
    print(json.dumps({**shown, **(record.get("samples") or [{}])[-1]}), flush=True)


if __name__ == "__main__":
    main()
