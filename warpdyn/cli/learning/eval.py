"""`warpdyn eval`: a policy's rewards without exploration, as a table."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..command_line import UserError
from ..console import say, show
from ..shared_options import Commands, add_command
from .policy_options import add_envs, add_policy, add_seconds, add_seed, add_task
from .task_from_options import add_quadruped, bar, report_task_errors, task_and_policy

if TYPE_CHECKING:
    from ...rl import Evaluation, Policy


def add_parser(commands: Commands) -> None:
    """Add `warpdyn eval`."""
    text = "print what a policy earns and measures, and how many fall"
    sub = add_command(commands, "eval", text, own_help=True)
    add_task(sub)
    add_policy(sub)
    add_envs(sub, 256)
    add_seconds(sub, "length of each episode [s]; default: the task's")
    add_seed(sub)
    add_quadruped(sub)
    text = "evaluate it under pushes, low friction, latency, payload and more, one at a time"
    sub.add_argument("--disturb", action="store_true", help=text)
    text = "with --disturb: in MuJoCo C instead of warpdyn"
    sub.add_argument("--mujoco", action="store_true", help=text)
    sub.set_defaults(run=evaluate)


def evaluate(args: argparse.Namespace) -> int:
    """Evaluate the policy in its task's environments."""
    rl, task, policy = task_and_policy(args)
    options: dict[str, Any] = {"envs": args.envs, "seconds": args.seconds, "seed": args.seed}
    options["watch"] = lambda steps: bar(steps, task.name)
    if args.disturb:
        simulator = "mujoco" if args.mujoco else "warpdyn"
        found = report_task_errors(
            lambda: rl.evaluate_disturbed(task, policy, simulator=simulator, **options)
        )
        where = "MuJoCo C" if args.mujoco else "warpdyn"
        say(f"{task.name} in {where}: {describe_evaluation(policy, found['none'])}")
        _print_disturbances(found)
        return 0
    if args.mujoco:
        raise UserError("--mujoco needs --disturb; warpdyn sim2sim compares the undisturbed task")
    seen = report_task_errors(lambda: rl.evaluate(task, policy, **options))
    print_table(f"{task.name}: {describe_evaluation(policy, seen)}", {"mean": seen})
    return 0


def _print_disturbances(found: Mapping[str, Evaluation]) -> None:
    """Print falls and returns under each disturbance."""
    from rich.box import HEAVY_HEAD
    from rich.table import Table

    table = Table(box=HEAVY_HEAD)
    table.add_column("disturbance", no_wrap=True)
    for title in ("falls", "return per second", "length of episodes \\[s]"):
        table.add_column(title, justify="right")
    for name, seen in found.items():
        table.add_row(name, f"{seen.falls:.1%}", f"{seen.returned:.3f}", f"{seen.length:.2f}")
    show(table)


def describe_evaluation(policy: Policy, seen: Evaluation) -> str:
    """Description of the evaluation in words."""
    made = policy.about.get("command")
    by = f", made by {made} at {policy.about.get('commit', 'unknown')}" if made else ""
    return f"{policy.path.name} in {seen.envs} environments, {seen.seconds:g} s each{by}"


def print_table(title: str, columns: dict[str, Evaluation]) -> None:
    """Print evaluations next to each other: the return, each reward, measures, falls."""
    from rich.box import HEAVY_HEAD
    from rich.markup import escape
    from rich.table import Table

    say(title)
    seen = list(columns.values())
    table = Table(box=HEAVY_HEAD)
    table.add_column("per second", no_wrap=True)
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_row("return", *[f"{x.returned:.3f}" for x in seen])
    for name in seen[0].rewards:
        table.add_row(f"  {escape(name)}", *[f"{x.rewards[name]:.4f}" for x in seen])
    if seen[0].measures:
        table.add_section()
        for name in seen[0].measures:
            table.add_row(escape(name), *[f"{x.measures[name]:.4f}" for x in seen])
            table.add_row("  at the end", *[f"{x.last[name]:.4f}" for x in seen])
    table.add_section()
    table.add_row("ended before their time", *[f"{x.falls:.1%}" for x in seen])
    table.add_row("length of episodes \\[s]", *[f"{x.length:.2f}" for x in seen])
    # Rows of failures appear only if there were some.
    if any(x.nonfinite_actions for x in seen):
        counts = [f"{x.nonfinite_actions:,}" for x in seen]
        table.add_row("actions that are NaN or infinite", *counts)
    if any(x.failed for x in seen):
        table.add_row("episodes with a state that is not finite", *[f"{x.failed:,}" for x in seen])
    show(table)
