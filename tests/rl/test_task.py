"""Parts of a task: draws of numbers, and episodes by name."""

from __future__ import annotations

import numpy as np
import pytest

import warpdyn as wd

rl = pytest.importorskip("warpdyn.rl")


def draw_values(vary: object, default: float | np.ndarray, count: int = 20_000) -> np.ndarray:
    """Values that environments draw, each its own."""

    @wd.kernel
    def text(robot, episode: ()):  # type: ignore[no-untyped-def]
        return vary.draw(wd.random.key(0, robot.env, episode), default)  # type: ignore[attr-defined]

    return np.asarray(text(wd.load_robot("cartpole"), np.zeros(count)))


@pytest.mark.parametrize(
    ("vary", "default", "mean", "deviation"),
    [
        (rl.Vary(0.4, 1.0), 5.0, 0.7, 0.6 / np.sqrt(12)),
        (rl.Vary(0.5, 1.5, how="scale"), 20.0, 20.0, 20 / np.sqrt(12)),
        (rl.Vary(0.1, 0.2, "normal", "add"), 3.0, 3.1, 0.2),
    ],
)
def test_a_drawn_number_has_the_mean_and_deviation_of_its_law(
    vary: object, default: float, mean: float, deviation: float
) -> None:
    values = draw_values(vary, default)
    assert values.mean() == pytest.approx(mean, abs=4 * deviation / np.sqrt(len(values)))
    assert values.std() == pytest.approx(deviation, rel=0.03)


def test_a_log_uniform_draw_is_uniform_in_its_logarithm() -> None:
    values = draw_values(rl.Vary(0.1, 10.0, "log_uniform"), 1.0)
    assert values.min() >= 0.1 and values.max() <= 10.0
    assert np.mean(values < 1.0) == pytest.approx(0.5, abs=0.02)


def test_a_default_of_several_numbers_draws_independent_factors() -> None:
    values = draw_values(rl.Vary(0.9, 1.1, how="scale"), np.array([1.0, 2.0, 3.0]), 2000)
    assert values.shape == (2000, 3)
    assert np.abs(np.corrcoef(values.T) - np.eye(3)).max() < 0.1


def test_an_unknown_field_of_an_episode_is_refused_with_its_fields() -> None:
    s = rl.Episode({"q": 1.0, "command": 2.0})
    assert s.with_fields(q=3.0).q == 3.0 and s.q == 1.0
    with pytest.raises(AttributeError, match="an episode has no 'speed'; it has q, command"):
        _ = s.speed


def test_a_task_without_begin_control_or_observe_is_refused() -> None:
    """The other functions have defaults without effect."""
    task, nothing = rl.Task(), rl.Episode({})
    for call in (task.begin, task.control, task.observe):
        with pytest.raises(NotImplementedError):
            call(None, nothing)
    assert task.is_terminal(None, nothing) is task.is_complete(None, nothing) is False
    for call in (task.update, task.reward, task.promote, task.measure):
        assert call(None, nothing) == {}
    assert task.name == "Task" and task.step_seconds == pytest.approx(0.02)
