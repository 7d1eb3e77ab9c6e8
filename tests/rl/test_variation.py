"""Laws of random numbers of environments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpdyn as wd

rl = pytest.importorskip("warpdyn.rl")
from rl_cases import Hold

from warpdyn.rl.task_functions import check_numbers

ENVS = 4000
MODEL = wd.load_robot("double_pendulum")


def draw_values(what: Any, default: Any) -> np.ndarray:
    """A draw of each of many environments."""

    @wd.kernel
    def draws(robot: Any, ticks: ()) -> Any:
        key = wd.random.key(5, robot.env, ticks)
        return np.asarray(what.draw(key, default)) + 0.0 * ticks

    return np.asarray(draws(MODEL, np.zeros(ENVS)))


@pytest.mark.parametrize(
    ("vary", "mean", "deviation"),
    [
        (rl.Vary(2.0, 4.0), 3.0, 2 / np.sqrt(12)),
        (rl.Vary(0.5, 1.5, how="scale"), 10.0, 10 / np.sqrt(12)),
        (rl.Vary(1.0, 0.5, "normal", how="add"), 11.0, 0.5),
        (rl.Vary(1.0, np.e, "log_uniform"), np.e - 1, 0.4916),
    ],
)
def test_draws_have_the_mean_and_deviation_of_their_law(
    vary: Any, mean: float, deviation: float
) -> None:
    """The default is 10.

    The mean and deviation of log-uniform numbers are computed by integrals.
    """
    x = draw_values(vary, 10.0)
    assert abs(x.mean() - mean) < 4 * deviation / np.sqrt(ENVS)
    assert np.isclose(x.std(), deviation, rtol=0.05)
    assert vary.how != "abs" or x.max() <= vary.largest


def test_normal_draws_are_cut_at_three_deviations() -> None:
    """Otherwise one draw in 700 is beyond the numbers that a task is checked for: a negative mass, a
    latency for which there are no earlier observations."""
    vary = rl.Vary(1.0, 0.3, "normal", how="scale")
    x = draw_values(vary, np.ones(10))
    assert x.min() == pytest.approx(vary.smallest) and x.max() == pytest.approx(vary.largest)
    assert np.isclose(x.std(), 0.3, rtol=0.02) and ((x > 0.1001) & (x < 1.8999)).mean() > 0.997


def test_entries_are_drawn_independently() -> None:
    x = draw_values(rl.Vary(0.0, 1.0, how="scale"), np.array([1.0, 2.0, 0.0]))
    assert x.shape == (ENVS, 3) and not x[:, 2].any()
    assert abs(np.corrcoef(x[:, 0], x[:, 1])[0, 1]) < 0.06


@pytest.mark.parametrize(("law", "deviation"), [("uniform", 1 / np.sqrt(3)), ("normal", 1.0)])
def test_noise_has_its_size_and_zero_mean(law: Any, deviation: float) -> None:
    """Uniform noise of size s is between -s and s; s is the deviation of normal noise. No noise has size 0."""
    sizes = np.array([0.1, 2.0, 0.0])

    @wd.kernel
    def noisy(robot: Any, x: (3,)) -> Any:  # type: ignore[valid-type]
        return rl.Noise(sizes, law).add_to(wd.random.key(5, robot.env), x)

    errors = np.asarray(noisy(MODEL, np.full((ENVS, 3), 7.0))) - 7.0
    assert (np.abs(errors.mean(0)) <= 4 * sizes * deviation / np.sqrt(ENVS)).all()
    np.testing.assert_allclose(errors.std(0), sizes * deviation, rtol=0.05)
    if law == "uniform":
        np.testing.assert_allclose([errors.min(0), errors.max(0)], [-sizes, sizes], rtol=0.01)

    @wd.kernel
    def draws(robot: Any, x: (3,)) -> Any:  # type: ignore[valid-type]
        key = wd.random.key(5, robot.env)
        ends = (-1.0, 1.0) if law == "uniform" else ()
        return x + getattr(wd.random, law)(key, (3,), *ends)

    np.testing.assert_allclose(errors, sizes * draws(MODEL, np.zeros((ENVS, 3))), atol=1e-5)


@pytest.mark.parametrize("name", ["SIM_TO_REAL", "SIM_TO_REAL_ARM"])
def test_the_default_sets_have_no_mistakes(name: str) -> None:
    """No strength, friction or latency is negative, and factors are around 1 or below."""
    found = getattr(rl, name)
    records = [*found.vary.values(), *found.noise.values(), *([found.push] if found.push else [])]
    assert not [mistake for record in records for mistake in record.mistakes()]
    for name, vary in found.vary.items():
        assert vary.low == -vary.high if vary.low < 0 else name not in ("com", "encoder_bias")
        assert vary.how != "scale" or vary.low < 1.0 <= vary.high


def test_the_ends_of_a_normal_law_are_three_deviations_off() -> None:
    normal, uniform = rl.Vary(1.0, 0.5, "normal"), rl.Vary(1.0, 1.5)
    assert (normal.smallest, normal.largest) == (-0.5, 2.5)
    assert (uniform.smallest, uniform.largest) == (1.0, 1.5)


@pytest.mark.parametrize(
    ("record", "mistake"),
    [
        (rl.Vary(0.8, 1.2, "log-uniform"), "law must be one of uniform, log_uniform, normal; got"),
        (rl.Vary(0.8, 1.2, how="factor"), "how must be one of abs, scale, add; got 'factor'"),
        (rl.Vary(0.8, 1.2, when="start"), "when must be one of startup, reset, interval; got"),
        (rl.Vary(0.8, np.nan), "low and high must be finite"),
        (rl.Vary(1.2, 0.8), "low must not be above high, got 1.2 and 0.8"),
        (rl.Vary(1.0, -0.1, "normal"), "a deviation must not be negative, got -0.1"),
        (rl.Vary(0.0, 1.0, "log_uniform"), "low must be positive with law"),
        (rl.Vary(0.8, 1.2, when="interval", seconds=0.0), "seconds must be positive, got 0.0"),
        (rl.Vary(0.8, 1.2, seconds=3.0), 'with when="interval" only, got when="reset"'),
        (rl.Push(1.0, seconds=0.0), "seconds must be positive"),
        (rl.Push(1.0, least=2.0), "speeds must be 0 <= least <= speed, got 2.0 and 1.0"),
        (rl.Push(1.0, least=-0.1), "speeds must be 0 <= least <= speed, got -0.1 and 1.0"),
        (rl.Push(np.inf), "speeds must be 0 <= least <= speed, got 0.0 and inf"),
        (rl.HeldPush(-1.0), "force must not be negative"),
        (rl.HeldPush(np.inf), "force must not be negative, got inf"),
        (rl.HeldPush(1.0, hold=0.0), "times must be 0 < hold <= seconds, got 0.0 and 5.0"),
        (rl.HeldPush(1.0, hold=5.1), "times must be 0 < hold <= seconds, got 5.1 and 5.0"),
        (rl.Noise([0.1, -0.1]), "size must not be negative, got [0.1, -0.1]"),
        (rl.Noise("a"), "size must be a number, or one for each entry, got 'a'"),
        (rl.Noise(0.1, "gaussian"), "law must be one of uniform, normal; got 'gaussian'"),
        (rl.Noise(np.array([0.1, np.inf])), "size must not be negative"),
    ],
)
def test_invalid_fields_of_a_record_are_reported(record: Any, mistake: str) -> None:
    """A misspelled law would otherwise be taken as another one."""
    (said,) = record.mistakes()
    assert mistake in said


@pytest.mark.parametrize(
    "record",
    [
        rl.Vary(1.0, 0.1, "normal"),
        rl.Vary(1.0, 0.0, "normal"),
        rl.Vary(1.0, 1.0),
        rl.Vary(0.5, 1.0, "log_uniform"),
        rl.Vary(0.5, 1.0, when="interval", seconds=2.0),
        rl.Push(1.0, least=1.0),
        rl.Push(0.0),
        rl.HeldPush(0.0, hold=5.0),
        rl.Noise([0.1, 0]),
    ],
)
def test_valid_fields_of_a_record_are_accepted(record: Any) -> None:
    """Fields that equal a bound are valid, too."""
    assert not [*record.mistakes()]


@pytest.mark.parametrize(
    ("attribute", "entry", "said"),
    [
        ("vary", {"kp": rl.Vary(0.5, 1.5, how="scale", of="hip*")}, r"kp: `of` selects links and"),
        ("vary", {"gravity": rl.Vary(0.5, 1.5, how="scale", of="*")}, ""),
        ("vary", {"encoder_bias": rl.Vary(0.1, 0.2, how="scale")}, "multiplies a default of 0"),
        ("vary", {"quadratic_friction": rl.Vary(1, 1, how="scale")}, ""),
        ("drives", wd.PD("fast", 1.0), r"Hold\.drives\.kp must be a number, or one for each joint"),
        ("drives", wd.PD(np.ones(2), None), r"Hold\.drives\.kd must be a number"),
        ("vary", {"armature": rl.Vary(0.0, 0.1, of="*")}, ""),
        ("keep", {"level": rl.Vary(0.0, 3.0, of="hip*")}, r"keep\.level: `of` selects"),
        ("keep", {"level": rl.Vary(0.5, 3.0, how="scale")}, 'level: how="scale" has no default'),
        (
            "keep",
            {"level": rl.Vary(0.0, 3.0, when="interval")},
            "level: a kept number is drawn once",
        ),
        ("keep", {"level": rl.Vary(0.0, 3.0)}, ""),
    ],
)
def test_fields_without_effect_are_refused(attribute: str, entry: Any, said: str) -> None:
    """They were ignored: gains of all joints varied, a kept number was always 0."""
    task = Hold()
    setattr(task, attribute, entry)
    if not said:
        check_numbers(task)
        return
    with pytest.raises(rl.TaskError, match=said):
        check_numbers(task)
