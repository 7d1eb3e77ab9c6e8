"""Pictures of a run: throughput, ratios, cost by degrees of freedom, roofline, compile times."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import cases as lists
from .limit import bandwidth
from .report import Run


def draw(folder: Path, run: Run) -> None:
    """Every picture that the run has numbers for."""
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


def _throughput(folder: Path, run: Run) -> None:
    """Robots per second against the batch: a panel for each algorithm, a line for each robot, its best peer dotted."""
    algorithms = [a for a in run.algorithms if any(len(run.plain(r, a)) > 1 for r in run.robots)]
    if not algorithms:
        return
    columns = min(4, len(algorithms))
    rows = -(-len(algorithms) // columns)
    canvas, grid = _canvas(3.4 * columns, 2.7 * rows + 0.5, rows, columns, sharex=True, squeeze=False)
    for axes in grid.flat[len(algorithms) :]:
        axes.set_axis_off()
    for axes, algorithm in zip(grid.flat, algorithms, strict=False):
        for k, robot in enumerate(run.robots):
            found = run.plain(robot, algorithm)
            if not found:
                continue
            rates = [1e9 / r["ns"] for r in found]
            axes.plot([r["batch"] for r in found], rates, marker="o", markersize=3, color=f"C{k}", label=robot)
            best = min(run.rivals(robot, algorithm), key=lambda r: r["ns"], default=None)
            if best:
                axes.axhline(1e9 / best["ns"], color=f"C{k}", linestyle=":", linewidth=1)
        axes.set(xscale="log", yscale="log")
        axes.set_title(algorithm, fontsize="small")
        axes.grid(alpha=0.3)
        axes.tick_params(labelsize="small")
    for axes in grid.flat[max(0, len(algorithms) - columns) : len(algorithms)]:
        axes.tick_params(labelbottom=True)
    handles, labels = grid.flat[0].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside right center", fontsize="small")
    canvas.supxlabel("robots in the batch", fontsize="small")
    canvas.supylabel("robots per second, float32, one core", fontsize="small")
    canvas.suptitle(f"{_title(run)}; dotted: the best peer on the same core", fontsize="small")
    _save(canvas, folder / "throughput.png")


def _ratios(folder: Path, run: Run) -> None:
    """Bars: how many times slower each peer is, a panel for each robot."""
    from matplotlib.patches import Patch

    names = list(dict.fromkeys(r["library"] for r in run.peers if "ns" in r))
    if not names:
        return
    looks = {name: {"color": f"C{k}" if k < 10 else "black"} for k, name in enumerate(names)}
    robots = [robot for robot in run.robots if any(run.rivals(robot, a) for a in run.algorithms)]
    canvas, grid = _canvas(12, 2.3 * len(robots) + 0.7, len(robots), 1, squeeze=False)
    for axes, robot in zip(grid.flat, robots, strict=True):
        shown = [a for a in run.algorithms if run.rivals(robot, a) and run.main(robot, a)]
        width = 0.85 / len(names)
        for k, name in enumerate(names):
            places, heights = [], []
            for place, algorithm in enumerate(shown):
                own = run.main(robot, algorithm)
                of_name = [r["ns"] for r in run.rivals(robot, algorithm) if r["library"] == name]
                if own and of_name:
                    places.append(place + (k - len(names) / 2 + 0.5) * width)
                    heights.append(of_name[0] / own["ns"])
            axes.bar(places, heights, width, **looks[name])
        axes.axhline(1, color="black", linewidth=0.8)
        axes.set(yscale="log", ylabel=f"{robot}\ntimes warpdyn")
        axes.set_xticks(range(len(shown)), [a.replace("_", "\n") for a in shown], fontsize="x-small")
        axes.grid(axis="y", alpha=0.3)
    patches = [Patch(label=name, **look) for name, look in looks.items()]
    canvas.legend(handles=patches, loc="outside lower center", ncols=6, fontsize="small")
    canvas.suptitle(
        f"Time of each peer on one core, by warpdyn's float32 at B = 16,384; {_title(run)}", fontsize="small"
    )
    _save(canvas, folder / "ratios.png")


def _scaling(folder: Path, run: Run) -> None:
    """Cost of a robot, and time of an operation, against degrees of freedom."""
    if len(run.robots) < 3:
        return
    canvas, (left, right) = _canvas(11, 4.6, 1, 2)
    for k, algorithm in enumerate(run.algorithms):
        found = [r for robot in run.robots if (r := run.main(robot, algorithm))]
        found.sort(key=lambda r: r["nv"])
        look = {"marker": "osv^D"[k // 10], "markersize": 4, "color": f"C{k % 10}", "linewidth": 1, "label": algorithm}
        left.plot([r["nv"] for r in found], [r["ns"] for r in found], **look)
        cost = [1000 * r["ns"] / r["operations"] for r in found]
        right.plot([r["operations"] for r in found], cost, **{**look, "linestyle": ""})
    left.set(xscale="log", yscale="log", xlabel="degrees of freedom", ylabel="ns for one robot")
    right.set(xscale="log", yscale="log", xlabel="operations of the program", ylabel="ps for one operation")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    ticks = sorted({r["nv"] for r in run.own if "nv" in r})
    left.set_xticks(ticks, map(str, ticks))
    left.minorticks_off()
    right.yaxis.set_minor_formatter("")
    right.set_yticks([10, 20, 50, 100, 200], ["10", "20", "50", "100", "200"])
    canvas.legend(*left.get_legend_handles_labels(), loc="outside right center", fontsize="x-small")
    canvas.suptitle(f"Float32, one core, B = 16,384; {_title(run)}", fontsize="small")
    _save(canvas, folder / "scaling.png")


def _roofline(folder: Path, run: Run) -> None:
    """Operations per second against operations per byte, under the measured roofs of cache and memory."""
    limits = run.about.get("limits")
    if not limits:
        return
    canvas, axes = _canvas(9, 5.4)
    points = [
        (robot, r) for robot in run.robots for a in run.algorithms if (r := run.main(robot, a)) and r["operations"]
    ]
    if not points:
        return
    x = [r["operations"] / r["bytes"] for _, r in points]
    low, high = min(x) / 1.6, max(x) * 1.6
    sizes = sorted(limits["copy"], key=float)
    for size, style in ((sizes[0], "--"), (sizes[-1], "-")):
        roof: Callable[[float], float] = lambda x, size=size: min(  # noqa: E731
            limits["operations"], x * bandwidth(limits, float(size))
        )
        steps = [low * (high / low) ** (i / 200) for i in range(201)]
        moved = f"{float(size) / 1024:.0f} KiB" if float(size) < 1 << 20 else f"{float(size) / (1 << 20):.0f} MiB"
        label = f"copies of {moved}, multiply-adds"
        axes.plot(steps, [roof(s) / 1e9 for s in steps], style, color="black", linewidth=1.2, label=label)
    marks = "osv^DP*X<>pd|_1234+x"
    for k, robot in enumerate(run.robots):
        for j, algorithm in enumerate(run.algorithms):
            r = run.main(robot, algorithm)
            if r and r["operations"]:
                axes.plot(
                    r["operations"] / r["bytes"],
                    r["operations"] / r["ns"],
                    marks[j % len(marks)],
                    color=f"C{k}",
                    markersize=5,
                )
    for k, robot in enumerate(run.robots):
        axes.plot([], [], "s", color=f"C{k}", label=robot)
    for j, algorithm in enumerate(run.algorithms):
        axes.plot([], [], marks[j % len(marks)], color="grey", linestyle="", label=algorithm)
    axes.set(xscale="log", yscale="log", xlabel="operations per byte read or written", ylabel="G operations per second")
    axes.grid(alpha=0.3)
    canvas.legend(loc="outside right center", fontsize="x-small")
    canvas.suptitle(f"Roofline, {limits['unit']}, B = {lists.BATCH:,}; {_title(run)}", fontsize="small")
    _save(canvas, folder / "roofline.png")


def _compile(folder: Path, run: Run) -> None:
    """Seconds of the first call by operations, cold and warm; the peers' slowest first call as lines."""
    found = [(run.main(*key), record) for key, record in run.compiled.items()]
    found = [(own, record) for own, record in found if own]
    if not found:
        return
    canvas, axes = _canvas(9, 4.8)
    for which, color in (("cold", "C0"), ("warm", "C1")):
        axes.plot(
            [own["operations"] for own, _ in found],
            [max(record[which], 1e-4) for _, record in found],
            "o",
            color=color,
            markersize=4,
            label=f"warpdyn, {which}",
        )
    slowest: dict[str, float] = {}
    for r in run.peers:
        if "first_call_seconds" in r and r["first_call_seconds"] > 0.5:
            slowest[r["library"]] = max(slowest.get(r["library"], 0.0), r["first_call_seconds"])
    for k, (name, seconds) in enumerate(slowest.items()):
        axes.axhline(seconds, color=f"C{2 + k}", linestyle=":", label=f"{name}, slowest first call")
    axes.axhline(lists.COLD_COMPILE, color="black", linewidth=0.8, label="to reach, any function of 38 joints")
    axes.set(xscale="log", yscale="log", xlabel="operations of the program", ylabel="seconds of the first call")
    axes.grid(alpha=0.3)
    canvas.legend(loc="outside right center", fontsize="small")
    canvas.suptitle(_title(run), fontsize="small")
    _save(canvas, folder / "compile.png")
