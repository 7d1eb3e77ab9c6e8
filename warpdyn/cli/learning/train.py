"""`warpdyn train`: trains a policy for a task, with a live table."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...execution.compile.announcements import silent
from ...model.names import ModelError
from ..argument_types import count, positive
from ..command_line import UserError, choose_device, user_errors
from ..console import say
from ..shared_options import Commands, add_command, add_device, add_page
from .learning_curves import draw_curves
from .policy_options import add_seed, add_task
from .task_from_options import add_quadruped, task_from_options

if TYPE_CHECKING:
    from ...rl import Progress, Recipe, Task, Trainer


def add_parser(commands: Commands) -> None:
    """Add `warpdyn train`."""
    text = "train a policy for a task: checkpoints, a live table, an ONNX file (extra [rl])"
    sub = add_command(commands, "train", text, own_help=True)
    add_task(sub)
    # How long, from where, and what is shown meanwhile.
    sub.add_argument(
        "--envs", type=count, metavar="N", help="number of environments; default: the task's"
    )
    text = (
        "total CPU minutes of the process, including earlier ones in the folder: the same work on "
        "an idle and on a busy machine; default: the task's"
    )
    sub.add_argument("--minutes", type=positive, metavar="N", help=text)
    text = "total minutes of wall-clock time, instead of --minutes or in addition to it"
    sub.add_argument("--wall-minutes", type=positive, metavar="N", help=text)
    text = "total number of policy updates, instead of minutes: the same on every machine"
    sub.add_argument("--iterations", type=count, metavar="N", help=text)
    add_seed(sub)
    text = (
        "folder of checkpoints, curve and policy; default: runs/TASK-SEED. A training resumes from "
        "the folder's checkpoint"
    )
    sub.add_argument("--folder", type=Path, metavar="FOLDER", help=text)
    text = (
        "TOML or JSON file with numbers of the recipe, such as envs = 512; --set takes precedence"
    )
    sub.add_argument("--recipe", type=Path, metavar="FILE", help=text)
    text = (
        "a policy.onnx, or another training's checkpoint.pt, whose networks a new training starts "
        "with; a checkpoint also has the critic"
    )
    sub.add_argument("--init", type=Path, metavar="FILE", help=text)
    text = (
        "a policy.onnx, or the task of one that comes with warpdyn, whose actions the policy learns "
        "(DAgger) instead of rewards; it observes what this task's critic observes"
    )
    sub.add_argument("--teacher", metavar="FILE", help=text)
    add_quadruped(sub)
    add_device(sub)
    text = "curves for `tensorboard --logdir FOLDER` next to the checkpoints, for Weights & Biases, or both"
    sub.add_argument("--logger", nargs="+", choices=("tensorboard", "wandb"), default=[], help=text)
    text = "show some environments in the browser while they train (extra [viewer])"
    sub.add_argument("--view", action="store_true", help=text)
    text = "write an animation of the policy every N iterations, FOLDER/video-N.gif"
    sub.add_argument("--video", type=count, metavar="N", help=text)
    add_page(sub)
    sub.set_defaults(run=train)


def train(args: argparse.Namespace) -> int:
    """Train, save checkpoints, and write the policy; resume if a folder has a checkpoint.

    With several processes started by `torchrun`, only the first one shows progress and writes
    files. On each machine its first process reports errors.
    """
    with user_errors(ImportError):
        from ... import rl

        rl.Trainer  # noqa: B018  (raises an error if a requirement is missing)
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
    from ... import rl
    from ...rl.tasks.task_files import short_name
    from ...rl.torch_device import torch_device

    with user_errors(rl.TaskError, ImportError):
        task = task_from_options(args, args.recipe)
        _check_practice(args.settings, task)
        recipe = task.recipe if args.envs is None else replace(task.recipe, envs=args.envs)
        folder = args.folder or Path("runs") / f"{short_name(args.task)}-{args.seed}"
        device, line = torch_device(choose_device(args.device), args.device is not None)
        trainer = rl.Trainer(
            task,
            recipe=recipe,
            seed=args.seed,
            device=device,
            folder=folder,
            init=args.init,
            teacher=_teacher_file(args.teacher),
        )
        first = trainer.processes.first
        if line and first:
            say(line)
        closing = _attach_outputs(args, trainer, folder) if first else []
        limits = TrainingLimits.of(args, recipe)
        try:
            last = _train_with_table(trainer, limits)
        finally:
            for close in closing:
                close()
        path = folder / "policy.onnx"
        if last is None and path.exists():
            raise UserError(
                f"{folder} is trained for {limits} or more already; ask for more, or choose another "
                "--folder"
            )
        # With several processes, only the first one writes files.
        if not first:
            return 0
        rl.export(trainer, path)
        last = last or trainer.curve[-1]
        _draw_curve(trainer, folder)
    say(
        f"{task.name}: a reward of {last.reward:.2f} per second after {last.steps:,} steps, "
        f"{last.seconds:.0f} s; policy: {path}"
    )
    return 0


def _teacher_file(word: str | None) -> Path | None:
    """The file of a teacher, for its path or the name of its task."""
    from ... import rl

    return rl.bundled_policy(word) if word in rl.TASKS else None if word is None else Path(word)


def _attach_outputs(
    args: argparse.Namespace, trainer: Trainer, folder: Path
) -> list[Callable[[], None]]:
    """Give the trainer its loggers, videos and page; returns functions that close them."""
    closing: list[Callable[[], None]] = []
    # Each output is imported here, because its package may be missing.
    with user_errors(ImportError):
        if "tensorboard" in args.logger:
            from ...rl.adapters.tensorboard_log import TensorboardLog

            done = trainer.curve[-1].steps if trainer.curve else 0
            board = TensorboardLog(folder, done)
            trainer.loggers.append(board)
            closing.append(board.close)
            say(f"curves: tensorboard --logdir {folder}")
        if "wandb" in args.logger:
            from ...rl.adapters.wandb_log import WandbLog

            log = WandbLog(trainer, folder)
            trainer.loggers.append(log)
            closing.append(log.close)
        if args.video is not None:
            from .training_video import TrainingVideo

            trainer.loggers.append(TrainingVideo(trainer, folder, args.video))
        if args.view:
            from .live_view import LiveView

            view = LiveView(trainer.env, host=args.host, port=args.port)
            trainer.watchers.append(view)
            closing.append(view.close)
            say(f"{trainer.task.name} while it trains: {view.shown.page.address}")
    return closing


def _draw_curve(trainer: Trainer, folder: Path) -> None:
    """Draw the curve as a picture next to its numbers, if matplotlib is installed."""
    if find_spec("matplotlib") is not None:
        curve = [progress._asdict() for progress in trainer.curve]
        title = f"{trainer.task.name}, {trainer.task.model.name}"
        draw_curves(title, {f"seed {trainer.seed}": curve}, folder / "curve.png")


def _check_practice(words: Sequence[str], task: Task) -> None:
    """Refuse a setting that the recipe's practice would replace in training."""
    for word in words:
        name = word.partition("=")[0].partition(".")[0]
        if name in task.recipe.practice:
            raise UserError(
                f"--set {word}: the recipe's practice has its own {name} in training: "
                f"--set recipe.practice.{word}"
            )


