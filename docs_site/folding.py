"""What algorithms fold to for a robot, recorded when the site is built, beside what was measured."""

from __future__ import annotations

import inspect
from typing import Any

import warpdyn as wd
from benchmarks import readme, records
from benchmarks.roofline import floor_ns
from warpdyn.codegen.source import write
from warpdyn.execution.batched import FUNCTIONS
from warpdyn.execution.call import input_shapes
from warpdyn.execution.evaluate import record_call

ALGORITHMS = {
    "fk": ("q",),
    "jacobian": ("q",),
    "crba": ("q",),
    "rnea": ("q", "v", "a"),
    "aba": ("q", "v", "tau"),
    "mass_matrix_inverse": ("q",),
    "com": ("q",),
    "centroidal_momentum_matrix": ("q",),
    "rnea_derivatives": ("q", "v", "a"),
}
"""Functions of the table, and what they read."""

ROBOTS = ("panda", "humanoid")
"""Robots that come with warpdyn: an arm of 8 coordinates, a humanoid on a free base."""

MEASURED = ("panda", "talos_reduced")
"""Robots of the benchmarks that are most like them: 7 and 32 degrees of freedom."""


def recorded(name: str, robot: str) -> tuple[int, int]:
    """Operations and bytes, read and written, of a function's float32 program for one robot."""
    model = wd.load_robot(robot)
    function = FUNCTIONS[name]
    needs_frame = "frame" in inspect.signature(function.describe).parameters and name != "fk"
    options: dict[str, Any] = {"frame": last_link(model)} if needs_frame else {}
    call = function.describe(model, *(... for _ in ALGORITHMS[name]), **options)
    program = record_call(call, input_shapes(call), True)
    source = write(program, name, True, "cpu")
    return source.operations, source.bytes


def last_link(model: wd.Model) -> str:
    """The link behind the most joints."""
    depth = {model.root: 0}
    for joint in model.joints:
        depth[joint.child] = depth[joint.parent] + (joint.kind.nv > 0)
    return max(depth, key=lambda name: depth[name])


def folding_table() -> str:
    """Operations and bytes of each algorithm for both robots, as Markdown."""
    models = [wd.load_robot(robot) for robot in ROBOTS]
    head = " | ".join(f"{m.name}, nv = {m.nv}: operations | bytes" for m in models)
    lines = [f"| algorithm | {head} |", "|---|" + "---:|" * (2 * len(models))]
    for name in ALGORITHMS:
        counts = [f"{x:,}" for robot in ROBOTS for x in recorded(name, robot)]
        lines.append(f"| `{name}` | {' | '.join(counts)} |")
    return "\n".join(lines)


def measured_table() -> str:
    """Measured time beside the floor of arithmetic and memory, from the folder that README names."""
    folder = readme.chosen()
    assert folder is not None
    run = records.read(folder)
    lines = [
        "| robot, algorithm | operations | bytes | measured [ns] | floor [ns] | times the floor |",
        "|---|---:|---:|---:|---|---:|",
    ]
    for robot in MEASURED:
        for name in ALGORITHMS:
            own = run.main(robot, name)
            if own is None:
                continue
            floor, what = floor_ns(
                run.about["limits"], own["operations"], own["bytes"], own["batch"]
            )
            lines.append(
                f"| {robot} `{name}` | {own['operations']:,} | {own['bytes']:,} "
                f"| {records.short(own['ns'])} | {records.short(floor)} ({what}) | {own['ns'] / floor:.1f} |"
            )
    about = run.about
    said = (
        f"{about['hardware']}, one core, float32, 16,384 robots, `[n, B]` memory, {about['date']}."
    )
    return said + "\n\n" + "\n".join(lines)
