"""Plots of a run: throughput, ratios, time by degrees of freedom, roofline, and first calls."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import cases as lists
from .records import Record, Run
from .roofline import bandwidth

MARKS = "os^Dv"
"""Marks of robots, which also have colours."""

FAMILIES = {
    "kinematics": ("fk_frame", "fk", "jacobian", "jacobian_derivative"),
    "dynamics": ("rnea", "gravity_torques", "aba", "rnea_vjp", "aba_vjp"),
    "matrices": ("crba", "mass_matrix_inverse", "coriolis_matrix", "centroidal_momentum_matrix"),
    "derivatives": ("rnea_derivatives", "aba_derivatives", "fk_frame_vjp", "fk_vjp"),
}
"""Algorithms that share a panel, and in each of them a mark and a colour."""


def draw(folder: Path, run: Run) -> None:
    """Draw every plot for which the run has numbers."""
    _throughput(folder, run)
    _ratios(folder, run)
    _scaling(folder, run)
    _roofline(folder, run)
    _compile(folder, run)


def _canvas(width: float, height: float, *grid: int, **options: Any) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    canvas = Figure(figsize=(width, height), layout="constrained")
    return canvas, canvas.subplots(*grid, **options)


def _save(canvas: Any, path: Path) -> None:
    canvas.savefig(path, dpi=130)


def _title(run: Run) -> str:
    return f"{run.about['hardware']}, {run.about['date']}"


def _plain(run: Run) -> str:
    """Precision, cores and batch sizes of the figures."""
    device = run.about.get("device", "cpu")
    sizes = {
        r["batch"] for robot in run.robots for a in run.algorithms if (r := run.main(robot, a))
    }
    batches = ", ".join(f"{size:,}" for size in sorted(sizes))
    return f"float32, {'one core' if device == 'cpu' else device}, B = {batches}"


def _look(k: int) -> dict[str, Any]:
    """Colour and marker of the k-th robot."""
    return {"color": f"C{k % 10}", "marker": MARKS[k % len(MARKS)], "markersize": 4}


def _label(run: Run, robot: str) -> str:
    return f"{robot}, {run.dof(robot)} dof"


def _throughput(folder: Path, run: Run) -> None:
    """Robots per second over the batch size: a panel for each algorithm, a line for each robot.

    The best peer is dotted.
    """
    algorithms = [a for a in run.algorithms if any(len(run.plain(r, a)) > 1 for r in run.robots)]
    if not algorithms:
        return
    columns = min(5, len(algorithms))
    rows = -(-len(algorithms) // columns)
    size = 2.5 * columns + 0.6, 2.2 * rows + 1.1
    canvas, grid = _canvas(*size, rows, columns, sharex=True, sharey=True, squeeze=False)
    for axes in grid.flat[len(algorithms) :]:
        axes.set_axis_off()
    dotted = False
    for axes, algorithm in zip(grid.flat, algorithms, strict=False):
        for k, robot in enumerate(run.robots):
            found = run.plain(robot, algorithm)
            if not found:
                continue
            rates = [1e9 / r["ns"] for r in found]
            axes.plot([r["batch"] for r in found], rates, linewidth=1.2, **_look(k))
            best = min(run.rivals(robot, algorithm), key=lambda r: r["ns"], default=None)
            if best:
                axes.axhline(1e9 / best["ns"], color=f"C{k % 10}", linestyle=":", linewidth=1.2)
                dotted = True
        axes.set(xscale="log", yscale="log")
        axes.set_title(algorithm, fontsize="small")
        axes.grid(alpha=0.3)
        axes.tick_params(labelsize="small")
    for axes in grid.flat[max(0, len(algorithms) - columns) : len(algorithms)]:
        axes.tick_params(labelbottom=True)
        axes.set_xlabel("robots in the batch", fontsize="small")
    lines = [
        grid.flat[0].plot([], [], label=_label(run, robot), **_look(k))[0]
        for k, robot in enumerate(run.robots)
    ]
    if dotted:
        lines += grid.flat[0].plot(
            [], [], ":", color="grey", label="its best peer on the same core"
        )
    canvas.legend(handles=lines, loc="outside lower center", ncols=6, fontsize="small")
    canvas.supylabel("robots per second", fontsize="small")
    canvas.suptitle(
        f"Throughput of bound calls, {_plain(run).partition(', B')[0]}; {_title(run)}",
        fontsize="small",
    )
    _save(canvas, folder / "throughput.png")


def _peer_colors(run: Run) -> dict[str, Any]:
    names = list(dict.fromkeys(r["library"] for r in run.peers if "ns" in r))
    return {name: f"C{k}" if k < 10 else str(0.0 + 0.4 * (k - 10)) for k, name in enumerate(names)}


def _ratios(folder: Path, run: Run) -> None:
    """Bars with the time of each peer divided by warpdyn's, a panel for each robot."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    colors = _peer_colors(run)
    robots = [robot for robot in run.robots if any(run.rivals(robot, a) for a in run.algorithms)]
    if not robots:
        return
    size = 13, 1.8 * len(robots) + 1.6
    canvas, grid = _canvas(*size, len(robots), 1, sharex=True, sharey=True, squeeze=False)
    for axes, robot in zip(grid.flat, robots, strict=True):
        for place, algorithm in enumerate(run.algorithms):
            own = run.main(robot, algorithm)
            rivals = {r["library"]: r["ns"] for r in run.rivals(robot, algorithm)}
            if own is None or not rivals:
                continue
            shown = [name for name in colors if name in rivals]
            start = (
                place - 0.08 * (len(shown) - 1) / 2
            )  # the bars that there are stand about the label
            places = [start + 0.08 * k for k in range(len(shown))]
            times = [rivals[name] / own["ns"] for name in shown]
            axes.bar(
                places, [x - 1 for x in times], 0.08, 1, color=[colors[name] for name in shown]
            )
            asked = robot in ("panda", "talos_reduced") and lists.TIMES_BEST_PEER.get(algorithm)
            if asked:
                axes.hlines(asked, place - 0.48, place + 0.48, color="black", linewidth=1)
        axes.set(yscale="log", ylabel=_label(run, robot).replace(", ", "\n"))
        axes.axhline(1, color="black", linewidth=0.8)
        axes.grid(axis="y", alpha=0.3)
        axes.set_axisbelow(True)
        axes.set_xticks(
            range(len(run.algorithms)),
            [a.replace("_", "\n") for a in run.algorithms],
            fontsize="x-small",
        )
    grid.flat[0].set_xlim(-0.6, len(run.algorithms) - 0.4)
    handles: list[Any] = [Patch(label=name, color=color) for name, color in colors.items()]
    handles.append(Line2D([], [], color="black", linewidth=1, label="asked of the best peer"))
    canvas.legend(handles=handles, loc="outside lower center", ncols=6, fontsize="small")
    canvas.supylabel("time of a peer by warpdyn's (1: as fast)", fontsize="small")
    canvas.suptitle(
        f"Peers on the same core; warpdyn {_plain(run)}; {_title(run)}", fontsize="small"
    )
    _save(canvas, folder / "ratios.png")


