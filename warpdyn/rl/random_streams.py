"""Streams of random numbers of an environment's step: one for each purpose.

Streams below 7 belong to the functions of a task, and those from 32 on to its own draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..functions.whole_numbers import whole_number
from ..user_kernels.random_numbers import LARGEST, Key
from .task import Task, TaskError
from .terms import every
from .terms.reward_shapes import whole_steps

FIRST, END = 7, 32
"""Streams of varied numbers, noise and kept numbers."""

ROOM = 10
"""Number of streams reserved for varied numbers, and for noise, if there are enough. A new number
then does not change the others."""


class RandomStreams(NamedTuple):
    """The first streams of varied numbers, of terms with noise and of kept numbers."""

    vary: int
    noise: int
    keep: int


def random_streams(task: Task, varied: int) -> RandomStreams:
    """The streams of a task with `varied` varied numbers. No two numbers share a stream.

    Raises TaskError if there are more numbers than streams.
    """
    noisy, kept = len(task.noise), len(task.keep)
    if varied + noisy + kept > END - FIRST:
        raise TaskError(
            f"{task.name} draws {varied} varied numbers, noise of {noisy} terms and {kept} kept "
            f"numbers: at most {END - FIRST} together can have their own random numbers"
        )
    keep = min(FIRST + max(varied, ROOM) + max(noisy, ROOM), END - kept)
    noise = min(FIRST + max(varied, ROOM), keep - noisy)
    return RandomStreams(FIRST, noise, keep)


def draw_again(
    task: Task, defaults: Mapping[str, Any], first: int, arrays: dict[str, Any], age: Any, key: Key
) -> None:
    """Draw an environment's varied numbers again in `arrays`, if their interval has passed.

    defaults: of all varied numbers; their streams begin with `first`. age: of the episode, in steps.
    """
    for k, (name, default) in enumerate(defaults.items()):
        if (vary := task.vary[name]).when == "interval":
            now = every(age, whole_steps(vary.seconds, task.step_seconds))
            anew = vary.draw(key.at(first + k), default)
            arrays[name] = np.where(now, anew, arrays[name])


def check_seed(seed: Any) -> int:
    """The seed. TaskError: the seed is so large that kernels in float32 cannot distinguish it from
    its neighbours."""
    return whole_number("a seed", seed, 0, LARGEST - 1, error=TaskError)
