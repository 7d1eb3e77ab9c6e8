"""Every public function on two robots: operations, bytes, and time per robot.

    python -m benchmarks.every_function [NAME ...]

Float32, `[n, B]` memory, one thread. The batch has 16,384 robots, or fewer if their arrays exceed
256 MiB. A time is the minimum CPU time of 41 turns, because other processes may run meanwhile. The
machine's limits are measured before and after, and the better value counts. With names, the command
measures these functions again and keeps the other records. Results go to
benchmarks/results/every_function.json.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import warpdyn as wd
from warpdyn.cli.workload import Memory, furthest_link
from warpdyn.codegen.source import Source
from warpdyn.codegen.targets import write
from warpdyn.execution.batched import FUNCTIONS, describe_call
from warpdyn.execution.request.call import Call, input_shapes
from warpdyn.execution.request.evaluate import record_call, result_shapes
from warpdyn.model.names import ModelError

from . import roofline
from .__main__ import describe_run
from .cases import BATCH
from .interleave import CORES, Turn, take_turns

RESULT = Path(__file__).parent / "results" / "every_function.json"

ROBOTS = ("panda", "humanoid")
"""Robots of the package: an arm with 8 coordinates, and a humanoid with a free base."""

LARGEST = 1 << 28
"""Largest size of all arrays [bytes]. Above it the batch is halved."""

ALL_LINKS = ("fk",)
"""Functions that run for all links. Others that take a frame run for the last link."""

TO_MUJOCO = ("configuration", "velocity", "acceleration", "force")

OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "convert_quaternion": {"source": "wxyz", "target": "xyzw"},
    "convert_twist": {"source": "local", "target": "world"},
    "convert_wrench": {"source": "local", "target": "world"},
    **{f"convert_{what}": {"target": "mujoco"} for what in TO_MUJOCO},
    "height_scan": {"terrain": wd.Plane.with_normal((0.1, 0.0, 1.0))},
    "state_derivative": {"ground": wd.SoftGround()},
}
"""Options that a function requires, or without which it does nothing."""

PAIRS = 4
"""Number of pairs of collision shapes."""

TURNS = 41
"""Number of turns. Each takes about 20 ms."""

SHAPES: Mapping[str, tuple[int, ...]] = {"twist": (6,), "wrench": (6,), "pattern": (25, 2), "t": ()}
"""Shapes of arguments that do not depend on the robot. All others have length nv."""


@dataclass(frozen=True)
class Work:
    """A function with its arrays and options."""

    name: str
    model: wd.Model
    arrays: tuple[Any, ...]
    options: Mapping[str, Any]

    @classmethod
    def of(cls, name: str, model: wd.Model, count: int = 1) -> Work:
        """A function with `count` random states."""
        arguments = inspect.signature(FUNCTIONS[name].describe).parameters
        options = dict(OPTIONS.get(name, {}))
        if name == "effect_torques":
            model = model.with_friction(viscous=0.5, coulomb=0.1)
        if "points" in arguments:
            options["points"] = contact_points(model)
        if "pairs" in arguments:
            options["pairs"] = simple_pairs(model)
        if "frame" in arguments and name not in ALL_LINKS:
            touched = name == "link_contact_forces"
            options["frame"] = contact_points(model)[0].link if touched else furthest_link(model)
        read = [
            argument.name
            for argument in arguments.values()
            if argument.kind is not inspect.Parameter.KEYWORD_ONLY and argument.name != "model"
        ]
        arrays = (
            Memory().array_of(random_argument(argument, name, model, count)) for argument in read
        )
        return cls(name, model, tuple(arrays), options)

    @property
    def arguments(self) -> tuple[Any, ...]:
        """Positional arguments. Functions of poses take no robot."""
        return (self.model, *self.arrays) if takes_robot(self.name) else self.arrays

    def describe_call(self) -> Call:
        """The call, before it is recorded."""
        return describe_call(FUNCTIONS[self.name], self.arguments, self.options)

    def source(self) -> Source:
        """Source of the CPU kernel, with operations and bytes per robot."""
        call = self.describe_call()
        return write(record_call(call, input_shapes(call), True), self.name, True, "cpu")

    def bind(self) -> Callable[[], Any]:
        """The bound call that is timed. Its results are in `[n, B]` memory, too."""
        shapes = result_shapes(self.describe_call()).values()
        outs = tuple(Memory().empty(len(self.arrays[0]), shape) for shape in shapes)
        out = outs if len(outs) > 1 else outs[0]
        return wd.bind(
            FUNCTIONS[self.name], *self.arguments, out=out, constants="once", **self.options
        )


def takes_robot(name: str) -> bool:
    """True if the function's first argument is a model."""
    return "model" in inspect.signature(FUNCTIONS[name].describe).parameters


