"""The commands of learning: train, eval, sim2sim and play, with their options."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from .argument_types import count, port, positive, seed
from .learning.eval import evaluate
from .learning.named_task import add_robot
from .learning.play import play
from .learning.sim2sim import compare
from .learning.train import train

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_train(commands: Commands) -> None:
    text = "train a policy for a task: checkpoints, a live table, an ONNX file (extra [rl])"
    sub = commands.add_parser("train", help=text, description=text[0].upper() + text[1:] + ".")
    sub.add_argument("task", help="its name, such as quadruped_velocity")
    sub.add_argument("--envs", type=count, metavar="N", help="environments; default: the task's")
    text = "of training in all, earlier ones in the folder included; default: the task's"
    sub.add_argument("--minutes", type=positive, metavar="N", help=text)
    text = "updates of the policy in all, instead of minutes: the same on every machine"
    sub.add_argument("--iterations", type=count, metavar="N", help=text)
    sub.add_argument("--seed", type=seed, default=0, metavar="N", help="default: 0")
    text = "of checkpoints, curve and policy; default: runs/TASK-SEED. One that has a checkpoint goes on"
    sub.add_argument("--folder", type=Path, metavar="FOLDER", help=text)
    add_robot(sub)
    add_device(sub)
    text = "curves for `tensorboard --logdir FOLDER` beside the checkpoints"
    sub.add_argument("--logger", choices=("tensorboard",), help=text)
    sub.set_defaults(run=train)


def add_policies(commands: Commands) -> None:
    """Commands on a trained policy."""
    ten = "of each episode; default: 10, or the task's where that is less"
    seen: tuple[tuple[str, Callable[[argparse.Namespace], int], str, int, str], ...] = (
        (
            "eval",
            evaluate,
            "print what a policy earns and measures, and how many fall",
            256,
            "of each episode; default: the task's",
        ),
        ("sim2sim", compare, "compare a policy in warpdyn and in MuJoCo C", 48, ten),
        (
            "play",
            play,
            "show a policy at work, in the browser (extra [viewer]) or as a moving picture",
            4,
            "default: 10 of a picture, in the browser until Ctrl-C",
        ),
    )
    for name, run, text, envs, how_long in seen:
        sub = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        sub.add_argument("task", help="its name, such as quadruped_velocity")
        text = "an ONNX file of warpdyn train; default: the one that comes with the task"
        sub.add_argument("--policy", type=Path, metavar="FILE", help=text)
        text = f"environments; default: {envs}"
        names = ("--envs", "--robots") if name == "play" else ("--envs",)
        sub.add_argument(*names, type=count, default=envs, metavar="N", help=text)
        sub.add_argument("--seconds", type=positive, metavar="N", help=how_long)
        sub.add_argument("--seed", type=seed, default=0, metavar="N", help="default: 0")
        add_robot(sub)
        sub.set_defaults(run=run)
        if name == "sim2sim":
            text = "MuJoCo's step [s]; default: 0.005, on a height map 0.002"
            sub.add_argument("--dt", type=positive, metavar="N", help=text)
            text = (
                "time constant of MuJoCo's contacts [s]; default: its own, 0.02, on a height map "
                "two steps, at least 0.004"
            )
            sub.add_argument("--contact-time", type=positive, metavar="N", help=text)
        if name == "play":
            text = (
                "write the moving picture (.gif); default: the browser; without the extra [viewer] "
                "the screen, or TASK.gif without one"
            )
            sub.add_argument("--gif", type=Path, metavar="FILE", help=text)
            text = "write some moments side by side (.png, .svg, .pdf)"
            sub.add_argument("--png", type=Path, metavar="FILE", help=text)
            add_page(sub)


def add_page(sub: argparse.ArgumentParser) -> None:
    """The options `--host` and `--port` of a page."""
    sub.add_argument("--host", default="127.0.0.1", help="default: 127.0.0.1, this machine alone")
    text = "of the page, 0 for any free one; default: 8080"
    sub.add_argument("--port", type=port, default=8080, metavar="N", help=text)


def add_device(sub: argparse.ArgumentParser) -> None:
    """The option `--device`."""
    sub.add_argument("--device", help='"cpu" or "cuda:0"; default: a GPU if there is one')
