"""Calls in graph captures and on several streams of a CUDA device.

The streams are not ordered: nothing waits between them. On a GPU a missing wait shows rarely. On an
emulated device whose streams run as late as CUDA allows, it shows at each run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import warp as wp
from robots import by_name
from states import error, states

import warpdyn as wd
from warpdyn.execution.launch.launch import prepare
from warpdyn.execution.request.argument_checks import MOST_BY_VALUE

PANDA = by_name("panda").model
B = 40

CLOSE = 1e-5
"""Relative to the largest entry: float32 on the device compared with float32 on the CPU."""


@wd.kernel
def scale_and_shift(robot: Any, q: Any, t: (), w: wd.kernels.shared((2,))) -> Any:  # type: ignore[valid-type]
    """Coordinates times a number, plus a number."""
    return q * t + w[1]


TOO_MANY = MOST_BY_VALUE + 1


@wd.kernel
def sum_of_three(robot: Any, q: Any, w: wd.kernels.shared((TOO_MANY,))) -> Any:  # type: ignore[valid-type]
    """A sum of three of its numbers."""
    return w[0] + w[1] + q[0]


Q = states(PANDA, B).rounded(np.float32).q.astype(np.float32)
HEIGHTS = np.random.default_rng(0).normal(size=(9, 9)).astype(np.float32)


def gravity_at(q: Any, number: float) -> Any:
    return wd.rnea(PANDA, q, q, q, gravity=[0.0, 0.0, number])


def between(q: Any, number: float) -> Any:
    return wd.interpolate(PANDA, q, gravity_at(q, -9.81), number)


def own_numbers(q: Any, number: float) -> Any:
    return scale_and_shift(PANDA, q, number, [0.0, number])


def masses(q: Any, number: float) -> Any:
    params = PANDA.params(mass={"panda_hand": number})
    return wd.gravity_torques(PANDA, q, params=params)


def draw_configurations(q: Any, number: float) -> Any:
    device = q.device.alias if isinstance(q, wp.array) else None
    # The robots have different ranges.
    model = by_name({1.0: "panda", 2.5: "cartpole", 3.5: "quadruped_floating"}[number]).model
    return wd.random_configuration(model, B, dtype=np.float32, device=device)


CALLS = (gravity_at, between, own_numbers, masses, draw_configurations)


@pytest.fixture
def cuda(device: str) -> Iterator[str]:
    if not device.startswith("cuda"):
        pytest.skip("the CPU has neither streams nor CUDA graphs; give --device cuda:0")
    yield device
    wp.synchronize_device(device)


@pytest.mark.parametrize("call", CALLS)
def test_plain_numbers_first_used_in_a_capture_are_right(
    call: Callable[..., Any], cuda: str
) -> None:
    """They are right in the same call outside the graph, and in each replay."""
    q = wp.array(Q, device=cuda)
    call(q, 1.0)  # compiled
    with wp.ScopedCapture(device=cuda) as capture:
        inside = call(q, 2.5)
    outside = call(q, 2.5)
    wanted = call(Q, 2.5)
    assert error(outside.numpy(), wanted) <= CLOSE
    wp.capture_launch(capture.graph)  # the memory of `inside` is there from the first launch on
    for _ in range(2):
        inside.zero_()
        wp.capture_launch(capture.graph)
        assert error(inside.numpy(), wanted) <= CLOSE


@pytest.mark.parametrize("call", CALLS)
def test_plain_numbers_are_right_on_two_streams(call: Callable[..., Any], cuda: str) -> None:
    """A stream does not depend on work of the stream that used the numbers first."""
    q = wp.array(Q, device=cuda)
    call(q, 1.0)
    streams = [wp.Stream(cuda) for _ in range(2)]
    wp.synchronize_device(cuda)
    found = []
    for stream in streams:
        with wp.ScopedStream(stream, sync_enter=False):
            found.append(call(q, 3.5))
    wp.synchronize_stream(streams[1])  # the second one first
    assert error(found[1].numpy(), call(Q, 3.5)) <= CLOSE
    wp.synchronize_stream(streams[0])
    assert error(found[0].numpy(), call(Q, 3.5)) <= CLOSE


def test_a_height_map_is_right_on_two_streams(cuda: str) -> None:
    """Its table is copied to the device once. The second stream reads it when it is complete."""
    model = by_name("quadruped_floating").model
    q = states(model, B).rounded(np.float32).q.astype(np.float32)
    pattern = np.zeros((3, 2), np.float32)
    points = wp.array(pattern, device=cuda)
    array = wp.array(q, device=cuda)
    wd.height_scan(model, array, points, terrain=wd.HeightMap(HEIGHTS.copy(), 0.5))
    terrain = wd.HeightMap(HEIGHTS, 0.5)
    wanted = wd.height_scan(model, q, pattern, terrain=terrain)
    streams = [wp.Stream(cuda) for _ in range(2)]
    wp.synchronize_device(cuda)
    found = []
    for stream in streams:
        with wp.ScopedStream(stream, sync_enter=False):
            found.append(wd.height_scan(model, array, points, terrain=terrain))
    wp.synchronize_stream(streams[1])
    assert error(found[1].numpy(), wanted) <= CLOSE


def test_host_numbers_are_refused_in_a_capture(cuda: str) -> None:
    """A graph would copy them again at each replay. The error names the remedy."""
    q = wp.array(Q, device=cuda)
    points = np.zeros((3, 2), np.float32)
    wd.height_scan(PANDA, q, points)
    with (
        pytest.raises(RuntimeError, match="before the capture"),
        wp.ScopedCapture(device=cuda),
    ):
        wd.height_scan(PANDA, q, points)
    wd.randomise(PANDA, B, mass=wd.random.scale(0.8, 1.2), like=q)
    with (
        pytest.raises(RuntimeError, match="before the capture"),
        wp.ScopedCapture(device=cuda),
    ):
        wd.randomise(PANDA, B, mass=wd.random.scale(0.8, 1.2), like=q)


def test_too_many_plain_numbers_are_refused(cuda: str) -> None:
    """The error says how many a launch takes."""
    q, w = wp.array(Q, device=cuda), np.ones(TOO_MANY, np.float32)
    with pytest.raises(ValueError, match=r"w has 513 plain numbers, but a launch .* at most 512"):
        sum_of_three(PANDA, q, w)
    found = sum_of_three(PANDA, q, wp.array(w, device=cuda))
    assert error(found.numpy(), sum_of_three(PANDA, Q, w)) <= CLOSE


@pytest.mark.parametrize("constants", ["each_run", "once"])
def test_a_bound_call_uses_the_current_stream_of_each_run(constants: Any, cuda: str) -> None:
    """A library with its own streams, such as Torch, may have another stream at each run. A
    stand-in for that library chooses the stream here."""
    q = wp.array(Q, device=cuda)
    out = wp.zeros_like(q)
    bound_on, run_on = (wp.Stream(cuda) for _ in range(2))
    current = [bound_on]
    job = prepare(wd.gravity_torques.describe(PANDA, q, out=out))
    wp.synchronize_device(cuda)
    run = replace(job, stream=lambda: current[0]).bind(constants)
    wp.synchronize_device(cuda)
    wanted = wd.gravity_torques(PANDA, Q)
    assert error(out.numpy(), wanted) <= CLOSE
    out.zero_()
    wp.synchronize_device(cuda)
    current[0] = run_on
    with wp.ScopedCapture(stream=run_on) as capture:
        run()
    assert not out.numpy().any()  # recorded, not run
    wp.capture_launch(capture.graph, stream=run_on)
    wp.synchronize_stream(run_on)
    assert error(out.numpy(), wanted) <= CLOSE
    out.zero_()
    wp.synchronize_device(cuda)
    run()
    wp.synchronize_stream(run_on)
    assert error(out.numpy(), wanted) <= CLOSE
