"""Kernels that the GPU model (cuda_model) covers, by name. Each is a call on NumPy arrays.

`ROBOT:FUNCTION` is a public function. `quadruped:step` has four feet and four substeps,
`quadruped:simulation` has all points of the collision shapes, and `ROBOT:environment` is the step of a
learning task with rewards and resets.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import warp as wp

import warpdyn as wd
from warpdyn.codegen.cuda import CudaThread
from warpdyn.codegen.targets import FOR_FEW, TARGETS, Backend
from warpdyn.execution.batched import describe_call
from warpdyn.execution.request.call import Call
from warpdyn.recording.program import Program

from .every_function import Work

ALGORITHMS = ("fk", "jacobian", "rnea", "crba", "aba", "rnea_derivatives")

KERNELS = (
    *(f"{robot}:{x}" for robot in ("panda", "quadruped") for x in (*ALGORITHMS, "aba_derivatives")),
    *(f"humanoid:{x}" for x in ALGORITHMS),
    "quadruped:step",
    "quadruped:simulation",
)
"""Kernels in the geometric mean."""

ENVIRONMENTS = ("quadruped:environment", "humanoid:environment")

LAYOUTS = ("rows", "side by side")

SUBSTEPS, SUBSTEP = 4, 0.005
"""Number of substeps of `step` and `simulation`, and the length of a substep [s]."""

HEIGHT, STANCE = 0.32, (0.1, 0.8, -1.5, -0.1, 0.8, -1.5, 0.1, 1.0, -1.5, -0.1, 1.0, -1.5)
"""The quadruped stands: height of its base [m], and its joints [rad]."""

GAINS = (40.0, 1.0)
"""Stiffness and damping of the quadruped's drives [N·m/rad, N·m·s/rad]."""


def call_of(name: str, count: int) -> Call[Any]:
    """The call with this name, for `count` robots, in float32."""
    robot, _, function = name.partition(":")
    if function == "simulation":
        return standing_quadrupeds(count)._call
    if function == "environment":
        return environment_step(robot, count)
    if function == "step":
        return four_feet_step(count)
    return Work.of(function, wd.load_robot(robot), count).describe_call()


def standing_quadrupeds(count: int) -> wd.Simulation:
    """Simulation of standing quadrupeds with drives."""
    start = [0.0, 0.0, HEIGHT, 0.0, 0.0, 0.0, 1.0, *STANCE]
    return wd.Simulation(
        wd.load_robot("quadruped").with_armature(0.01),
        count,
        control=wd.PD(*GAINS),
        start=start,
        dt=SUBSTEP,
        substeps=SUBSTEPS,
    )


def four_feet_step(count: int) -> Call[Any]:
    """Call of `wd.step` for standing quadrupeds on four feet."""
    simulation = standing_quadrupeds(count)
    points = wd.ContactPoints(simulation.model).only("*_foot")
    if len(points) != 4:
        raise RuntimeError(f"the quadruped should have four feet, got {len(points)} points")
    arguments = (simulation.model, simulation.q, simulation.v, simulation.tau)
    options = {"points": points, "control": simulation.control, "targets": simulation.targets}
    options |= {
        "impulses": np.zeros((count, 4, 3), np.float32),
        "dt": SUBSTEP,
        "substeps": SUBSTEPS,
    }
    return describe_call(wd.step, arguments, options)


def environment_step(robot: str, count: int) -> Call[Any]:
    """Step of learning environments at the beginning of their first episode."""
    from warpdyn.rl import HumanoidVelocity, QuadrupedVelocity  # noqa: PLC0415  needs Torch
    from warpdyn.rl.environment_step import EnvironmentStep  # noqa: PLC0415

    task = {"quadruped": QuadrupedVelocity, "humanoid": HumanoidVelocity}[robot]()
    step = EnvironmentStep(task, seed=0)
    given = [x.astype(np.float32) for x in step.shared_arrays.values()]
    ticks = np.zeros(count, np.float32)
    begun = step.start(step.task.model, ticks, *given)._asdict()
    carried = {name: begun.get(name, ticks) for name in step.carried}
    action = np.zeros((count, step.task.actions), np.float32)
    return describe_call(step.step, (step.task.model, *carried.values(), action, *given), {})


def on_device(call: Call[Any], layout: str, count: int) -> Call[Any]:
    """The call with its arrays on the first GPU, in this layout."""
    placed: dict[int, wp.array] = {}

    def place(x: Any) -> Any:
        if not isinstance(x, np.ndarray) or x.dtype != np.float32:  # plain numbers are not moved
            return x
        if id(x) not in placed:
            placed[id(x)] = in_layout(x, layout, count)
        return placed[id(x)]

    def place_all(x: Any) -> Any:
        if isinstance(x, dict):
            return {name: place_all(each) for name, each in x.items()}
        return tuple(map(place, x)) if isinstance(x, tuple) else place(x)

    return replace(call, arrays=place_all(dict(call.arrays)), out=place_all(call.out))


def in_layout(x: np.ndarray, layout: str, count: int) -> wp.array:
    """Copy on the device: in rows, or with the numbers of neighbouring robots next to each other."""
    if layout == "rows" or x.ndim < 2 or len(x) != count:
        return wp.array(np.ascontiguousarray(x), device="cuda:0")
    axes = [*range(1, x.ndim), 0]
    turned = wp.array(np.ascontiguousarray(x.transpose(axes)), device="cuda:0")
    return turned.transpose([x.ndim - 1, *range(x.ndim - 1)])


def write_in_one_warp(program: Program, single: bool) -> str:
    """CUDA source of a program for blocks of one warp."""
    return CudaThread(program, single).source()


def keep_programs_whole() -> None:
    """Split no program over several warps in this process."""
    os.environ["WARPDYN_CACHE_DIR"] = str(Path(tempfile.gettempdir()) / "warpdyn-one-warp")
    TARGETS["cuda"] = Backend(write_in_one_warp, "cuda")
    TARGETS.update(dict.fromkeys(FOR_FEW, Backend(write_in_one_warp)))
