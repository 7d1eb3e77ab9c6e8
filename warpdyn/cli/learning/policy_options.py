"""Options that the learning commands share: the task, the policy, and the run."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..argument_types import count, positive, seed


def add_task(sub: argparse.ArgumentParser) -> None:
    """Add the argument `task`."""
    sub.add_argument("task", help="its name, such as quadruped_velocity")


def add_policy(sub: argparse.ArgumentParser) -> None:
    """Add the option `--policy`."""
    text = "an ONNX file of warpdyn train; default: the one that comes with the task"
    sub.add_argument("--policy", type=Path, metavar="FILE", help=text)


def add_envs(sub: argparse.ArgumentParser, default: int, *other_names: str) -> None:
    """Add the option `--envs`, and other names for it."""
    text = f"environments; default: {default}"
    sub.add_argument("--envs", *other_names, type=count, default=default, metavar="N", help=text)


def add_seconds(sub: argparse.ArgumentParser, text: str) -> None:
    """Add the option `--seconds`, whose default depends on the command, as `text` says."""
    sub.add_argument("--seconds", type=positive, metavar="N", help=text)


def add_seed(sub: argparse.ArgumentParser) -> None:
    """Add the option `--seed`."""
    sub.add_argument("--seed", type=seed, default=0, metavar="N", help="default: 0")
