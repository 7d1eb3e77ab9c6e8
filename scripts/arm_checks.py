"""Checks that `scripts/test_arm.sh` runs on this machine and on aarch64.

    python scripts/arm_checks.py numbers FOLDER    # every check, into FOLDER/<machine>.npz and .json
    python scripts/arm_checks.py program FOLDER    # FOLDER/exported.cpp, which calls FOLDER/ur5e.hpp
    python scripts/arm_checks.py record FOLDER FILE.json    # compare both machines, write the differences

The checks are five algorithms, `bind`, a user's kernel, simulations with and without ground contacts, and the
control loop of the ROS 2 node for an arm, without DDS.
"""

from __future__ import annotations

import json
import platform
import sys
from array import array
from collections import Counter
from collections.abc import Callable
from datetime import date
from pathlib import Path

import numpy as np
import warp as wp

import warpdyn as wd
from ros2_node.control.fleet import Fleet
from ros2_node.control.settings.node_settings import Settings

ROUNDING = 1e-12
"""Largest difference of float64 that counts as rounding, relative to the largest number of a result."""
STEPS = 200
"""Steps of the simulation; steps make rounding grow, so that it has a bound of its own."""
ROUNDING_OF_STEPS = 1e-6
SIMULATION, CONTROL = f"simulation of {STEPS} steps", "control loop of the node, ur5e"
CONTACTS = f"simulation of {STEPS} steps with contacts"
SIMULATIONS = (SIMULATION, CONTACTS)
EXPORTED = "exported header"


@wd.kernel
def impedance(
    robot: wd.kernels.Robot, q: np.ndarray, v: np.ndarray, *, stiffness: float = 20.0
) -> np.ndarray:
    """Torques of joint springs around zero, of joint damping, and against gravity."""
    return robot.rnea(q, 0 * v, 0 * v) - stiffness * q - 2.0 * np.sqrt(stiffness) * v


