"""`warpdyn view`: shows a robot, a trajectory, or thousands of robots in the browser."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..functions.manifold import random_configuration
from ..model import Model
from ..model.scene.free_bodies import free_joints
from ..model.structure import start_of
from .argument_types import count, package, positive
from .command_line import UserError, read_model, user_errors
from .console import say
from .shared_options import Commands, add_command, add_page, add_robot, add_topic

if TYPE_CHECKING:
    from ..viewer import Viewer

LOOPBACKS = ("127.0.0.1", "localhost", "::1")
"""Hosts that only this machine can reach."""


def add_parser(commands: Commands) -> None:
    """Add `warpdyn view`."""
    text = "show a robot, a trajectory or thousands of robots in the browser (extra [viewer])"
    sub = add_command(commands, "view", text)
    add_robot(sub)
    sub.add_argument("--collision", action="store_true", help="show collision shapes")
    text = "folder of the package in mesh addresses package://NAME/...; may be repeated"
    sub.add_argument(
        "--package", type=package, action="append", default=[], metavar="NAME=FOLDER", help=text
    )
    text = "number of robots, each in another configuration; default: 1"
    sub.add_argument("--envs", type=count, default=1, metavar="N", help=text)
    text = "play a .npz, .csv or .parquet file, or the joint states of a .bag, .mcap or folder"
    sub.add_argument("--trajectory", type=Path, metavar="FILE", help=text)
    add_topic(sub)
    sub.add_argument(
        "--speed", type=positive, default=1.0, metavar="N", help="speed of playback; default: 1"
    )
    sub.add_argument("--once", action="store_true", help="play the trajectory once")
    text = "write a page that needs no server (.html), or viser's recording (.viser), and exit"
    sub.add_argument("--record", type=Path, metavar="FILE", help=text)
    text = "write a picture, by a headless Chromium, and exit"
    sub.add_argument("--png", type=Path, metavar="FILE", help=text)
    add_page(sub)
    sub.set_defaults(run=view)


def view(args: argparse.Namespace) -> int:
    """Show the robot until Ctrl-C, or write it as a page or a picture."""
    with user_errors(ImportError):
        from .. import viewer
    if args.trajectory and args.envs > 1:
        raise UserError("--trajectory gives the number of robots; leave out --envs")
    model = read_model(args)
    written = [path for path in (args.record, args.png) if path]
    with user_errors(viewer.ViewerError):
        # A page that is only written has no controls and can use any port.
        shown = viewer.show(
            model,
            _configurations(model, args.envs),
            which="collision" if args.collision else "visual",
            controls=not written and not args.trajectory,
            packages=dict(args.package),
            host=args.host,
            port=0 if written else args.port,
        )
    try:
        with user_errors(viewer.ViewerError):
            return _show_motion(args, model, shown)
    finally:
        shown.stop()


def _show_motion(args: argparse.Namespace, model: Model, shown: Viewer) -> int:
    from ..viewer.trajectory import RATE
    from ..viewer.trajectory_files import TIMES, read_trajectory

    for line in shown.remarks:
        say(line)
    if args.trajectory:
        motion = read_trajectory(model, args.trajectory, args.topic)
        shown.trajectory(model, motion.q, motion.times, loop=not args.once, speed=args.speed)
        say(f"{args.trajectory}: {len(motion.times)} rows, {motion.seconds:.3g} s")
        if not motion.has_times:
            say(
                f"{args.trajectory}: it has no times, in a column {', '.join(TIMES)}; "
                f"it plays {RATE:g} rows a second"
            )
        if motion.still:
            say(
                f"{args.trajectory}: it does not name {', '.join(motion.still)}; what it does not name stands still"
            )
    if args.record:
        path = shown.record(args.record)
        opened = "a browser" if path.suffix == ".html" else "viser's own player"
        say(f"{path}: {path.stat().st_size / 1e6:.2f} MB; {opened} opens it without a server")
    if args.png:
        say(f"{shown.png(args.png)}")
    if not (args.record or args.png):
        if args.host not in LOOPBACKS:
            say(f"whoever reaches {args.host} can see the page and move the robot on it")
        try:
            say(f"{model.name} at {shown.address}; Ctrl-C ends it")
            shown.wait()
        except KeyboardInterrupt:  # between the message and the wait
            pass
    return 0


def _configurations(model: Model, envs: int) -> Any:
    """None for one robot; for several, random configurations."""
    if envs == 1:
        return None
    q = np.asarray(random_configuration(model, envs, seed=0), dtype=np.float32)
    for joint in free_joints(model):  # robots stand, and objects lie, where they begin
        columns = model.coordinates[joint.name].q
        q[:, columns] = start_of(model)[columns]
    return q
