"""Options that the learning commands share: the task, the policy, and the run."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..argument_types import count, positive, seed
from ..command_line import UserError, find_modules_here, user_errors


def add_task(sub: argparse.ArgumentParser) -> None:
    """Add the argument `task` and the options `--set` and `--help`, which lists the settings of a
    task that stands before it."""
    text = "name of a task, such as quadruped_velocity, or your own, my.py:Hopper"
    sub.add_argument("task", metavar="TASK", help=text)
    text = (
        "a number of the task or its recipe, scales.turn=1.0 vary.mass=0.8,1.2,how=scale; may be "
        "repeated. TASK --help lists all of them"
    )
    sub.add_argument(
        "--set",
        dest="settings",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME=VALUE",
        help=text,
    )
    text = "show this help, and the settings of TASK if it stands before --help"
    sub.add_argument("-h", "--help", action=HelpWithSettings, help=text)


class HelpWithSettings(argparse.Action):
    """The option `--help` of a command with a task."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None):
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help=help)

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        parser.print_help()
        task = getattr(namespace, "task", None)
        if task is not None:
            find_modules_here()
            try:
                print_settings(task, namespace.settings)
            except UserError as error:
                parser.error(str(error))
        parser.exit()


def print_settings(task: str, words: Sequence[str]) -> None:
    """Print the settings of a task and their values."""
    with user_errors(ImportError):
        from ...rl.settings.task_settings import make_with_settings, settings_of
        from ...rl.task import TaskError
    with user_errors(TaskError):
        found = settings_of(make_with_settings(task, words))
    print(f"\nsettings of {task}, for --set NAME=VALUE:")
    width = max(len(name) for name in found)
    for name, x in found.items():
        print(f"  {name:{width}}  {setting_text(x)}")
    print(SYNTAX)


SYNTAX = """
  vary.NAME=LOW,HIGH[,law=,how=,when=,seconds=,of=]   a number that is drawn
  noise.TERM=SIZE[,LAW]   push=SPEED[,SECONDS]   NAME=none removes it"""


def setting_text(x: Any) -> str:
    """A value in the form that `--set` reads; a domain randomisation in words."""
    if hasattr(x, "vary"):
        return f"varies {', '.join(x.vary)}"
    if hasattr(x, "_asdict"):
        defaults = x._field_defaults
        named = [
            setting_text(value) if name not in defaults else f"{name}={setting_text(value)}"
            for name, value in x._asdict().items()
            if name not in defaults or value != defaults[name]
        ]
        return ",".join(named)
    if isinstance(x, dict):
        return " ".join(f"{name}={setting_text(value)}" for name, value in x.items()) or "none"
    entries = x.tolist() if hasattr(x, "tolist") else x
    if isinstance(entries, list | tuple):
        return ",".join(setting_text(each) for each in entries)
    if isinstance(entries, float):
        return f"{entries:g}"
    return "none" if entries is None else str(entries)


def add_policy(sub: argparse.ArgumentParser) -> None:
    """Add the option `--policy`."""
    text = "an ONNX file of warpdyn train; default: the one that comes with the task"
    sub.add_argument("--policy", type=Path, metavar="FILE", help=text)


def add_envs(sub: argparse.ArgumentParser, default: int, *other_names: str) -> None:
    """Add the option `--envs`, and other names for it."""
    text = f"number of environments; default: {default}"
    sub.add_argument("--envs", *other_names, type=count, default=default, metavar="N", help=text)


def add_seconds(sub: argparse.ArgumentParser, text: str) -> None:
    """Add the option `--seconds`, whose default depends on the command, as `text` says."""
    sub.add_argument("--seconds", type=positive, metavar="N", help=text)


def add_seed(sub: argparse.ArgumentParser) -> None:
    """Add the option `--seed`."""
    sub.add_argument(
        "--seed", type=seed, default=0, metavar="N", help="seed of random numbers; default: 0"
    )