def states(model: wd.Model, count: int = 5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v, a of a few robots: one full block of lanes and an incomplete one."""
    random = np.random.default_rng(0)
    q, v, a = (random.uniform(-1, 1, (count, n)) for n in (model.nq, model.nv, model.nv))
    return q, v, a


def algorithms(model: wd.Model) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Results of the kernels and of the same algorithms on float64 numbers."""
    q, v, a = states(model)
    tool = {"frame": "tool0"}

    def plain(function: Callable, *arrays: np.ndarray, **options: str) -> np.ndarray:
        rows = zip(*arrays, strict=True)
        return np.stack([wd.oracle(function, model, *row, **options) for row in rows])

    pairs = {
        "rnea": (wd.rnea(model, q, v, a), plain(wd.rnea, q, v, a)),
        "aba": (wd.aba(model, q, v, a), plain(wd.aba, q, v, a)),
        "crba": (wd.crba(model, q), plain(wd.crba, q)),
        "fk": (wd.fk(model, q, **tool), plain(wd.fk, q, **tool)),
        "jacobian": (wd.jacobian(model, q, **tool), plain(wd.jacobian, q, **tool)),
    }
    bound = np.full_like(v, np.nan)
    wd.bind(wd.rnea, model, q, v, a, out=bound)()
    pairs["bind"] = (bound, pairs["rnea"][1])
    springs = plain(wd.rnea, q, 0 * v, 0 * v) - 20.0 * q - 2.0 * np.sqrt(20.0) * v
    pairs["own kernel"] = (impedance(model, q, v), springs)
    return pairs


def cart_states() -> np.ndarray:
    """States of carts with falling poles: (envs, nq + nv)."""
    return end_of(wd.Simulation(wd.load_robot("cartpole"), 4, start=[0.0, 0.3], dtype=np.float64))


def contact_states() -> np.ndarray:
    """States of poles that stand on two feet, fall and slide: (envs, nq + nv). There are only two contact points,
    because a step with many points takes minutes to compile under qemu."""
    builder = wd.ModelBuilder("poles")
    builder.add_link("trunk", 2.0, inertia=0.02 * np.eye(3))
    builder.add_link("pole", 0.5, (0.0, 0.0, 0.2), 0.01 * np.eye(3))
    builder.add_joint("hinge", "revolute", "trunk", "pole", axis=(0.0, 1.0, 0.0))
    model = builder.build(floating_base=True)
    feet = wd.ContactPoints(model)
    for side in (-0.1, 0.1):
        feet = feet.with_sphere("trunk", (side, 0.0, -0.1), 0.02)
    start = [0.0, 0.0, 0.12, 0.0, 0.0, 0.0, 1.0, 0.3]
    simulation = wd.Simulation(model, 4, start=start, points=feet, dtype=np.float64)
    result = end_of(simulation)
    forces = np.asarray(simulation.forces)
    assert forces.any(), "nothing touches the ground"
    return np.concatenate([result, forces.reshape(len(result), -1)], axis=1)


def end_of(simulation: wd.Simulation) -> np.ndarray:
    """q and v after the last step."""
    for _ in range(STEPS):
        simulation.step()
    return np.concatenate([np.asarray(simulation.q), np.asarray(simulation.v)], axis=1)


def node_commands() -> np.ndarray:
    """Torque commands of the node's control loop for an arm. It reads a state and computes torques every
    millisecond."""
    settings = Settings.of(
        {"robot_description_file": "ur5e", "ramp_time": 0.05, "unlimited_effort": True}
    )
    fleet = Fleet(settings, "", [Counter()])
    robot = fleet.robots[0]
    names = list(wd.load_robot("ur5e").joint_names)
    q, v = array("d", [0.3, -0.7, 0.5, -0.2, 0.4, 0.1]), array("d", [0.0] * 6)
    commands = []
    for step in range(100):
        now = 1.0 + step / 1000
        robot.read(names, q, v, int(now * 1e9), now)
        if step == 0:
            enabled, reason = robot.enable(now, now)
            assert enabled, reason
        fleet.compute()
        robot.command(now, now)
        commands.append(np.array(robot.output.command))
    return np.array(commands)


def difference(result: np.ndarray, expected: np.ndarray) -> float:
    """Largest difference relative to the largest number; infinite if a result is empty or not finite."""
    if result.shape != expected.shape or not (np.isfinite(result).all() and result.any()):
        return float("inf")
    return float(abs(result - expected).max() / abs(expected).max())


def numbers(folder: Path) -> None:
    """Write every result, and the errors of the kernels compared with float64 numbers."""
    pairs = algorithms(wd.load_robot("ur5e"))
    results = {name: result for name, (result, _) in pairs.items()}
    results |= {SIMULATION: cart_states(), CONTACTS: contact_states(), CONTROL: node_commands()}
    machine = platform.machine()
    np.savez(folder / f"{machine}.npz", **results)
    versions = {"Python": platform.python_version(), "Warp": wp.__version__}
    versions |= {"NumPy": np.__version__, "warpdyn": wd.__version__}
    differences = {name: difference(*pair) for name, pair in pairs.items()}
    report = {"versions": versions, "from plain numbers": differences}
    (folder / f"{machine}.json").write_text(json.dumps(report))


def program(folder: Path) -> None:
    """Write a C++ program that calls the exported rnea for `states` and prints the torques."""
    flat = (", ".join(map(repr, x.ravel().tolist())) for x in states(wd.load_robot("ur5e")))
    q, v, a = (
        f"const double {name}[] = {{{each}}};" for name, each in zip("qva", flat, strict=True)
    )
    text = f"""#include "ur5e.hpp"
#include <cstdio>
int main() {{
  {q}
  {v}
  {a}
  double tau[sizeof q / sizeof *q];
  ur5e::rnea_batch(sizeof q / sizeof *q / ur5e::nq, q, v, a, tau);
  for (double each : tau) std::printf("%.17g\\n", each);
}}
"""
    (folder / "exported.cpp").write_text(text)


def record(folder: Path, file: Path) -> int:
    """Compare aarch64 with this machine. Differences above their bounds are printed, and the exit status is 1."""
    arm, here = np.load(folder / "aarch64.npz"), np.load(folder / f"{platform.machine()}.npz")
    there = json.loads((folder / "aarch64.json").read_text())
    apart = {name: difference(arm[name], here[name]) for name in here.files}
    exported = np.loadtxt(folder / "exported.txt").reshape(here["rnea"].shape)
    apart[EXPORTED] = difference(exported, here["rnea"])
    plain = there["from plain numbers"]
    tool = (folder / "tools.txt").read_text().splitlines()
    report = {
        "date": date.today().isoformat(),
        "how": "bash scripts/test_arm.sh: arm64 packages of Debian and aarch64 wheels under qemu-user",
        "versions": {**there["versions"], "tools": tool},
        "what": "float64; largest difference, relative to the largest number of a result",
        "kernels on aarch64 from plain numbers on aarch64": plain,
        f"aarch64 from {platform.machine()}": apart,
    }
    file.write_text(json.dumps(report, indent=2) + "\n")
    wrong = [f"{name} {x:.1e} from plain numbers" for name, x in plain.items() if not x <= ROUNDING]
    for name, x in apart.items():
        if not x <= (ROUNDING_OF_STEPS if name in SIMULATIONS else ROUNDING):
            wrong.append(f"{name} {x:.1e} from {platform.machine()}")
    print("above its bound: " + ", ".join(wrong) if wrong else f"{file}: all within their bounds")
    return int(bool(wrong))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["numbers", folder]:
            numbers(Path(folder))
        case ["program", folder]:
            program(Path(folder))
        case ["record", folder, file]:
            sys.exit(record(Path(folder), Path(file)))
        case _:
            sys.exit(__doc__)
