"""Repeated calls on a GPU equal checked calls, on other arrays, on streams and in graphs. A
stand-in for a library with its own streams chooses the stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import warp as wp
from devices import assert_same
from robots import by_name
from states import error, states

import warpdyn as wd
from warpdyn.arrays.libraries import WARP
from warpdyn.execution.repeat import planned_call

ARM = by_name("panda").model
B = 24
CALLS = 5
"""Number of calls of each kind: the third and later ones are planned."""

CLOSE = 1e-5
"""Relative: float32 on the device compared with float32 on the CPU."""


@pytest.fixture
def cuda(device: str) -> Iterator[str]:
    if not device.startswith("cuda"):
        pytest.skip("calls on Warp's arrays on the CPU are checked each time; give --device cuda:0")
    yield device
    wp.synchronize_device(device)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The planned calls that run."""
    seen: list[Any] = []
    launched = planned_call.LaunchPlan.launch

    def record_launch(self: Any, *arguments: Any) -> Any:
        seen.append(self)
        return launched(self, *arguments)

    monkeypatch.setattr(planned_call.LaunchPlan, "launch", record_launch)
    return seen


def arrays(seed: int) -> list[np.ndarray]:
    s = states(ARM, B, seed=seed).rounded(np.float32)
    return [x.astype(np.float32) for x in (s.q, s.v, s.a)]


def test_planned_calls_equal_calls_on_the_cpu(cuda: str, runs: list[Any]) -> None:
    """New results and `out=`, one array for two arguments, plain numbers, results with names."""
    gravity = [0.0, 1.0, -2.5]
    for k in range(CALLS):
        given = arrays(k)
        there = [wp.array(x, device=cuda) for x in given]
        wanted = wd.rnea(ARM, *given)
        assert_same(wd.rnea(ARM, *there).numpy(), wanted, cuda)
        out = wp.empty_like(there[1])
        assert wd.rnea(ARM, *there, out=out) is out
        assert_same(out.numpy(), wanted, cuda)
        q, v, _ = there
        assert_same(wd.rnea(ARM, q, v, v).numpy(), wd.rnea(ARM, *given[:2], given[1]), cuda)
        found = wd.rnea(ARM, *there, gravity=gravity).numpy()
        assert_same(found, wd.rnea(ARM, *given, gravity=gravity), cuda)
        pose, jacobian = wd.pose_and_jacobian(ARM, q, frame="panda_hand")
        wanted_pose, wanted_jacobian = wd.pose_and_jacobian(ARM, given[0], frame="panda_hand")
        assert_same(pose.numpy(), wanted_pose, cuda)
        assert_same(jacobian.numpy(), wanted_jacobian, cuda)
    assert len([x for x in runs if x.job.kernel.device.is_cuda]) >= 5 * (CALLS - 2)


def test_arrays_of_other_kinds_are_different_calls(cuda: str, runs: list[Any]) -> None:
    """Shapes, dtypes, strides and devices between planned calls."""
    q, v, a = arrays(0)
    columns = [np.asfortranarray(x) for x in (q, v, a)]
    for _ in range(CALLS):
        for given in ((q, v, a), (q[:7], v[:7], a[:7]), [x.astype(float) for x in (q, v, a)]):
            for device in (cuda, "cpu"):
                there = [wp.array(x, device=device) for x in given]
                assert_same(wd.rnea(ARM, *there).numpy(), wd.rnea(ARM, *given), device)
        memory = [wp.array(np.ascontiguousarray(x.T), device=cuda) for x in columns]
        turned = [WARP.environment_first(x, B) for x in memory]
        assert_same(wd.rnea(ARM, *turned).numpy(), wd.rnea(ARM, *columns), cuda)
    assert runs


def test_an_out_over_another_input_is_refused_after_planned_calls(cuda: str) -> None:
    """A result over another input, after calls with results elsewhere."""
    q, v, a = (wp.array(x, device=cuda) for x in arrays(0))
    out = wp.empty_like(v)
    for _ in range(CALLS):
        wd.rnea(ARM, q, v, a, out=out)
    with pytest.raises(ValueError, match="shares memory with v"):
        wd.rnea(ARM, q, v, a, out=v)


def test_a_capture_records_a_planned_call(cuda: str, runs: list[Any]) -> None:
    """It also records the results, and graphs and plain calls may alternate."""
    given = arrays(0)
    there = [wp.array(x, device=cuda) for x in given]
    for _ in range(CALLS):
        wd.rnea(ARM, *there)
    runs.clear()
    with wp.ScopedCapture(device=cuda) as capture:
        found = wd.rnea(ARM, *there)
    assert len(runs) == 1
    for k in range(3):
        given = arrays(k)
        for x, y in zip(there, given, strict=True):
            x.assign(y)
        wp.capture_launch(capture.graph)
        assert_same(found.numpy(), wd.rnea(ARM, *given), cuda)
        assert_same(wd.rnea(ARM, *there).numpy(), wd.rnea(ARM, *given), cuda)


def test_a_tape_records_a_call_that_was_planned(cuda: str, runs: list[Any]) -> None:
    """The call is then checked, and has gradients."""
    q = wp.array(arrays(0)[0], device=cuda, requires_grad=True)
    for _ in range(CALLS):
        wd.gravity_torques(ARM, q)
    runs.clear()
    with wp.Tape() as tape:
        tau = wd.gravity_torques(ARM, q)
    assert not runs
    tau.grad.fill_(1.0)
    tape.backward()
    (wanted,) = (
        wd.vjp(wd.gravity_torques, ARM, arrays(0)[0], cotangents=np.ones_like(arrays(0)[1])),
    )
    assert error(q.grad.numpy(), wanted) <= CLOSE


def test_each_run_uses_the_current_stream(cuda: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for Torch: Warp's arrays with a stream that the library chooses at each call."""
    q = wp.array(arrays(0)[0], device=cuda)
    wanted = wd.gravity_torques(ARM, arrays(0)[0])
    out = wp.empty_like(q)
    streams = [wp.Stream(cuda) for _ in range(2)]
    chosen = [streams[0]]
    wp.synchronize_device(cuda)
    monkeypatch.setattr(WARP, "own_streams", True, raising=False)
    monkeypatch.setattr(WARP, "stream", lambda device: chosen[0], raising=False)

    @wd.kernel
    def hold(robot: Any, q: Any) -> Any:
        return robot.gravity_torques(q)

    def on_each_stream(call: Callable[[], Any]) -> None:
        """The call runs on the stream of its capture."""
        for stream in streams:
            out.zero_()
            wp.synchronize_device(cuda)
            chosen[0] = stream
            with wp.ScopedCapture(stream=stream) as capture:
                assert call() is out
            wp.capture_launch(capture.graph, stream=stream)
            wp.synchronize_stream(stream)
            assert_same(out.numpy(), wanted, cuda)

    for _ in range(CALLS):
        hold(ARM, q, out=out)
    wp.synchronize_device(cuda)
    on_each_stream(lambda: hold(ARM, q, out=out))
    # A bound call asks too, and its result is the same array each time.
    run = wd.bind(wd.gravity_torques, ARM, q, out=out)
    wp.synchronize_device(cuda)
    on_each_stream(run)
