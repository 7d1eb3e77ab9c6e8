"""Libraries that warpdyn is compared with, one file each.

The module of a peer has NAME, PACKAGES (on PyPI), DTYPE, FORM (the kind of call) and `prepare`.
`prepare` returns the work, or raises `CannotDo` with the reason. Results are compared with warpdyn's
before anything is timed.
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
"""Modules of this folder. Ratios refer to the first one."""


class CannotDo(Exception):  # noqa: N818
    """The peer lacks the function or reads the robot differently. The message has the reason."""


@dataclass
class PreparedRun:
    """A peer's work. `run` computes `count` robots and waits for the results unless `launches` is true."""

    run: Callable[[], Any]
    count: int
    answers: Callable[[], Sequence[np.ndarray]]
    """Results of the first states in warpdyn's conventions: order of coordinates, frames, signs."""
    form: str = ""
    near: float = 0.0
    """Largest relative difference from warpdyn's float64 results; 0 stands for `NEAR`."""
    threads: int = 1
    launches: bool = False
    """True if `run` only starts work on the GPU's current stream. Two events then time it."""
    start: Callable[[], Any] | None = None
    """JAX: starts the work and returns the object that `finish` waits for."""
    finish: Callable[[Any], Any] | None = None


NEAR = {"float64": 1e-9, "float32": 1e-5}
"""Largest relative difference of a peer that is timed. Inputs in float64 are exact in float32. If a peer's
float32 is less accurate, its file has its accuracy and the reason."""

NEAR_OF_FREE_BASE = 1e-6
"""The same in float64 for a free base. Its quaternion has unit length in float32 precision only, which some
libraries correct and others do not."""


@dataclass
class InstalledPeer:
    """A peer whose packages are installed."""

    key: str
    module: ModuleType
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.module.NAME


def find(keys: Sequence[str]) -> tuple[list[InstalledPeer], dict[str, str]]:
    """The peers that can be imported, and the reasons why others cannot."""
    found, missing = [], {}
    for key in keys:
        try:
            module = import_module(f".{key}", __package__)
            found.append(
                InstalledPeer(
                    key, module, {package: metadata.version(package) for package in module.PACKAGES}
                )
            )
        except (ImportError, metadata.PackageNotFoundError) as error:
            missing[key] = f"not installed ({error})"
    return found, missing
