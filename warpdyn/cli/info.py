"""`warpdyn info`: links, coordinates, limits, masses and warnings of a robot."""

from __future__ import annotations

import argparse
import math

from ..model import Model
from ..model.describe import head, remainder, tree
from ..model.names import printable
from .command_line import read_model
from .console import say, width
from .shared_options import Commands, add_command, add_robot


def add_parser(commands: Commands) -> None:
    """Add `warpdyn info`."""
    text = "print the tree of links, coordinates, limits, masses and warnings"
    sub = add_command(commands, "info", text)
    add_robot(sub)
    sub.set_defaults(run=info)


def info(args: argparse.Namespace) -> int:
    """Print the tree of links, its coordinates with their limits, masses, and warnings."""
    model = read_model(args, show_warnings=False)
    say(head(model))
    for line in tree(model, width()):
        print(line)
    print_coordinates(model)
    for joint in model.joints:
        if joint.mimic is not None and joint.kind.nv:
            mimic = joint.mimic
            say(f"{joint.name} = {mimic.multiplier:g} * {mimic.joint} + {mimic.offset:g}")
    for line in remainder(model):
        say(line)
    for warning in model.warnings:
        say(f"warning: {warning}")
    return 0


def print_coordinates(model: Model) -> None:
    """A line for each coordinate of q: its column in q and in v, its name and its limits."""
    names = [printable(name) for name in model.q_names]
    longest = max(map(len, (*names, "coordinate")))
    if model.nv:
        limits = f"{'lower':>9} {'upper':>9} {'velocity':>9} {'effort':>9}"
        print(f"\n{'q':>3} {'v':>3}  {'coordinate':{longest}} {limits}")
    for joint in model.moving_joints:
        columns = model.coordinates[joint.name]
        for k in range(joint.kind.nq):
            # A quaternion has one coordinate more than the joint has velocities.
            q, v = columns.q.start + k, columns.v.start + k if k < joint.kind.nv else None
            rates = (
                (math.inf,) * 2 if v is None else (model.velocity_limit[v], model.effort_limit[v])
            )
            bounds = (model.position_lower[q], model.position_upper[q], *rates)
            shown = " ".join(f"{x:9.4g}" if math.isfinite(x) else f"{'-':>9}" for x in bounds)
            print(f"{q:3} {'' if v is None else v:>3}  {names[q]:{longest}} {shown}")
