"""`warpdyn sim2sim`: comparison of a policy in warpdyn and in MuJoCo C."""

from __future__ import annotations

import argparse

from ..argument_types import positive
from ..console import say
from ..shared_options import Commands, add_command
from .eval import describe_evaluation, print_table
from .policy_options import add_envs, add_policy, add_seconds, add_seed, add_task
from .task_from_options import add_quadruped, bar, report_task_errors, task_and_policy

LONG = 10.0
"""Default length of an episode [s]."""


def add_parser(commands: Commands) -> None:
    """Add `warpdyn sim2sim`."""
    text = "compare a policy in warpdyn and in MuJoCo C"
    sub = add_command(commands, "sim2sim", text, own_help=True)
    add_task(sub)
    add_policy(sub)
    add_envs(sub, 48)
    add_seconds(
        sub,
        "length of each episode [s]; default: 10, or the task's if that is less",
    )
    add_seed(sub)
    add_quadruped(sub)
    text = "MuJoCo's step [s]; default: an eighth of the contacts' time constant, less with stiff drives"
    sub.add_argument("--dt", type=positive, metavar="N", help=text)
    text = (
        "time constant of MuJoCo's contacts [s]; default: its own, 0.02, on a height map or with "
        "contact pairs 0.004, at least two steps"
    )
    sub.add_argument("--contact-time", type=positive, metavar="N", help=text)
    sub.set_defaults(run=compare)


def compare(args: argparse.Namespace) -> int:
    """Evaluate the policy in warpdyn, where it was trained, and in MuJoCo, and print the share of
    its return that remains."""
    rl, task, policy = task_and_policy(args)
    seconds = min(LONG, task.seconds) if args.seconds is None else args.seconds
    seen = report_task_errors(
        lambda: rl.sim2sim(
            task,
            policy,
            envs=args.envs,
            seconds=seconds,
            seed=args.seed,
            dt=args.dt,
            contact_time=args.contact_time,
            watch=lambda steps: bar(steps, task.name),
        )
    )
    title = f"{task.name}: {describe_evaluation(policy, seen.here)}; without noise"
    print_table(title, {"warpdyn": seen.here, f"MuJoCo, {1e3 * seen.dt:g} ms": seen.there})
    if seen.here.returned > 0:
        say(f"kept in MuJoCo C: {seen.return_ratio:.1%} of the return")
    else:
        say("kept in MuJoCo C: no share, because the return in warpdyn is not positive")
    return 0
