"""`warpdyn sim2sim`: a policy in warpdyn and in MuJoCo C, side by side."""

from __future__ import annotations

import argparse

from ..tables import say
from .eval import about, bar, print_table, refused, task_and_policy

LONG = 10.0
"""Seconds of an episode, where none are said."""


def compare(args: argparse.Namespace) -> int:
    """The policy where it was trained and in MuJoCo, and what of its return it keeps."""
    rl, task, policy = task_and_policy(args)
    seconds = min(LONG, task.seconds) if args.seconds is None else args.seconds
    seen = refused(
        lambda: rl.sim2sim(
            *(task, policy),
            **{"envs": args.envs, "seconds": seconds, "seed": args.seed},
            **{"dt": args.dt, "contact_time": args.contact_time},
            watch=lambda steps: bar(steps, task.name),
        )
    )
    title = f"{task.name}: {about(policy, seen.here)}; without noise"
    print_table(title, {"warpdyn": seen.here, f"MuJoCo, {1e3 * seen.dt:g} ms": seen.there})
    say(f"kept in MuJoCo C: {seen.kept:.1%} of the return")
    return 0