def simple_pairs(model: wd.Model) -> list[Any]:
    """The first pairs of collision shapes without meshes."""
    pairs = wd.ContactPairs(model)
    return [pair for pair in pairs if "mesh" not in {shape.kind for shape in pair}][:PAIRS]


def contact_points(model: wd.Model) -> list[wd.ContactPoint]:
    """Four contact spheres at each sole of the humanoid; one at the last link of an arm."""
    soles = [point for point in wd.ContactPoints(model) if point.link.endswith("ankle_roll_link")]
    return soles or [wd.ContactPoint(furthest_link(model), (0.0, 0.0, 0.0), 0.02)]


def random_argument(argument: str, name: str, model: wd.Model, count: int) -> np.ndarray:
    """Random numbers for an argument, by its name."""
    seed = sum(map(ord, argument))
    drawn = np.random.default_rng(seed)
    if argument in ("q", "q0", "q1"):
        return wd.random_configuration(model, count, seed=seed)
    if argument == "forces":
        return drawn.uniform(0.0, 50.0, (count, len(contact_points(model)), 3))
    if argument == "control":
        return drawn.uniform(-1.0, 1.0, (count, len(model.actuators)))
    if argument in ("pose", "quaternion", "matrix", "matrices", "targets"):
        return poses(argument, name, model, count)
    return drawn.uniform(-1.0, 1.0, (count, *SHAPES.get(argument, (model.nv,))))


def poses(argument: str, name: str, model: wd.Model, count: int) -> np.ndarray:
    """Poses of the last link in the form that the argument needs."""
    q = wd.random_configuration(model, count, seed=11)
    if argument in ("pose", "quaternion"):
        pose = wd.fk(model, q, frame=furthest_link(model), form="pose")
        return pose if argument == "pose" else pose[:, 3:]
    T = wd.fk(model, q, frame=furthest_link(model))
    if argument == "matrices":
        return np.stack([T, T, T], axis=1)
    return T[:, :3, :3] if name == "matrix_to_quaternion" else T


def count_work(name: str, robot: str) -> tuple[int, int] | str:
    """Operations and bytes per robot, or the reason why there is no program."""
    try:
        source = Work.of(name, wd.load_robot(robot)).source()
    except (ModelError, ValueError) as error:
        return str(error).partition(":")[0]
    return source.operations, source.bytes


def measure(name: str, robot: str) -> dict[str, Any]:
    """Record with operations, bytes and time, or with the reason why there is none."""
    at = {"function": name, "robot": robot}
    counted = count_work(name, robot)
    if isinstance(counted, str):
        return {**at, "blank": counted}
    operations, size = counted
    batch = BATCH
    while batch * size > LARGEST:
        batch //= 2
    work = Work.of(name, wd.load_robot(robot), batch)
    turn = Turn(work.bind(), batch, CORES[-1:], clock=time.process_time)
    take_turns([turn], TURNS)
    least, median = (1e9 * f(turn.samples) / batch for f in (np.min, np.median))
    return {
        **at,
        **{"operations": operations, "bytes": size, "batch": batch},
        **{"ns": round(float(least), 3), "ns_median": round(float(median), 3)},
        "load": round(os.getloadavg()[0], 2),
    }


def main(names: list[str]) -> None:
    """Measure the functions and write the file."""
    wd.runtime.set_num_threads(1)
    before = json.loads(RESULT.read_text()) if names and RESULT.exists() else {"records": []}
    chosen = names or sorted(FUNCTIONS)
    records = [record for record in before["records"] if record["function"] not in chosen]
    about = describe_run("cpu", ())
    limits = [roofline.limits("cpu", time.process_time)]
    limits += [before["about"]["limits"]] if records else []
    for name in chosen:
        for robot in ROBOTS if takes_robot(name) else ROBOTS[:1]:
            records.append(measure(name, robot))
            print(records[-1], flush=True)
    limits.append(roofline.limits("cpu", time.process_time))
    whole = {"about": {**about, "limits": highest_rates(limits)}, "records": records}
    RESULT.write_text(json.dumps(whole, indent=1) + "\n")


def highest_rates(limits: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Limits of a machine with the highest rate of several measurements."""
    copy: dict[str, float] = {}
    for each in limits:
        for size, rate in each["copy"].items():
            copy[str(size)] = max(rate, copy.get(str(size), 0.0))
    return {**limits[0], "copy": copy, "operations": max(each["operations"] for each in limits)}


if __name__ == "__main__":
    main(sys.argv[1:])
