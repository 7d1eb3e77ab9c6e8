"""Learning curves for Weights & Biases."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from ...model.optional_packages import install_extra
from ..training import Progress, Trainer
from .curve_points import curve_points

try:
    import wandb
except ModuleNotFoundError as error:
    raise ImportError(
        f"a log for Weights & Biases needs {error.name}, which is not installed: "
        f"{install_extra('wandb')}"
    ) from error

PROJECT = "warpdyn"
"""Project of the runs; the environment variable WANDB_PROJECT names another one."""


class WandbLog:
    """Logger that sends each iteration, over environment steps; for a trainer's `loggers`.

    A training run that resumes in the same folder continues its run there. wandb's own environment
    variables apply: WANDB_MODE=offline sends nothing and writes the run into the folder.
    """

    def __init__(self, trainer: Trainer, folder: Path):
        place = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16]
        task = trainer.task
        about = {"task": task.name, "robot": task.model.name, "seed": trainer.seed}
        folder.mkdir(parents=True, exist_ok=True)  # else wandb writes to a temporary folder
        self._run: Any = wandb.init(
            project=os.environ.get("WANDB_PROJECT", PROJECT),
            name=folder.name,
            id=place,
            resume="allow",
            dir=str(folder),
            config={**about, "recipe": trainer.recipe.as_dict()},
        )

    def __call__(self, progress: Progress) -> None:
        self._run.log(dict(curve_points(progress)), step=progress.steps)

    def close(self) -> None:
        """End the run."""
        self._run.finish()
