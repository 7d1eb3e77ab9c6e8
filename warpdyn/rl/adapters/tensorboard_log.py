"""Learning curves for TensorBoard."""

from __future__ import annotations

from pathlib import Path

from ..training import Progress
from .curve_points import curve_points

try:
    from torch.utils.tensorboard import SummaryWriter
except ModuleNotFoundError as error:
    raise ImportError(
        f"a log for TensorBoard needs {error.name}, which is not installed: pip install tensorboard"
    ) from error


class TensorboardLog:
    """Logger that writes each iteration into `folder`, over environment steps; for a trainer's
    `loggers`.

    steps: steps of a resumed training before this run. Later steps that a killed run has written
    are hidden.
    """

    def __init__(self, folder: Path, steps: int = 0):
        self._writer = SummaryWriter(str(folder), purge_step=steps + 1 if steps else None)

    def __call__(self, progress: Progress) -> None:
        for name, value in curve_points(progress):
            self._writer.add_scalar(name, value, progress.steps)
        self._writer.flush()

    def close(self) -> None:
        """Close the file."""
        self._writer.close()