def _family(algorithm: str) -> tuple[str, int]:
    """Family of an algorithm, and its index in the family."""
    for family, names in FAMILIES.items():
        if algorithm in names:
            return family, names.index(algorithm)
    return "derivatives", 4


def _scaling(folder: Path, run: Run) -> None:
    """Time per robot, and per thousand operations, over degrees of freedom."""
    if len(run.robots) < 3:
        return
    families = [name for name in FAMILIES if any(_family(a)[0] == name for a in run.algorithms)]
    canvas, grid = _canvas(
        3.4 * len(families), 6.4, 2, len(families), sharex=True, sharey="row", squeeze=False
    )
    for column, family in enumerate(families):
        top, bottom = grid[0][column], grid[1][column]
        for algorithm in run.algorithms:
            if _family(algorithm)[0] != family:
                continue
            found = [
                r for robot in run.robots if (r := run.main(robot, algorithm)) and r["operations"]
            ]
            found.sort(key=lambda r: r["nv"])
            look = {**_look(_family(algorithm)[1]), "linewidth": 1, "label": algorithm}
            dof = [r["nv"] for r in found]
            top.plot(dof, [r["ns"] for r in found], **look)
            bottom.plot(dof, [1000 * r["ns"] / r["operations"] for r in found], **look)
        top.set(xscale="log", yscale="log")
        top.set_title(family, fontsize="small")
        top.legend(loc="upper left", fontsize="x-small")
        bottom.set(xscale="log", yscale="log")
    low, high = grid[1][0].get_ylim()
    steps = [
        step * 10.0**k for k in range(-4, 6) for step in (1, 2, 5) if low <= step * 10.0**k <= high
    ]
    grid[1][0].set_yticks(steps, [f"{step:g}" for step in steps])
    ticks = sorted({run.dof(robot) for robot in run.robots})
    for axes in grid.flat:
        axes.grid(alpha=0.3)
        axes.minorticks_off()
        axes.set_xticks(ticks, map(str, ticks))
    grid[0][0].set_ylabel("ns for one robot")
    grid[1][0].set_ylabel("ns for 1,000 operations")
    names = ", ".join(
        _label(run, robot).removesuffix(" dof").replace(",", "") for robot in run.robots
    )
    canvas.supxlabel(f"degrees of freedom ({names})", fontsize="small")
    canvas.suptitle(f"Cost of warpdyn's programs, {_plain(run)}; {_title(run)}", fontsize="small")
    _save(canvas, folder / "scaling.png")


