"""The libraries that warpdyn is measured against, one file each.

A peer's module has NAME, PACKAGES (of PyPI), DTYPE, FORM (how it is called) and `prepare`, which
returns the work ready to be run, or raises `CannotDo` with the reason. Results are compared with
warpdyn's before anything is timed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module, metadata
from types import ModuleType
from typing import Any

import numpy as np

PEERS = (
    "pinocchio",
    "pinocchio_parallel",
    "mujoco",
    "mujoco_rollout",
    "mjx",
    "mujoco_warp",
    "newton",
    "adam_torch",
    "adam_jax",
    "jaxsim",
    "pytorch_kinematics",
)
"""Modules of this folder; the first is the one that ratios refer to."""


class CannotDo(Exception):  # noqa: N818
    """The peer has no such function, or reads the robot as another one; says which."""


@dataclass
class Prepared:
    """A peer's work: `run` does `count` robots, to the end unless it `launches`."""

    run: Callable[[], Any]
    count: int
    answers: Callable[[], Sequence[np.ndarray]]
    """Results of the first states, as warpdyn's: order of coordinates, frames, signs."""
    form: str = ""
    near: float = 0.0
    """Largest relative difference from warpdyn's float64 results; 0: what `NEAR` says."""
    threads: int = 1
    launches: bool = False
    """`run` only starts the work on a GPU's current stream; it is then timed between two events."""
    start: Callable[[], Any] | None = None
    """JAX: starts the work, and returns what `finish` waits for."""
    finish: Callable[[Any], Any] | None = None


NEAR = {"float64": 1e-9, "float32": 1e-5}
"""Largest relative difference of a peer that is timed. float64 is fed with numbers exact in float32. Where a peer's
float32 cannot reach it, its file says what it reaches and why."""

NEAR_OF_FREE_BASE = 1e-6
"""The same of float64 where the base is free: its quaternion's length is one to float32's precision, which some
libraries correct and some do not."""


@dataclass
class Installed:
    """A peer whose packages are there."""

    key: str
    module: ModuleType
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.module.NAME


def find(keys: Sequence[str]) -> tuple[list[Installed], dict[str, str]]:
    """The peers that can be imported, and why others cannot."""
    found, missing = [], {}
    for key in keys:
        try:
            module = import_module(f".{key}", __package__)
            found.append(
                Installed(
                    key, module, {package: metadata.version(package) for package in module.PACKAGES}
                )
            )
        except (ImportError, metadata.PackageNotFoundError) as error:
            missing[key] = f"not installed ({error})"
    return found, missing
