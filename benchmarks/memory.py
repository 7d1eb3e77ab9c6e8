"""Peak memory of a process that runs one algorithm, compared with Pinocchio and MuJoCo Warp [MiB].

Each figure needs two new processes: one compiles for one robot with an empty cache, and one reads the
kernel from the cache and runs the batch. Memory is the resident memory that Linux reports.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from . import robots
from .startup import run

BATCH = 65536
BESIDE = ("panda", "talos_reduced")
"""Robots for which the other libraries are measured, too."""

ALGORITHMS = ("fk", "rnea", "aba", "rnea_derivatives")

RESIDENT = """
import json, sys
def resident(what):
    return next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith(what))
name, algorithm, batch, file = json.loads(sys.argv[1])
"""

OURS = """
import numpy as np, warp as wp
wp.config.log_level = wp.LOG_ERROR
from benchmarks.cases import LARGEST
from benchmarks.robots import robot
from benchmarks.workload import Work, states_of
wp.init()
loaded = resident("VmRSS")
one = states_of(robot(name), 1)
work = Work(robot(name), algorithm, {key: np.broadcast_to(x, (batch, *x.shape[1:])) for key, x in one.items()})
arrays = sum(x.nbytes for x in (*work.arguments[1:], *work.outs))
if arrays > LARGEST:
    print("null")
    sys.exit()
work.call()
"""

PINOCCHIO = """
import numpy as np, pinocchio as pin
model = pin.buildModelFromXML(open(file).read())
loaded, data = resident("VmRSS"), model.createData()
given = [np.tile(pin.neutral(model), (batch, 1)), *(np.ones((batch, model.nv)) for _ in range(2))]
def fk(q, v, a):
    pin.framesForwardKinematics(model, data, q)
    return [pose.homogeneous for pose in data.oMf]
call = {
    "fk": fk,
    "rnea": lambda q, v, a: pin.rnea(model, data, q, v, a),
    "aba": lambda q, v, tau: pin.aba(model, data, q, v, tau),
    "rnea_derivatives": lambda q, v, a: pin.computeRNEADerivatives(model, data, q, v, a),
}[algorithm]
if algorithm == "fk":
    given[1:] = [given[0]] * 2
found = np.empty((batch, *np.shape(call(*(x[0] for x in given)))))
for e in range(batch):
    found[e] = call(*(x[e] for x in given))
arrays = sum({id(x): x.nbytes for x in (*given, found)}.values())
"""

MUJOCO_WARP = """
import mujoco, mujoco_warp as mjw, warp as wp
wp.config.log_level = wp.LOG_ERROR
model = mujoco.MjModel.from_binary_path(file)
wp.init()
loaded = resident("VmRSS")
m, d = mjw.put_model(model), mjw.make_data(model, nworld=batch)
def arrays_in(x):
    if isinstance(x, wp.array):
        return x.capacity
    return sum(arrays_in(y) for y in vars(x).values()) if type(x).__module__.startswith("mujoco_warp") else 0
def rnea():
    for stage in (mjw.kinematics, mjw.com_pos, mjw.com_vel):
        stage(m, d)
    mjw.rne(m, d, flg_acc=True)
{"fk": lambda: mjw.kinematics(m, d), "rnea": rnea, "aba": lambda: mjw.forward(m, d)}[algorithm]()
arrays = arrays_in(d)
"""

TELL = """
print(json.dumps({"import": loaded, "peak": resident("VmHWM"), "arrays": arrays / 2**20}))
"""

OF_MUJOCO_WARP = ("fk", "rnea", "aba")


def records(names: Sequence[str], batch: int = BATCH) -> Iterator[dict[str, Any]]:
    """Yield a record for each robot, algorithm and library, if the arrays of the batch are not too large."""
    for name in names:
        robot = robots.robot(name)
        for algorithm in ALGORITHMS:
            at = {"robot": name, "algorithm": algorithm, "batch": batch}
            own = list(_measure("warpdyn", OURS, at))
            yield from own
            if name not in BESIDE or not own:
                continue
            with tempfile.TemporaryDirectory() as folder:
                if find_spec("pinocchio"):
                    file = Path(folder, "robot.urdf")
                    file.write_text(robot.bare)
                    yield from _measure("Pinocchio", PINOCCHIO, at, file)
                if find_spec("mujoco_warp") and algorithm in OF_MUJOCO_WARP:
                    file = Path(folder, "robot.mjb")
                    _save(robot, file, fused=algorithm != "fk")
                    yield from _measure("MuJoCo Warp", MUJOCO_WARP, at, file)


def _measure(
    library: str, code: str, at: Mapping[str, Any], file: Path | None = None
) -> Iterator[dict[str, Any]]:
    """Yield resident memory after import, its peaks during compilation and run, and the size of the arrays."""
    with tempfile.TemporaryDirectory() as cache:
        arguments = ([at["robot"], at["algorithm"], count, str(file)] for count in (1, at["batch"]))
        first, second = (
            run(RESIDENT + code + TELL, cache, json.dumps(given)) for given in arguments
        )
    if second:
        stages = {"import": second["import"], "compile": first["peak"], "run": second["peak"]}
        yield {**at, "library": library, **stages, "arrays": second["arrays"]}


def _save(robot: robots.Robot, file: Path, fused: bool) -> None:
    """Write MuJoCo's model of a robot."""
    import mujoco

    from warpdyn.peers.mujoco import MuJoCo

    model = MuJoCo(robot.model, robot.urdf, fused).robot
    mujoco.mj_saveModel(model, str(file), None)
