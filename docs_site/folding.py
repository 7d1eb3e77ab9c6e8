"""Operations and bytes of an algorithm's program for a robot, recorded during the build, and measured times."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from functools import cache
from statistics import median
from typing import Any

import warpdyn as wd
from benchmarks import every_function, figures_page, records
from benchmarks.roofline import floor_ns
from warpdyn.codegen.targets import write
from warpdyn.execution.public_functions import FUNCTIONS
from warpdyn.execution.request.call import input_shapes
from warpdyn.execution.request.evaluate import record_call

from .function_matrix import repeats

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


def count_work(name: str, robot: str) -> tuple[int, int]:
    """Operations, and bytes read and written, of a function's float32 program for one robot."""
    model = wd.load_robot(robot)
    function = FUNCTIONS[name]
    needs_frame = "frame" in inspect.signature(function.describe).parameters and name != "fk"
    options: dict[str, Any] = {"frame": last_link(model)} if needs_frame else {}
    call = function.describe(model, *(... for _ in ALGORITHMS[name]), **options)
    program = record_call(call, input_shapes(call), True)
    source = write(program, name, True, "cpu")
    return source.operations, source.bytes


def last_link(model: wd.Model) -> str:
    """Link behind the most joints."""
    depth = {model.root: 0}
    for joint in model.joints:
        depth[joint.child] = depth[joint.parent] + (joint.kind.nv > 0)
    return max(depth, key=lambda name: depth[name])


def folding_table() -> str:
    """Markdown table of operations and bytes of each algorithm for both robots."""
    models = [wd.load_robot(robot) for robot in ROBOTS]
    head = " | ".join(f"{m.name}, nv = {m.nv}: operations | bytes" for m in models)
    lines = [f"| algorithm | {head} |", "|---|" + "---:|" * (2 * len(models))]
    for name in ALGORITHMS:
        counts = [f"{x:,}" for robot in ROBOTS for x in count_work(name, robot)]
        lines.append(f"| `{name}` | {' | '.join(counts)} |")
    return "\n".join(lines)


def measured_table() -> str:
    """Markdown table of measured times and lower bounds, from the results folder that docs/figures.md names."""
    folder = figures_page.folder_in_page()
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


HEAD = (
    "| function | robot | operations | bytes | measured [ns] | floor [ns] | times the floor |",
    "|---|---|---:|---:|---:|---|---:|",
)
"""Of the table that stands beside an algorithm."""


def program_table(names: Sequence[str]) -> str:
    """Markdown table of operations and bytes of functions, counted during the build, and stored times."""
    rows = [
        _program_row(name, robot)
        for name in names
        for robot in every_function.ROBOTS
        if every_function.takes_robot(name) or robot == every_function.ROBOTS[0]
    ]
    return "\n".join([*HEAD, *rows])


def _program_row(name: str, robot: str) -> str:
    whose = robot if every_function.takes_robot(name) else "none"
    work = every_function.count_work(name, robot)
    if isinstance(work, str):
        return f"| `{name}` | {whose} | {work} | | | | |"
    operations, size = work
    cells = [f"`{name}`", whose, f"{operations:,}", f"{size:,}"]
    about, stored = times()
    time = stored.get((name, robot))
    # If a program has changed since the measurement, its time is not shown.
    if time is None or (time["operations"], time["bytes"]) != work:
        return f"| {' | '.join(cells)} | | | |"
    if repeats(FUNCTIONS[name]):  # a program with an unknown number of steps has no lower bound
        return f"| {' | '.join([*cells, records.short(time['ns'])])} | | |"
    floor, what = floor_ns(about["limits"], operations, size, time["batch"])
    cells += [records.short(time["ns"]), f"{records.short(floor)} ({what})"]
    return f"| {' | '.join(cells)} | {time['ns'] / floor:.1f} |"


@cache
def times() -> tuple[Mapping[str, Any], Mapping[tuple[str, str], Mapping[str, Any]]]:
    """Conditions of `benchmarks.every_function`, and its records by function and robot."""
    read = json.loads(every_function.RESULT.read_text())
    return read["about"], {(r["function"], r["robot"]): r for r in read["records"] if "ns" in r}


def conditions() -> str:
    """Hardware, date and load of these measurements."""
    about, stored = times()
    load = median(time["load"] for time in stored.values())
    return (
        f"{about['hardware'].partition(',')[0]}, one thread, float32, `[n, B]` memory, {about['date']}, on a "
        f"machine that other processes also used (load {load:.1f}). Times and floors are those of a core that "
        "shares its units. Compare only the last column with the table above."
    )