def _roofline(folder: Path, run: Run) -> None:
    """Operations per second over operations per byte, below the measured limits."""
    limits = run.about.get("limits")
    points: dict[str, list[Record]] = {}
    for robot in run.robots:
        found = [r for a in run.algorithms if (r := run.main(robot, a)) and r["operations"]]
        if found:
            points[robot] = found
    if not limits or not points:
        return
    columns = min(3, len(points) + 1)
    rows = -(-(len(points) + 1) // columns)
    size = 4 * columns, 3.4 * rows + 0.5
    canvas, grid = _canvas(*size, rows, columns, sharex=True, sharey=True, squeeze=False)
    ratio = [r["operations"] / r["bytes"] for found in points.values() for r in found]
    low, high = min(ratio) / 1.6, max(ratio) * 1.6
    for axes, (robot, found) in zip(grid.flat, points.items(), strict=False):
        _roofs(axes, limits, low, high)
        for r in found:
            axes.plot(
                r["operations"] / r["bytes"], r["operations"] / r["ns"], **_point(r["algorithm"])
            )
        axes.set(xscale="log", yscale="log")
        axes.set_title(_label(run, robot), fontsize="small")
        axes.grid(alpha=0.3)
    for axes in grid.flat[len(points) :]:
        axes.set_axis_off()
    for axes in grid.flat[max(0, len(points) - columns) : len(points)]:
        axes.tick_params(labelbottom=True)
    handles = [grid.flat[0].plot([], [], label=a, **_point(a))[0] for a in run.algorithms]
    handles += grid.flat[0].lines[:2]
    grid.flat[-1].legend(handles=handles, loc="center", ncols=2, fontsize="x-small")
    canvas.supxlabel("operations per byte read or written", fontsize="small")
    canvas.supylabel("G operations per second", fontsize="small")
    canvas.suptitle(f"Roofline, {_plain(run)}; {_title(run)}", fontsize="small")
    _save(canvas, folder / "roofline.png")


def _point(algorithm: str) -> dict[str, Any]:
    """Marker of an algorithm's family, and colour within it."""
    family, place = _family(algorithm)
    mark = "osD^"[list(FAMILIES).index(family)]
    return {
        "marker": mark,
        "color": f"C{place}",
        "markersize": 6,
        "linestyle": "",
        "markeredgecolor": "black",
    }


def _roofs(axes: Any, limits: dict[str, Any], low: float, high: float) -> None:
    sizes = sorted(float(size) for size in limits["copy"])
    steps = [low * (high / low) ** (i / 200) for i in range(201)]
    for size, style in ((sizes[0], "--"), (sizes[-1], "-")):
        rate = bandwidth(limits, size)
        moved = f"{size / 1024:.0f} KiB" if size < 1 << 20 else f"{size / (1 << 20):.0f} MiB"
        label = f"copies of {moved}, {rate / 1e9:,.0f} GB/s"
        roof = [min(limits["operations"], x * rate) / 1e9 for x in steps]
        axes.plot(steps, roof, style, color="black", linewidth=1.2, label=label)
    peak = limits["operations"] / 1e9
    axes.text(
        high,
        1.03 * peak,
        f"multiply-adds, {peak:,.0f} G/s ",
        ha="right",
        va="bottom",
        fontsize="x-small",
    )


def _compile(folder: Path, run: Run) -> None:
    """Seconds of the first call over operations, cold and warm, next to the peers'."""
    found = [
        (own["operations"], record)
        for key, record in run.compiled.items()
        if (own := run.main(*key))
    ]
    if not found:
        return
    theirs = {
        name: [r for r in run.peers if r["library"] == name and "ns" in r]
        for name in _peer_colors(run)
    }
    canvas, (left, right) = _canvas(11, 4.6, 1, 2, sharey=True, width_ratios=(3, 4))
    for which, color in (("cold", "black"), ("warm", "grey")):
        seconds = [max(record[which], 1e-4) for _, record in found]
        left.plot(
            [operations for operations, _ in found],
            seconds,
            "o",
            color=color,
            markersize=4,
            label=which,
        )
    left.axhline(
        lists.COLD_COMPILE,
        color="black",
        linewidth=0.8,
        linestyle="--",
        label="asked at most, 38 dof, cold",
    )
    left.set(
        xscale="log",
        yscale="log",
        xlabel="operations of the program",
        ylabel="seconds of the first call",
    )
    left.set_title("warpdyn, empty cache (cold) and full (warm)", fontsize="small")
    left.legend(fontsize="x-small")
    groups: dict[str, Sequence[float]] = {"warpdyn, cold": [record["cold"] for _, record in found]}
    groups |= {
        name: [max(r["first_call_seconds"], 1e-4) for r in rows] for name, rows in theirs.items()
    }
    for place, (name, group) in enumerate(groups.items()):
        color = _peer_colors(run).get(name, "black")
        right.plot([place] * len(group), group, "o", color=color, markersize=4, alpha=0.6)
    right.set_xticks(range(len(groups)), groups, rotation=40, ha="right", fontsize="small")
    right.set_title("first call of each robot and algorithm", fontsize="small")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    canvas.suptitle(f"To record or trace, compile and run once; {_title(run)}", fontsize="small")
    _save(canvas, folder / "compile.png")
