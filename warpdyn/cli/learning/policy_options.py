"""Options that the commands of learning share: the task, the policy, and how it is run."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..argument_types import count, positive, seed


def add_task(sub: argparse.ArgumentParser) -> None:
    """The argument `task`."""
    sub.add_argument("task", help="its name, such as quadruped_velocity")


def add_policy(sub: argparse.ArgumentParser) -> None:
    """The option `--policy`."""
    text = "an ONNX file of warpdyn train; default: the one that comes with the task"
    sub.add_argument("--policy", type=Path, metavar="FILE", help=text)


def add_envs(sub: argparse.ArgumentParser, default: int, *other_names: str) -> None:
    """The option `--envs`, and other names for it."""
    text = f"environments; default: {default}"
    sub.add_argument("--envs", *other_names, type=count, default=default, metavar="N", help=text)


def add_seconds(sub: argparse.ArgumentParser, text: str) -> None:
    """The option `--seconds`, whose default is the command's, as `text` says."""
    sub.add_argument("--seconds", type=positive, metavar="N", help=text)


def add_seed(sub: argparse.ArgumentParser) -> None:
    """The option `--seed`."""
    sub.add_argument("--seed", type=seed, default=0, metavar="N", help="default: 0")
