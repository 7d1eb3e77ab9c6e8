"""`warpdyn simulate`: simulates robots on the ground for some seconds, and prints and draws the
results."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...execution.threads import set_num_threads
from ...functions.simulation.contact_points import ContactPoints
from ...functions.simulation.default_points import refuse_unread
from ...functions.simulation.simulation import Simulation
from ...model import Model
from ...model.scene.free_bodies import free_joints
from ...model.structure import DRAWN
from ..argument_types import at_least_zero, count, positive, seed
from ..command_line import (
    UserError,
    check_file,
    check_picture,
    choose_device,
    read_model,
    refuse_immobile,
    user_errors,
    write_file,
)
from ..console import in_words, say, show
from ..hardware import hardware
from ..shared_options import Commands, add_command, add_device, add_page, add_robot, add_threads
from .roll_out import HOME, History, Plan, drivable, pushed_link, pushes, roll_out

if TYPE_CHECKING:
    from .simulated_motion import SimulatedMotion

QUANTITIES = {
    "heights": "height of the base [m]",
    "loads": "ground force / weight",
    "pair_loads": "largest pair force / weight",
    "errors": "joints off target [rad, m]",
    "efforts": "largest torque / limit",
    "residuals": "residual / weight",
}
"""Labels of a `History`'s measurements in the table and the picture."""

ENVS, ON_PAGE = 1024, 1
"""How many robots by default, and on a page."""

BANDS = ((0.0, 1.0, 0.15, "all"), (0.1, 0.9, 0.35, "80 %"))
"""Lower and upper quantile of each band, its opacity, and the share of robots in it."""


def add_parser(commands: Commands) -> None:
    """Add `warpdyn simulate`."""
    text = "drop robots onto the ground, let them hold a posture, push them, and draw the motion"
    sub = add_command(commands, "simulate", text)
    add_robot(sub)
    _add_numbers(sub)
    text = "also compute the error that the contact sweeps leave: another kernel, and slower"
    sub.add_argument("--residual", action="store_true", help=text)
    add_device(sub)
    add_threads(sub)
    text = "draw the motion over time (.png, .svg, .pdf)"
    sub.add_argument("--png", type=Path, metavar="FILE", help=text)
    text = "show the motion in the browser, with contacts and forces, until Ctrl-C (extra [viewer])"
    sub.add_argument("--view", action="store_true", help=text)
    text = "write the motion as a page that needs no server (.html), or viser's recording (.viser)"
    sub.add_argument("--record", type=Path, metavar="FILE", help=text)
    add_page(sub)
    text = "write the drawn curves and the last state for numpy.load (.npz)"
    sub.add_argument("--save", type=Path, metavar="FILE", help=text)
    text = "replace the file of --save if it exists"
    sub.add_argument("--force", action="store_true", help=text)
    sub.set_defaults(run=simulate)


def _add_numbers(sub: argparse.ArgumentParser) -> None:
    text = "number of robots; default: 1024, with --view and --record 1"
    sub.add_argument("--envs", type=count, metavar="N", help=text)
    text = "simulated time [s]; default: 5"
    sub.add_argument("--seconds", type=positive, default=5.0, metavar="N", help=text)
    text = "time step [s], at most 0.1; default: 0.005"
    sub.add_argument("--dt", type=positive, default=0.005, metavar="N", help=text)
    text = "steps in a launch; default: 4"
    sub.add_argument("--substeps", type=count, default=4, metavar="N", help=text)
    text = (
        "stiffness of all drives [N·m/rad]; default: a joint's whole effort at an error of 0.1 rad"
    )
    sub.add_argument("--kp", type=at_least_zero, metavar="N", help=text)
    text = "damping of all drives [N·m·s/rad]; default: by kp and inertia"
    sub.add_argument("--kd", type=at_least_zero, metavar="N", help=text)
    text = "friction coefficient of the ground; default: that of an MJCF file, else 0.8"
    sub.add_argument("--friction", type=at_least_zero, metavar="N", help=text)
    text = (
        "two links that touch each other, or patterns of their names such as '*finger'; may be given "
        "several times; default: links touch the ground only"
    )
    sub.add_argument(
        "--pair", nargs=2, action="append", default=[], dest="pairs", metavar="LINK", help=text
    )
    text = "force of a push every second in a random direction [N]; default: 0"
    sub.add_argument("--push", type=at_least_zero, default=0.0, metavar="N", help=text)
    text = "seed of initial states and pushes; default: 0"
    sub.add_argument("--seed", type=seed, default=0, metavar="N", help=text)


def simulate(args: argparse.Namespace) -> int:
    """Run the simulation, print its table, write its files, and show its motion."""
    on_page = args.view or args.record is not None
    if args.envs is None:
        args.envs = ON_PAGE if on_page else ENVS
    if args.png:
        check_picture(args.png)
    if args.save:
        check_file(args.save)
        if args.save.exists() and not args.force:
            raise UserError(f"{args.save} exists; --force replaces it")
    if args.record is not None:
        check_file(args.record)
        if args.record.suffix not in (".html", ".viser"):
            raise UserError(f"cannot write {args.record}: its ending must be .html or .viser")
    motion = new_motion() if on_page else None
    model = refuse_immobile(read_model(args))
    if args.threads:
        set_num_threads(args.threads)
    words = {name: getattr(args, name) for name in Plan._fields if name != "device"}
    plan = Plan(**words, device=choose_device(args.device))
    with user_errors(ValueError, TypeError, KeyError):  # of Simulation, for invalid arguments
        refuse_unread(ContactPoints(model))
        for line in remarks(model, plan):
            say(line)
        sim, history = roll_out(model, plan, None if motion is None else motion.add)
    print_results(model, plan, sim, history)
    if args.save:
        saved = {"times": history.time, **history.measured, **sim.state()}
        write_file(args.save, lambda path: _save(path, saved))
        print(f"saved: {args.save}")
    if args.png:
        write_file(args.png, lambda path: picture(model, plan, history, path))
        print(f"picture: {args.png}")
    if motion is not None:
        show_on_page(args, motion, sim, plan.dt * plan.substeps)
    return 0


