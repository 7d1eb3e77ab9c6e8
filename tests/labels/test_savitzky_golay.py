"""Derivatives by polynomials: exact for polynomials, also at the edges, for any size of parts."""

from __future__ import annotations

import numpy as np
import pytest
from log_files import cubic

import warpdyn as wd
from warpdyn.labels import savitzky_golay
from warpdyn.labels.labelled_file import difference_of
from warpdyn.labels.savitzky_golay import (
    EpisodeFinder,
    Episodes,
    Filter,
    derivatives,
    weights,
)

FILTER = Filter()


def episodes_of(t: np.ndarray, number: np.ndarray | None = None, cut: int = 1000) -> Episodes:
    finder = EpisodeFinder({"time": "t", **({} if number is None else {"episode": "e"})})
    for k in range(0, len(t), cut):
        finder.add(t[k : k + cut], None if number is None else number[k : k + cut])
    return finder.all_episodes()


@pytest.mark.parametrize("stamps", ["even", "uneven"])
@pytest.mark.parametrize("lengths", [(100,), (40, 15, 45), (9, 3, 88)])
def test_cubic_polynomials_are_differentiated_exactly(
    stamps: str, lengths: tuple[int, ...]
) -> None:
    """v and a are exact in every row of every episode with at least four rows."""
    rng, t = np.random.default_rng(0), np.arange(100) * 0.01
    if stamps == "uneven":
        t = np.sort(t + rng.uniform(-0.003, 0.003, 100))
    number = np.repeat(np.arange(len(lengths)), lengths)
    q, v, a = cubic(t)
    begins = np.repeat(np.cumsum([0, *lengths[:-1]]), lengths)
    found = episodes_of(t - t[begins], number)
    assert np.isnan(found.dt).any() == (stamps == "uneven")
    one, two = derivatives(q, t - t[begins], 0, slice(0, 100), found, FILTER)
    exact = np.repeat(np.array(lengths) >= 4, lengths)
    assert np.allclose(one[exact], v[exact], atol=1e-9)
    assert np.allclose(two[exact], a[exact], atol=1e-6)
    assert np.isfinite(one).all()  # three rows: a parabola


def test_weights_equal_the_published_tables() -> None:
    """Savitzky and Golay give, for five points, the first derivative of a cubic, [1 -8 0 8 -1] /
    12, and the second derivative of a parabola, [2 -1 -2 -1 2] / 7."""
    offsets = np.arange(-2.0, 3.0)[None]
    assert np.allclose(weights(offsets, 3)[0] * 12, [[1, -8, 0, 8, -1]])
    assert np.allclose(weights(offsets, 2)[1] * 7, [[2, -1, -2, -1, 2]])


