"""Curves of a training for TensorBoard."""

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
    """Logger that writes each iteration into `folder`, over environment steps; for a trainer's
    `loggers`.

    steps: steps of a resumed training before this run. Later steps that a killed run has written
    are hidden.
    """

    def __init__(self, folder: Path, steps: int = 0):
        self._writer = SummaryWriter(str(folder), purge_step=steps + 1 if steps else None)

    def __call__(self, progress: Progress) -> None:
        for name, value in _scalars(progress):
            self._writer.add_scalar(name, value, progress.steps)
        self._writer.flush()

    def close(self) -> None:
        """Close the file."""
        self._writer.close()


def _scalars(progress: Progress) -> Iterator[tuple[str, float]]:
    """Names and values; those of episodes only if some have ended."""
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
