"""A training's curves for TensorBoard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..training import Progress

try:
    from torch.utils.tensorboard import SummaryWriter
except ModuleNotFoundError as error:
    raise ImportError(
        f"a log for TensorBoard needs {error.name}, which is not installed: pip install tensorboard"
    ) from error


class TensorboardLog:
    """Writes each iteration into `folder`, over environment steps: one of a trainer's `loggers`.

    steps: how many a training that goes on has behind it; what a killed one has written beyond them
    is hidden.
    """

    def __init__(self, folder: Path, steps: int = 0):
        self._writer = SummaryWriter(str(folder), purge_step=steps + 1 if steps else None)

    def __call__(self, progress: Progress) -> None:
        for name, value in _scalars(progress):
            self._writer.add_scalar(name, value, progress.steps)
        self._writer.flush()

    def close(self) -> None:
        """Nothing more is written."""
        self._writer.close()


def _scalars(progress: Progress) -> Iterator[tuple[str, float]]:
    """Names and values; those of episodes where some have ended."""
    yield "reward of a second/all environments", progress.reward
    if progress.rewards:
        for name, value in progress.rewards.items():
            yield f"reward of a second/{name}", value
        yield "episodes/return", sum(progress.rewards.values()) * progress.length
        yield "episodes/length [s]", progress.length
        yield "episodes/ended before their time", progress.falls
    yield "training/environment steps a second", progress.steps_per_second
    yield "training/share of the environments", progress.environment_share
    yield "training/deviation of actions", progress.deviation
    yield "training/actions that are not finite", progress.nonfinite_actions
    yield "training/CPU seconds", progress.cpu_seconds