def new_motion() -> SimulatedMotion:
    """A motion to be shown; raises if the viewer is not installed."""
    with user_errors(ImportError):
        from .simulated_motion import SimulatedMotion
    return SimulatedMotion()


def show_on_page(
    args: argparse.Namespace, motion: SimulatedMotion, sim: Simulation, seconds: float
) -> None:
    """Show a motion whose launches last `seconds`, and write it."""
    from ...viewer import ViewerError
    from .simulated_motion import show_motion

    with user_errors(ViewerError):
        show_motion(
            motion, sim, seconds, args.record, stays=args.view, host=args.host, port=args.port
        )


def remarks(model: Model, plan: Plan) -> Iterator[str]:
    """Remarks on this robot that a user should know before reading the figures."""
    points = ContactPoints(model)
    if not points and model.floating_base:
        yield (
            f"{model.name} has no collision shapes that touch the ground: it falls freely; "
            "give its links spheres, boxes, capsules or cylinders"
        )
    if not drivable(model):
        yield "no drives: wd.PD drives single angles and lengths, and this robot has other joints"
    elif HOME not in model.configurations:
        held = f'"{DRAWN}"' if DRAWN in model.configurations else "the neutral configuration"
        yield f'held is {held}: the robot has none named "{HOME}"'
    if not plan.pairs and not model.floating_base and free_joints(model):
        yield "bodies pass through each other; --pair names two links that touch"
    if plan.push:
        yield (
            f"pushed is {pushed_link(model)}, every second by {plan.push:g} N for 0.2 s "
            "in a direction of its own"
        )


def print_results(model: Model, plan: Plan, sim: Simulation, history: History) -> None:
    """Print the title, and a table of the last launch."""
    from rich.box import HEAVY_HEAD
    from rich.table import Table

    say(
        f"{model.name}: {plan.envs:,} robots with {len(sim.points)} contact points each for "
        f"{history.time[-1]:g} s, {plan.substeps} steps of {1000 * plan.dt:g} ms a launch, float32, "
        f"on {plan.device}: {hardware(plan.device)}"
    )
    table = Table(box=HEAVY_HEAD)
    table.add_column("at the end", no_wrap=True)
    for name in ("least", "median", "most"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, values in history.measured.items():
        marks = np.quantile(values[-1], (0.0, 0.5, 1.0))
        table.add_row(QUANTITIES[name].replace("[", "\\["), *(f"{x:.4f}" for x in marks))
    show(table)
    # The first launch is not counted, because it may include compiling.
    steps = plan.envs * plan.substeps * (len(history.time) - 1)
    if steps:
        speed = steps / history.wall
        say(
            f"{in_words(speed)} steps a second: all robots together {in_words(speed * plan.dt)} "
            f"times real time; the first launch took {history.first_launch:.2f} s"
        )
    if (standing := upright(history)) is not None:
        say(f"{standing:.1%} ended above half of their height in the first second")
    if history.failures:
        say(f"a state was not finite, and began anew, {history.failures} times")
    if history.pairs_left_out:
        say(
            f"{history.pairs_left_out} times two shapes were near each other and did not touch, because "
            "all slots were taken: wd.ContactPairs(model, slots=) has more"
        )


def upright(history: History) -> float | None:
    """Share of the free bases that end above half of their median height in the first second."""
    heights = history.measured.get("heights")
    if heights is None or "loads" not in history.measured:
        return None
    first = heights[history.time <= max(1.0, history.time[0])]
    return float(np.mean(heights[-1] > 0.5 * np.median(first, axis=0)))


def picture(model: Model, plan: Plan, history: History, path: Path) -> None:
    """Draw the measurements over time: the median of all robots, and bands around it."""
    from matplotlib.figure import Figure

    shown = {n: x for n, x in history.measured.items() if n in QUANTITIES}
    figure = Figure(figsize=(9, 1.0 + 2.1 * len(shown)), layout="constrained")
    push = f", pushed by {plan.push:g} N where it is orange" if plan.push else ""
    figure.suptitle(f"{plan.envs:,} times {model.name}{push}", fontsize="medium")
    panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
    for panel, (name, values) in zip(panels, shown.items(), strict=True):
        for low, high, alpha, label in BANDS:
            below, above = np.quantile(values, (low, high), axis=1)
            panel.fill_between(
                history.time, below, above, alpha=alpha, color="tab:blue", lw=0, label=label
            )
        panel.plot(history.time, np.median(values, axis=1), color="tab:blue", label="median")
        panel.set_ylabel(QUANTITIES[name].replace(" [", "\n["), fontsize="small")
        panel.grid(alpha=0.3)
        panel.margins(x=0.0)
        for begin, end in pushes(plan):
            panel.axvspan(begin, end, color="tab:orange", alpha=0.15, lw=0)
        if name == "residuals":
            panel.set_yscale("log")
            panel.set_ylim(1e-6, 10.0)
        if name == "loads":  # landings and falls would otherwise hide the usual load
            panel.set_ylim(0.0, min(3.0, 1.1 * max(float(values.max()), 1.0)))
    panels[0].legend(loc="upper right", fontsize="small", ncols=3)
    panels[-1].set_xlabel("time [s]")
    figure.savefig(path, dpi=90)


def _save(path: Path, arrays: dict[str, np.ndarray]) -> None:
    with path.open("wb") as file:  # numpy would add its own suffix
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
