"""The task and the policy of a command line: the name of the task, and for a user's quadruped the
robot, feet, stance and gains."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ...formats.registry import file_kinds
from ..argument_types import at_least_zero, positive, xacro_argument
from ..command_line import UserError, find_modules_here, read_model, user_errors

if TYPE_CHECKING:
    from ...rl import Policy, Quadruped, Task

T = TypeVar("T")

BODY = ("feet", "stance", "kp", "kd", "effort", "command_range")
"""Options that describe a robot, for a task that takes one."""


def add_quadruped(sub: argparse.ArgumentParser) -> None:
    """Add the options `--robot`, `--feet`, `--stance`, `--kp`, `--kd`, `--effort`, `--range`,
    `--base`, `--xacro-arg`."""
    group = sub.add_argument_group("your own robot (quadruped tasks, motion_tracking)")
    text = f"file of the robot ({file_kinds()}), or a bundled one's name"
    group.add_argument("--robot", metavar="FILE", help=text)
    text = 'links of its feet or a pattern; default: "*foot", in any letter case'
    group.add_argument("--feet", nargs="+", metavar="LINK", help=text)
    text = (
        "angles of its joints by name or pattern [rad], F*_HFE=0.8 H*_HFE=-0.8, 0 for others; all "
        "angles in order; or a configuration's name. Default: home or standing"
    )
    group.add_argument("--stance", nargs="+", metavar="JOINT=ANGLE", help=text)
    text = "stiffness of its drives [N·m/rad]; default: by weight and height"
    group.add_argument("--kp", type=float, metavar="K", help=text)
    text = "damping of its drives [N·m·s/rad]; default: a fiftieth of kp"
    group.add_argument("--kd", type=float, metavar="K", help=text)
    text = "largest torque of its drives [N·m]; default: the limits of its description"
    group.add_argument("--effort", type=positive, metavar="N", help=text)
    text = (
        "largest commanded speeds ahead, sideways [m/s], turning [rad/s]; default: 1 of each, by "
        "height"
    )
    group.add_argument(
        "--range",
        dest="command_range",
        nargs=3,
        type=at_least_zero,
        metavar=("X", "Y", "TURN"),
        help=text,
    )
    text = "an argument of a robot's xacro file; may be repeated"
    group.add_argument(
        "--xacro-arg",
        type=xacro_argument,
        action="append",
        default=[],
        metavar="NAME:=VALUE",
        help=text,
    )
    text = "the base of the robot; default: floating"
    group.add_argument("--base", choices=("floating", "fixed"), default="floating", help=text)
    # `read_model` reads these options, which these commands do not offer.
    sub.set_defaults(loops=None, part=None)


def task_from_options(args: argparse.Namespace, recipe: Path | None = None) -> Task:
    """The task with its settings and a file's recipe, made for the named robot."""
    from ...rl.settings.task_settings import make_with_settings

    find_modules_here()
    said: dict[str, Any] = {n: x for n in BODY if (x := getattr(args, n)) is not None}
    if args.robot is None:
        if said:
            word = next(iter(said)).removeprefix("command_")
            raise UserError(f"--{word} needs a robot: add --robot FILE")
        return make_with_settings(args.task, args.settings, recipe=recipe)
    options = {"model": read_model(args), **_robot_options(args.task, said)}
    return make_with_settings(args.task, args.settings, options, recipe=recipe)


def task_and_policy(args: argparse.Namespace) -> tuple[Any, Task, Policy]:
    """`warpdyn.rl`, and the task and the policy of the command line: by default the bundled
    policy."""
    with user_errors(ImportError):
        from ... import rl
    task = report_task_errors(lambda: task_from_options(args))
    path: Path = report_task_errors(lambda: args.policy or rl.bundled_policy(task))
    return rl, task, report_task_errors(lambda: rl.Policy(path))


def report_task_errors(make: Callable[[], T]) -> T:
    """The result of `make`, with a `TaskError`, or a package that is missing, turned into a line for the user."""
    from ... import rl

    with user_errors(rl.TaskError, ImportError):
        return make()


def bar(steps: range, what: str) -> Iterable[int]:
    """Steps with a progress bar if stderr is a terminal."""
    from tqdm import tqdm

    shown: Iterable[int] = tqdm(steps, desc=what, unit="step", leave=False, disable=None)
    return shown


def _robot_options(name: str, said: dict[str, Any]) -> dict[str, Any]:
    """The options that describe the robot: one record for a task that takes a `body`, else each
    under its own name."""
    from ...rl.settings.task_settings import source

    takes = signature(source(name)).parameters if callable(source(name)) else {}
    if "model" not in takes or "body" in takes:
        return {"body": _body(said)}
    if unknown := [n for n in said if n not in takes]:
        raise UserError(f"--{unknown[0].removeprefix('command_')} is not for {name}")
    return said


def _body(said: dict[str, Any]) -> Quadruped:
    """Feet, stance and gains in the form that the task takes."""
    from ... import rl

    if "stance" in said:
        said["stance"] = _stance(said["stance"])
    return rl.Quadruped(**said)


def _stance(words: list[str]) -> Any:
    """A configuration's name, angles by joint, or angles in order."""
    pairs = [word.partition("=") for word in words]
    try:
        if all(equals for _, equals, _ in pairs):
            return {joint: float(angle) for joint, _, angle in pairs}
        return [float(word) for word in words]
    except ValueError:
        if len(words) == 1 and "=" not in words[0]:
            return words[0]
        raise UserError(
            f"--stance takes JOINT=ANGLE words, angles, or one name; got {' '.join(words)}"
        ) from None