def _train_with_table(trainer: Trainer, limits: TrainingLimits) -> Progress | None:
    """The last iteration; meanwhile a table of each iteration and a bar are on the screen."""
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    last = None
    bar = Bar(TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    shown = bar.add_task(trainer.task.name, total=1.0)
    console = Console(stderr=True, quiet=not trainer.processes.first)
    runs = trainer.run(
        minutes=limits.minutes, wall_minutes=limits.wall_minutes, iterations=limits.iterations
    )
    try:
        with Live(bar, console=console, refresh_per_second=2) as live:
            for progress in runs:
                last = progress
                bar.update(shown, completed=limits.share(progress, trainer.processes.count))
                live.update(Group(_table(trainer, progress), bar))
    finally:
        if not console.is_terminal:  # in a file, the bar has no end of line
            console.line()
    return last


@dataclass(frozen=True)
class TrainingLimits:
    """Limits of a training: CPU minutes, minutes on the clock, and iterations; None: no limit."""

    minutes: float | None
    wall_minutes: float | None
    iterations: int | None

    @classmethod
    def of(cls, args: argparse.Namespace, recipe: Recipe) -> TrainingLimits:
        """The limits of the command line, or else the recipe's CPU minutes."""
        minutes = args.minutes
        if (minutes, args.wall_minutes, args.iterations) == (None, None, None):
            minutes = recipe.minutes
        return cls(minutes, args.wall_minutes, args.iterations)

    def share(self, progress: Progress, processes: int) -> float:
        """The share of the training that is done."""
        parts = (
            (progress.cpu_seconds / processes / 60, self.minutes),
            (progress.seconds / 60, self.wall_minutes),
            (float(progress.iteration), self.iterations),
        )
        return max(done / limit for done, limit in parts if limit is not None)

    def __str__(self) -> str:
        named = (
            (self.minutes, "CPU minutes"),
            (self.wall_minutes, "minutes on the clock"),
            (self.iterations, "iterations"),
        )
        return " or ".join(f"{limit:g} {name}" for limit, name in named if limit is not None)


def _table(trainer: Trainer, progress: Progress) -> Any:
    """One iteration as a table: each reward per second, and its cost."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=f"{trainer.task.name}, iteration {progress.iteration}")
    table.add_column("per second, in episodes that ended")
    table.add_column("", justify="right")
    for name, value in progress.rewards.items():
        table.add_row(escape(name), f"{value:.3f}")
    table.add_section()
    rows = {
        "reward of all environments": f"{progress.reward:.3f}",
        "length of episodes \\[s]": f"{progress.length:.1f}",
        "ended before their time": f"{progress.falls:.1%}",
        "deviation of actions": f"{progress.deviation:.2f}",
        "environment steps": f"{progress.steps / 1e6:.2f} million, "
        f"{progress.steps_per_second:,.0f} a second",
    }
    if progress.environment_share is not None:  # a GPU does not tell
        rows["time in environments"] = f"{progress.environment_share:.0%}"
    if progress.teacher_distance:
        rows["difference from the teacher's actions"] = f"{progress.teacher_distance:.3f}"
    if progress.nonfinite_actions:
        rows["actions that are NaN or infinite"] = f"{progress.nonfinite_actions:,}"
    for name, text in rows.items():
        table.add_row(name, text)
    return table
