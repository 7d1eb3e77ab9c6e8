"""Simulations with arrays of other libraries and on a GPU, and their resets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import warp as wp
from array_kinds import host, make_array, usable
from pendulum_simulations import CLOSE, random_targets, simulation
from states import error

import warpdyn as wd


@pytest.mark.parametrize("library", ["torch", "warp"])
def test_simulations_of_each_library_equal_numpys(library: str, device: str) -> None:
    """Arrays are those of `like` on its device. On the CPU all bits are equal."""
    usable(library, device)
    like = make_array(library, np.zeros(1, np.float32), device)
    sim, plain = simulation(like=like), simulation()
    for each in (sim, plain):
        for k in range(3):
            targets = random_targets(6, k)
            each.step(make_array(library, targets, device) if each is sim else targets)
        each.reset([2, 3], q=np.float32([0.1, 0.1]))
        each.reset(np.array([True] + [False] * 5))
        each.step()
    assert type(sim.q) is type(like)
    for name in ("q", "v", "forces", "torques", "time"):
        found, wanted = host(getattr(sim, name)), getattr(plain, name)
        assert error(found, wanted) <= CLOSE[device == "cpu"], name


@pytest.mark.parametrize("library", ["numpy", "torch", "warp"])
@pytest.mark.parametrize("where", [[2, 0, 1], [2, 2, 0]])
def test_indices_in_any_order_reset_to_their_own_rows(
    library: str, where: list[int], device: str
) -> None:
    """The rows are those of `start`. The test covers the robot and a free body."""
    usable(library, device)
    rows = np.eye(3, 7, dtype=np.float32) + np.eye(1, 7, 6, dtype=np.float32)
    cube = wd.description.Box(0.1, 0.1, 0.1)
    scene = wd.ModelBuilder("world").add_link("world").build().with_object("cube", cube, mass=1.0)
    like = make_array(library, np.zeros(1, np.float32), device)
    for whole in (True, False):
        sim = wd.Simulation(scene, 3, start=rows, points=[], like=like)
        sim.step()
        moved = host(sim.q).copy()
        (sim if whole else sim.body("cube")).reset(where)
        chosen = np.isin(np.arange(3), where)[:, None]
        assert np.array_equal(host(sim.q), np.where(chosen, rows, moved))


RESETS: dict[str, dict[str, Any]] = {
    "all": {},
    "mask": {"where": np.arange(6) % 2 == 0},
    "indices": {"where": np.array([4, 1])},
    "of one row": {"where": np.array([4, 1]), "q": np.float32([0.1, 0.2]), "v": np.ones(2)},
    "of rows": {
        "where": np.array([4, 1]),
        "q": np.float32([[0.1, 0.2], [0.3, 0.4]]),
        "v": np.float32([[1.0, 2.0], [3.0, 4.0]]),
    },
    "mask of rows": {"where": np.arange(6) > 3, "q": np.float32([[0.1, 0.2], [0.3, 0.4]])},
    "of environments": {"where": np.arange(6) > 3, "q": np.float32(np.ones((6, 2)))},
    "all of environments": {"q": np.arange(12.0).reshape(6, 2)},
}
"""Arguments of resets by name."""


@pytest.mark.parametrize("name", RESETS)
@pytest.mark.parametrize("on_device", [False, True])
@pytest.mark.parametrize("library", ["torch", "warp"])
def test_resets_in_each_library_equal_numpys(
    library: str, on_device: bool, name: str, device: str
) -> None:
    """Arguments are arrays of NumPy and of the library."""
    usable(library, device)
    given = RESETS[name]
    like = make_array(library, np.zeros(1, np.float32), device)
    sim, plain = simulation(like=like), simulation()
    for each in (sim, plain):
        each.step([1.0, 1.0])
    before = {n: host(getattr(sim, n)).copy() for n in ("q", "v", "forces", "torques", "time")}
    moved = {n: make_array(library, x, device) if on_device else x for n, x in given.items()}
    sim.reset(**moved)
    plain.reset(**given)
    rows = np.zeros(6, bool)
    rows[given.get("where", slice(None))] = True
    for n, x in before.items():
        found, wanted = host(getattr(sim, n)), getattr(plain, n)
        assert np.array_equal(found[rows], wanted[rows]), n
        assert np.array_equal(found[~rows], x[~rows]), n


@pytest.mark.parametrize("name", ["mask", "indices", "of environments", "all"])
def test_a_cuda_graph_replays_steps_and_resets(name: str, device: str) -> None:
    """Resets by a mask or indices on the device. They neither wait nor copy to the host."""
    if device == "cpu":
        pytest.skip("the CPU has no CUDA graphs; give --device cuda:0")
    sim, plain = simulation(like=wp.zeros(1, dtype=wp.float32, device=device)), simulation()
    for each in (sim, plain):
        each.step([1.0, 1.0])
        each.reset()
    given = RESETS[name]
    moved = {n: make_array("warp", x, device) for n, x in given.items()}
    with wp.ScopedCapture(device=device) as capture:
        sim.step()
        sim.reset(**moved)
        sim.step()
    for _ in range(3):
        wp.capture_launch(capture.graph)
        plain.step()
        plain.reset(**given)
        plain.step()
    for n in ("q", "v", "forces", "torques", "time"):
        assert error(host(getattr(sim, n)), getattr(plain, n)) <= CLOSE[False], n


def test_indices_on_a_gpu_are_checked_in_debug_mode_only(device: str) -> None:
    """Indices of no environment are ignored, and refused in debug mode."""
    if device == "cpu":
        pytest.skip("on the CPU indices are checked; give --device cuda:0")
    sim = simulation(like=wp.zeros(1, dtype=wp.float32, device=device))
    sim.step([1.0, 1.0])
    where = wp.array([5, 6, -1], dtype=wp.int32, device=device)
    sim.reset(where)
    assert (sim.time.numpy() == 0.0).tolist() == [False] * 5 + [True]
    with pytest.raises(ValueError, match=r"q must be \(2,\) or \(3, 2\), got \(2, 2\)"):
        sim.reset(where, q=np.zeros((2, 2)))
    wd.config.debug = True
    try:
        with pytest.raises(IndexError, match="there are environments 0 to 5; got 6, -1"):
            sim.reset(where)
    finally:
        wd.config.debug = False


def test_backward_refuses_numbers_that_a_step_or_reset_has_overwritten() -> None:
    """Torch saves the inputs of a network by reference: the gradients of its weights would be those
    of a later state."""
    torch = pytest.importorskip("torch")
    sim = simulation(like=torch.zeros(1))
    changes = (sim.step, sim.step, sim.reset, lambda: sim.reset([1]))
    for change in (*changes, lambda: sim.restore(sim.state())):
        weights = torch.ones(2, requires_grad=True)
        loss = (sim.q * weights).sum() + (sim.v * weights).sum()
        change()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()
