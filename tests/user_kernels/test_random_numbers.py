"""Random numbers by counters do not depend on the batch and have the right distribution."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from cuda_on_host import needs_compiler
from cuda_on_host import run as run_on_host

import warpdyn as wd
from warpdyn.algebra import scalar
from warpdyn.codegen.targets import write
from warpdyn.execution.batched import describe_call
from warpdyn.execution.request.call import gather, input_shapes
from warpdyn.execution.request.evaluate import record_call
from warpdyn.user_kernels import random_numbers
from warpdyn.user_kernels import random_numbers as chosen
from warpdyn.user_kernels.random_numbers import LARGEST, _counter

MODEL = wd.load_robot("cartpole")


@wd.kernel
def draw_all(robot: Any, q: Any, episode: ()) -> Any:  # type: ignore[valid-type]
    key = wd.random.key(7, robot.env, episode)
    return {
        "uniform": wd.random.uniform(key, 3),
        "wide": wd.random.uniform(key.at(1), (2, 2), -1.0, np.array([3.0, 4.0])),
        "normal": wd.random.normal(key.at(2), 3, 1.0, 0.5),
    }


def draws(count: int, dtype: Any = np.float64, episode: float = 0.0) -> Any:
    return draw_all(MODEL, np.zeros((count, 2), dtype), episode)


def test_a_draw_depends_on_its_key_only() -> None:
    """Not on the size of the batch, the dtype, or the number of threads."""
    many = draws(4096)
    for count in (1, 7, 100):
        assert all(np.array_equal(x, y[:count]) for x, y in zip(draws(count), many, strict=True))
    threads = wd.runtime.get_num_threads()
    try:
        for number in (1, 2):
            wd.runtime.set_num_threads(number)
            assert np.array_equal(draws(4096).normal, many.normal)
    finally:
        wd.runtime.set_num_threads(threads)
    assert np.array_equal(draws(4096, np.float32).uniform, many.uniform)
    assert np.allclose(draws(4096, np.float32).normal, many.normal, atol=1e-5)


def test_draws_of_kernel_and_oracle_equal_the_hash() -> None:
    q = np.zeros((5, 2))
    got, wanted = draw_all(MODEL, q, 3.0), wd.oracle(draw_all, MODEL, q, np.full(5, 3.0))
    assert np.array_equal(got.uniform, wanted.uniform) and np.allclose(got.normal, wanted.normal)
    assert got.uniform[4, 2] == scalar.uniform(7.0, 4.0, 3.0, 2.0)


@needs_compiler
@pytest.mark.parametrize("single", [True, False])
def test_the_cuda_source_draws_the_same_numbers(single: bool, tmp_path: Path) -> None:
    """The draws are inside and outside a loop. The source runs thread by thread on the host."""

    @wd.kernel
    def both(robot: Any, q: Any) -> Any:
        def step(state: Any) -> Any:
            x, n = state
            return x + wd.random.uniform(wd.random.key(1, robot.env, n)), n + 1

        total, n = wd.kernels.repeat(5, step, (0.0 * q[0], 0.0))
        return np.stack([total, wd.random.uniform(wd.random.key(1, robot.env, n))])

    dtype = np.float32 if single else np.float64
    q = np.zeros((9, 2), dtype)
    call = describe_call(both, (MODEL, q), {})
    arrays = {n: np.ascontiguousarray(x) for n, x in gather(call)[1].items()}
    out = np.full((9, 2), np.nan, dtype)
    source = write(record_call(call, input_shapes(call), single), "both", single, "cuda")
    run_on_host(source, arrays, out, folder=tmp_path)
    assert np.array_equal(out[:, 1], both(MODEL, q)[:, 1])
    assert np.allclose(out, wd.oracle(both, MODEL, q), atol=1e-6 if single else 1e-15)


def test_different_keys_give_different_numbers() -> None:
    """The keys differ in seed, environment, episode or stream. Equal keys give equal numbers."""
    numbers = [draws(100, episode=float(k)).uniform for k in range(3)]
    assert len(np.unique(np.concatenate(numbers))) == 900
    again = draws(100, episode=1.0).uniform
    assert np.array_equal(again, numbers[1])


def test_uniform_numbers_are_uniform_and_independent() -> None:
    """Chi squared over 64 bins, correlations between draws, neighbours and episodes, and serial
    pairs.
    """
    count = 1 << 16
    first, second = (draws(count, episode=float(k)).uniform for k in range(2))
    assert first.min() >= 0 and first.max() < 1
    for column in (*first.T, *second.T):
        observed = np.bincount((column * 64).astype(int), minlength=64)
        chi = ((observed - count / 64) ** 2).sum() / (count / 64)
        assert chi < 63 + 5 * math.sqrt(2 * 63)
    columns = [*first.T, *second.T, np.roll(first[:, 0], 1)]
    correlation = np.corrcoef(columns) - np.eye(len(columns))
    assert np.abs(correlation).max() < 5 / math.sqrt(count)
    pairs = np.bincount(
        (first[:, 0] * 16).astype(int) * 16 + (first[:, 1] * 16).astype(int), minlength=256
    )
    chi = ((pairs - count / 256) ** 2).sum() / (count / 256)
    assert chi < 255 + 5 * math.sqrt(2 * 255)


def test_ranges_and_normal_numbers_have_their_moments() -> None:
    count = 1 << 15
    found = draws(count)
    assert found.wide.min() >= -1 and (found.wide.max((0, 1)) < [3, 4]).all()
    assert np.allclose(found.wide.mean((0, 1)), [1, 1.5], atol=0.03)
    z = (found.normal - 1) / 0.5
    assert np.isfinite(z).all()
    assert abs(z.mean()) < 5 / math.sqrt(3 * count) and abs(z.std() - 1) < 0.02
    share = [(np.abs(z) < s).mean() for s in (1, 2, 3)]
    assert np.allclose(share, [0.6827, 0.9545, 0.9973], atol=0.005)
    assert abs(np.corrcoef(z.T) - np.eye(3)).max() < 5 / math.sqrt(count)


def test_bounds_can_be_computed_values() -> None:
    """Known only when the kernel runs, for one number and for several."""

    @wd.kernel
    def between(robot: Any, low: (2,), q: Any) -> Any:  # type: ignore[valid-type]
        key = wd.random.key(1, robot.env)
        return {
            "one": wd.random.uniform(key, (), low[0], low[1]),
            "some": wd.random.uniform(key, 3, low[0], low[1]),
            "unit": wd.random.uniform(key, 3),
        }

    found = between(MODEL, np.array([[2.0, 6.0]] * 5), np.zeros((5, 2)))
    assert np.allclose(found.some, 2.0 + 4.0 * found.unit, atol=1e-6)
    assert np.allclose(found.one, found.some[:, 0])


def test_seeds_can_have_any_size() -> None:
    @wd.kernel
    def draw_with_seed(robot: Any, q: Any, *, seed: int) -> Any:
        return wd.random.uniform(wd.random.key(seed, robot.env), 2)

    q = np.zeros((3, 2))
    found = [draw_with_seed(MODEL, q, seed=s) for s in (0, 1, LARGEST, LARGEST + 1, 1 << 80)]
    assert len(np.unique(np.concatenate(found))) == 30


def test_known_keys_give_known_numbers() -> None:
    """Each draw has its own counter in its stream.

    Normal numbers use Box and Muller's formula of two draws.
    """
    key = wd.random.key(5, 3, 2, stream=63)
    counters = [float(63 << 18 | k) for k in range(6)]
    drawn = np.array([scalar.uniform(5.0, 3.0, 2.0, c) for c in counters])
    numbers = wd.random.uniform(key, (3, 2)).entries.astype(float)
    assert np.array_equal(numbers, drawn.reshape(3, 2))
    first, second = drawn[::2], drawn[1::2]
    radius, angle = np.sqrt(-2.0 * np.log(1.0 - first)), 2.0 * np.pi * second
    pairs = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).ravel()
    for shape, count in ((5, 5), ((2, 3), 6), ((), 1), (np.int64(2), 2)):
        found = wd.random.normal(key, shape, 0.25, 3.0).entries.astype(float)
        assert np.allclose(found.ravel(), 0.25 + 3.0 * pairs[:count], rtol=1e-14)
        assert found.shape == (shape if isinstance(shape, tuple) else (shape,))
    assert wd.random.normal(key).entries[()] == pytest.approx(pairs[0])
    assert wd.random.uniform(key, 2, -1.0, 4.0).entries[1] == -1.0 + drawn[1] * 5.0
    assert wd.random.uniform(key.at(7)).entries[()] == scalar.uniform(5.0, 3.0, 2.0, float(7 << 18))
    assert wd.random.key(1, 2) == wd.random.key(1, 2, 0, stream=0)


def test_seeds_from_2_to_the_24_on_are_reduced() -> None:
    """Smaller ones are used unchanged."""
    for seed in (LARGEST - 1, np.int64(LARGEST - 1), float(LARGEST - 1)):
        assert _counter("seed", seed) == LARGEST - 1
    for seed in (LARGEST, 1 << 80):
        assert _counter("seed", seed) == crc32(str(seed).encode()) % LARGEST
    with pytest.raises(TypeError, match=r"the seed of a key is one number, got shape \(2,\)"):
        _counter("seed", [1.0, 2.0])
    assert _counter("seed", [7.0]) == 7.0


def test_the_number_of_draws_of_a_key_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_numbers, "_uniform", lambda *counters: counters[-1])
    key = wd.random.key(0, 0)
    assert wd.random.uniform(key, (1 << 18) - 1).entries[-1] == (1 << 18) - 2
    with pytest.raises(TypeError, match="262,143 draws at most, 262144 were asked for"):
        wd.random.uniform(key, (1 << 9, 1 << 9))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (lambda robot, q: wd.random.key(0, robot.env, stream=-1), "of \\[0, 64\\), got -1"),
        (lambda robot, q: wd.random.key(0, robot.env, stream=1.0), "known whole number.*got 1.0"),
        (lambda robot, q: wd.random.key(0, robot.env).at(q), "the stream of a key must be a known"),
        (lambda robot, q: wd.random.uniform(3, 2), "need a key"),
        (lambda robot, q: wd.random.key(-1, robot.env) and None, "returned nothing"),
        (lambda robot, q: wd.random.uniform(wd.random.key(-1, robot.env)), "at least 0, got -1"),
        (lambda robot, q: wd.random.uniform(wd.random.key(0.5, robot.env)), "whole number.*0.5"),
        (
            lambda robot, q: wd.random.uniform(wd.random.key(0, q)),
            "environment of a key is one number",
        ),
        (lambda robot, q: wd.random.key(0, robot.env, stream=64), r"stream.*\[0, 64\), got 64"),
        (lambda robot, q: wd.random.uniform(wd.random.key(0, 0), 1 << 18), "262,143 draws"),
    ],
)
def test_invalid_keys_are_refused(text: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        wd.kernel(text)(MODEL, np.zeros((2, 2)))


def test_chosen_constants_have_their_documented_values() -> None:
    """They come from measurements or external limits. Another value needs another reason."""
    assert chosen.LARGEST == 16_777_216
