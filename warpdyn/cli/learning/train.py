"""`warpdyn train`: trains a policy for a task, with a live table."""

from __future__ import annotations

import argparse
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...execution.compile.announcements import silent
from ...model.description import ModelError
from ..argument_types import count, positive
from ..command_line import UserError, choose_device
from ..shared_options import Commands, add_command, add_device
from ..tables import say
from .learning_curves import draw_curves
from .policy_options import add_seed, add_task
from .task_from_options import add_quadruped, task_from_options

if TYPE_CHECKING:
    from ...rl import Progress, Trainer


def add_parser(commands: Commands) -> None:
    """Add `warpdyn train`."""
    text = "train a policy for a task: checkpoints, a live table, an ONNX file (extra [rl])"
    sub = add_command(commands, "train", text)
    add_task(sub)
    sub.add_argument("--envs", type=count, metavar="N", help="environments; default: the task's")
    text = "of training in all, earlier ones in the folder included; default: the task's"
    sub.add_argument("--minutes", type=positive, metavar="N", help=text)
    text = "updates of the policy in all, instead of minutes: the same on every machine"
    sub.add_argument("--iterations", type=count, metavar="N", help=text)
    add_seed(sub)
    text = (
        "of checkpoints, curve and policy; default: runs/TASK-SEED. One that has a checkpoint goes "
        "on"
    )
    sub.add_argument("--folder", type=Path, metavar="FOLDER", help=text)
    add_quadruped(sub)
    add_device(sub)
    text = "curves for `tensorboard --logdir FOLDER` beside the checkpoints"
    sub.add_argument("--logger", choices=("tensorboard",), help=text)
    sub.set_defaults(run=train)


def train(args: argparse.Namespace) -> int:
    """Train, save checkpoints, and write the policy; resume if a folder has a checkpoint.

    With several processes started by `torchrun`, only the first one shows progress and writes
    files. On each machine its first process reports errors.
    """
    from ... import rl

    try:
        rl.Trainer  # noqa: B018  (raises an error if a requirement is missing)
    except ImportError as error:
        raise UserError(str(error)) from None
    processes = rl.Processes.of_torchrun()
    if processes.first:
        return _train(args)
    try:
        with silent():
            return _train(args)
    except (UserError, ModelError):
        if not processes.rank_here:
            raise
        # The machine's first process has the same error. torchrun ends all processes at the first
        # that
        # fails, so a failure here could keep that process from reporting the error.
        return 0
    except KeyboardInterrupt:
        return 130


def _train(args: argparse.Namespace) -> int:
    """Run a training in this process."""
    from ... import rl
    from ...rl.torch_device import torch_device

    try:
        task = task_from_options(args)
        recipe = task.recipe if args.envs is None else replace(task.recipe, envs=args.envs)
        folder = args.folder or Path("runs") / f"{args.task}-{args.seed}"
        device, line = torch_device(choose_device(args.device), args.device is not None)
        trainer = rl.Trainer(task, recipe=recipe, seed=args.seed, device=device, folder=folder)
        first = trainer.processes.first
        if line and first:
            say(line)
        if args.logger == "tensorboard" and first:
            _log_for_tensorboard(trainer, folder)
        minutes = recipe.minutes if args.minutes is None else args.minutes
        last = _train_with_table(trainer, minutes, args.iterations)
        if last is None:
            enough = (
                f"{minutes:g} minutes"
                if args.iterations is None
                else f"{args.iterations} iterations"
            )
            raise UserError(f"{folder} is trained for {enough} or more already")
        # With several processes, only the first one writes files.
        if not first:
            return 0
        path = folder / "policy.onnx"
        rl.export(trainer, path)
        _draw_curve(trainer, folder)
    except (rl.TaskError, ImportError) as error:
        raise UserError(str(error)) from None
    say(
        f"{task.name}: {last.reward:.2f} a second after {last.steps / 1e6:.1f} million steps, "
        f"{last.seconds:.0f} s; policy: {path}"
    )
    return 0


def _log_for_tensorboard(trainer: Trainer, folder: Path) -> None:
    """Log the curves for TensorBoard next to the checkpoints."""
    try:
        from ...rl.adapters.tensorboard_log import TensorboardLog
    except ImportError as error:
        raise UserError(str(error)) from None
    done = trainer.curve[-1].steps if trainer.curve else 0
    trainer.loggers.append(TensorboardLog(folder, done))
    say(f"curves: tensorboard --logdir {folder}")


def _draw_curve(trainer: Trainer, folder: Path) -> None:
    """Draw the curve as a picture next to its numbers, if matplotlib is installed."""
    if find_spec("matplotlib") is not None:
        curve = [progress._asdict() for progress in trainer.curve]
        title = f"{trainer.task.name}, {trainer.task.model.name}"
        draw_curves(title, {f"seed {trainer.seed}": curve}, folder / "curve.png")


def _train_with_table(trainer: Trainer, minutes: float, iterations: int | None) -> Progress | None:
    """The last iteration; meanwhile a table of each iteration and a bar are on the screen."""
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    last = None
    bar = Bar(TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    shown = bar.add_task(trainer.task.name, total=iterations or 60 * minutes)
    console = Console(stderr=True, quiet=not trainer.processes.first)
    with Live(bar, console=console, refresh_per_second=2) as live:
        for progress in trainer.run(minutes=minutes, iterations=iterations):
            last = progress
            bar.update(shown, completed=progress.iteration if iterations else progress.seconds)
            live.update(Group(_table(trainer, progress), bar))
    return last


def _table(trainer: Trainer, progress: Progress) -> Any:
    """One iteration as a table: each reward per second, and its cost."""
    from rich.table import Table

    table = Table(title=f"{trainer.task.name}, iteration {progress.iteration}")
    table.add_column("a second of an episode that ended")
    table.add_column("", justify="right")
    for name, value in progress.rewards.items():
        table.add_row(name, f"{value:.3f}")
    table.add_section()
    rows = {
        "reward of all environments": f"{progress.reward:.3f}",
        "length of episodes [s]": f"{progress.length:.1f}",
        "ended before their time": f"{progress.falls:.1%}",
        "deviation of actions": f"{progress.deviation:.2f}",
        "environment steps": f"{progress.steps / 1e6:.2f} million, "
        f"{progress.steps_per_second:,.0f} a second",
        "time in environments": f"{progress.environment_share:.0%}",
    }
    if progress.nonfinite_actions:
        rows["actions that are NaN or infinite"] = f"{progress.nonfinite_actions:,}"
    for name, text in rows.items():
        table.add_row(name, text)
    return table