@pytest.mark.parametrize("block", [7, 4096])
@pytest.mark.parametrize("stamps", ["even", "uneven"])
def test_derivatives_equal_those_of_least_squares_fits(
    stamps: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each row is the derivative of NumPy's fit to its window, for noise. The number of rows that are
    computed at a time does not matter."""
    monkeypatch.setattr(savitzky_golay, "BLOCK", block)
    rng = np.random.default_rng(1)
    t = np.arange(60) * 0.02 + (rng.uniform(-0.004, 0.004, 60) if stamps == "uneven" else 0.0)
    x = rng.normal(size=(60, 1))
    one, two = derivatives(x, t, 0, slice(0, 60), episodes_of(t), FILTER)
    for i in range(60):
        begin = min(max(i - 7, 0), 45)
        window = slice(begin, begin + 15)
        fit = np.polynomial.Polynomial.fit(t[window], x[window, 0], 3)
        assert np.isclose(one[i, 0], fit.deriv(1)(t[i])) and np.isclose(
            two[i, 0], fit.deriv(2)(t[i])
        )


@pytest.mark.parametrize("stamps", ["even", "uneven"])
def test_derivatives_do_not_depend_on_the_size_of_parts(stamps: str) -> None:
    """Rows in the middle of an array, with a window around them, equal those of the whole array bit
    for bit."""
    t = np.arange(200) * 0.01
    if stamps == "uneven":
        t[1:] += np.random.default_rng(5).uniform(-0.003, 0.003, 199)
    x = np.random.default_rng(2).normal(size=(200, 3)).astype(np.float32)
    number = np.repeat([0, 1], [90, 110])
    t = np.where(number, t - t[90], t)
    found = episodes_of(t, number)
    whole = derivatives(x, t, 0, slice(0, 200), found, FILTER)
    for begin, end in ((0, 50), (50, 90), (80, 120), (90, 130), (150, 200)):
        low, high = max(0, begin - 15), min(200, end + 15)
        wanted = slice(begin - low, end - low)
        some = derivatives(x[low:high], t[low:high], low, wanted, found, FILTER)
        for one, all_rows in zip(some, whole, strict=True):
            assert np.array_equal(one, all_rows[begin:end])


def test_episodes_of_fewer_than_three_rows_give_nan() -> None:
    t = np.array([0.0, 0.01, 0.0, 0.01, 0.02, 0.03])
    found = episodes_of(t, np.array([0, 0, 1, 1, 1, 1]))
    one, _ = derivatives(cubic(t)[0], t, 0, slice(0, 6), found, FILTER)
    assert np.isnan(one[:2]).all() and np.allclose(one[2:], cubic(t)[1][2:])


@pytest.mark.parametrize("cut", [1, 7, 1000])
def test_episodes_are_found_by_number_and_stamps(cut: int) -> None:
    """The size of the parts does not matter. Large float32 stamps count as even."""
    t = np.concatenate([np.arange(20) * 0.02, 9000 + np.arange(30) * 0.02]).astype(np.float32)
    found = episodes_of(t, np.repeat([4, 5], [20, 30]), cut)
    assert found.starts.tolist() == [0, 20] and found.ends.tolist() == [20, 50]
    assert np.allclose(found.dt, 0.02, rtol=1e-2)
    assert found.short(25).tolist() == [True, False]


def test_decreasing_time_is_refused() -> None:
    """The message suggests several episodes, or a damaged file."""
    t = np.concatenate([np.arange(20), np.arange(20)]) * 0.01
    with pytest.raises(ValueError, match=r"column t does not increase .* episode=NAME"):
        episodes_of(t)
    with pytest.raises(ValueError, match=r"between rows 0 and 40; cut the file there"):
        episodes_of(t, np.zeros(40))


@pytest.mark.parametrize(
    ("stamps", "error"),
    [
        (np.arange(40) * 10_000_000, r"rows are 1e\+07 s apart \(median\).*--columns time=t:ns"),
        (np.arange(40) * 1001.0, r"rows are 1001 s apart"),
        (1.7e12 + np.arange(40) * 10.0, r"the last at 1\.7e\+12 s"),
    ],
)
def test_times_in_other_units_are_refused(stamps: np.ndarray, error: str) -> None:
    """Nanoseconds that were read as seconds gave rates near zero without a word. With their unit
    they are seconds, and a long pause is no unit."""
    with pytest.raises(ValueError, match=error):
        episodes_of(stamps)
    finder = EpisodeFinder({"time": "t"})
    finder.add(np.arange(40) * 10_000_000, None, 1e-9)
    assert np.allclose(finder.all_episodes().dt, 0.01)
    paused = episodes_of(np.concatenate([np.arange(20) * 0.01, 1e6 + np.arange(20) * 0.01]))
    assert np.isnan(paused.dt).all()


def test_times_that_are_too_coarse_are_refused() -> None:
    """Seconds since 1970 in float32 are 128 s apart. They counted as even: steps of 10 ms over ten
    minutes had a length that was wrong by 6 %."""
    stamps = (1.7e9 + np.arange(60_000) * 0.01).astype(np.float32)
    with pytest.raises(
        ValueError, match=r"column t is too coarse: .* 1\.3e\+02 s apart, and rows 0"
    ):
        episodes_of(stamps)
    with pytest.raises(ValueError, match="too coarse"):
        finder = EpisodeFinder({"time": "t"})
        finder.add(1000 * stamps, None, 1e-3)
        finder.all_episodes()
    assert np.allclose(episodes_of(1.7e9 + np.arange(60_000) * 0.01).dt, 0.01, rtol=1e-6)


@pytest.mark.parametrize("stamps", [[0.0, 0.01, 0.01, 0.02], [0.5, 0.5, 0.5]])
def test_equal_time_stamps_are_refused(stamps: list[float]) -> None:
    with pytest.raises(ValueError, match="column t does not increase between rows 0 and"):
        episodes_of(np.array(stamps))


@pytest.mark.parametrize(
    ("longer", "even"), [(0.0098, True), (-0.0098, True), (0.012, False), (-0.012, False)]
)
def test_steps_within_a_hundredth_of_their_mean_are_even(longer: float, even: bool) -> None:
    steps = np.full(200, 0.01)
    steps[70] *= 1.0 + longer
    assert np.isfinite(episodes_of(np.cumsum(steps)).dt).tolist() == [even]


def test_derivatives_of_a_free_base_are_on_its_manifold() -> None:
    """Positions integrated from a body velocity give this velocity and its derivative."""
    model = wd.load_robot("quadruped", floating_base=True)
    difference, rng, dt, fine = difference_of(model), np.random.default_rng(3), 0.005, 40
    assert difference is not None and difference_of(wd.load_robot("panda")) is None
    V, A = 0.5 * rng.normal(size=(2, model.nv))
    q = [model.neutral]
    for k in range(60 * fine):
        t = (k + 0.5) * dt / fine
        step = (V + np.sin(t) * A) * dt / fine
        q.append(wd.integrate(model, q[-1], step))
    q, t = np.array(q[::fine]), np.arange(61) * dt
    v, a = derivatives(q, t, 0, slice(0, 61), episodes_of(t), FILTER, difference)
    assert np.abs(v - (V + np.sin(t)[:, None] * A)).max() < 1e-4
    assert np.abs(a - np.cos(t)[:, None] * A).max() < 2e-2
    assert np.abs(v - (V + np.sin(t)[:, None] * A))[7:-7].max() < 1e-7


def test_filters_are_read_from_text() -> None:
    assert Filter.of("savgol:15") == Filter(15, 3) and str(Filter.of("savgol:9:4")) == "savgol:9:4"
    assert Filter.of("savgol:3:2") == Filter(3, 2)
    for text in ("savgol", "median:5", "savgol:8", "savgol:3", "savgol:9:1", "savgol:x"):
        with pytest.raises(ValueError, match="filter"):
            Filter.of(text)


def test_an_episode_is_short_if_it_has_fewer_rows() -> None:
    """An episode with as many rows as the filter's window is long enough."""
    starts, ends = np.array([0, 4]), np.array([4, 9])
    assert Episodes(starts, ends, np.ones(2)).short(5).tolist() == [True, False]
