"""Random streams of an environment: no stream is used twice."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
from rl_cases import Hold

from warpdyn.rl.random_streams import END, FIRST, check_seed, draw_again, random_streams
from warpdyn.rl.training_task import training_task
from warpdyn.user_kernels import random_numbers
from warpdyn.user_kernels.values import objects


def task(noise: int, keep: int) -> Any:
    return SimpleNamespace(name="Hop", noise=dict.fromkeys(range(noise)), keep=range(keep))


@pytest.mark.parametrize("varied", range(END - FIRST + 1))
def test_no_two_draws_share_a_stream(varied: int) -> None:
    """Nor does one use a stream of the task's functions."""
    for noise in range(END - FIRST + 1 - varied):
        for keep in range(END - FIRST + 1 - varied - noise):
            streams = random_streams(task(noise, keep), varied)
            taken = [*range(streams.vary, streams.vary + varied)]
            taken += range(streams.noise, streams.noise + noise)
            taken += range(streams.keep, streams.keep + keep)
            assert len(taken) == len(set(taken)) and set(taken) <= set(range(FIRST, END))


def test_streams_do_not_move_if_few_numbers_are_drawn() -> None:
    """Earlier trainings are repeated by the same seeds."""
    assert random_streams(task(10, 5), 10) == random_streams(task(0, 0), 0) == (7, 17, 27)


def test_numbers_are_drawn_again_when_their_interval_has_passed() -> None:
    """Other numbers keep the draw of the beginning, and so do all before."""
    again = rl.Vary(0.5, 1.5, how="scale", when="interval", seconds=0.5)
    varied = {"kp": rl.Vary(1.0, 2.0), "kd": again, "mass": again}
    walk: Any = SimpleNamespace(vary=varied, step_seconds=0.1)
    defaults, key = {"kp": 1.0, "kd": 3.0, "mass": 4.0}, random_numbers.key(3, 1, 0)
    before = {"kp": 10.0, "kd": 20.0, "mass": 30.0}
    for age, is_due in ((4.0, False), (5.0, True), (10.0, True)):
        after: dict[str, Any] = dict(before)
        draw_again(walk, defaults, 7, after, age, key)
        draws = {"kd": again.draw(key.at(8), 3.0), "mass": again.draw(key.at(9), 4.0)}
        anew = {n: objects(x).item() for n, x in draws.items()}
        wanted = before | anew if is_due else before
        assert {n: objects(x).item() for n, x in after.items()} == pytest.approx(wanted)
        assert 1.5 <= wanted["kd"] <= 4.5 or not is_due


def test_more_draws_than_streams_are_refused() -> None:
    with pytest.raises(rl.TaskError, match="Hop draws 20 varied numbers, noise of 4 terms and 2"):
        random_streams(task(4, 2), 20)


def test_varied_numbers_and_noise_use_different_streams() -> None:
    """The shipped recipe varies more than ten numbers.

    The eleventh does not share the noise of a term.
    """
    task = rl.make("quadruped_velocity")
    walker = training_task(task, task.recipe)
    assert len(walker.vary) > 10 and walker.noise
    step = rl.VecEnv(walker, 1).kernels
    assert step._streams.noise >= step._streams.vary + len(walker.vary)


@pytest.mark.parametrize("seed", [-1, 1.5, True, 2**24, "1", [1, 2]])
def test_seeds_that_float32_cannot_represent_are_refused(seed: Any) -> None:
    """2^24 and 2^24 + 1 gave the same environments, and so did 1.5 and 1."""
    with pytest.raises(rl.TaskError, match="a seed must be a whole number from 0 to 16777215, got"):
        rl.VecEnv(Hold(), 1, seed=seed)
    with pytest.raises(rl.TaskError, match="a seed must be a whole number"):
        rl.VecEnv(Hold(), 1).reset(seed=seed)
    assert check_seed(np.int64(2**24 - 1)) == 2**24 - 1
