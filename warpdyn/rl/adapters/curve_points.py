"""Points of the learning curves, for loggers."""

from __future__ import annotations

from collections.abc import Iterator

from ..training import Progress


def curve_points(progress: Progress) -> Iterator[tuple[str, float]]:
    """Names and values of an iteration. Values of episodes are included if at least one has ended."""
    yield "reward of a second/all environments", progress.reward
    if progress.rewards:
        for name, value in progress.rewards.items():
            yield f"reward of a second/{name}", value
        yield "episodes/return", sum(progress.rewards.values()) * progress.length
        yield "episodes/length [s]", progress.length
        yield "episodes/ended before their time", progress.falls
    yield "training/environment steps a second", progress.steps_per_second
    if progress.environment_share is not None:
        yield "training/share of the environments", progress.environment_share
    yield "training/deviation of actions", progress.deviation
    yield "training/actions that are not finite", progress.nonfinite_actions
    yield "training/CPU seconds", progress.cpu_seconds
