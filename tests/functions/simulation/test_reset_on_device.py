"""The launch that resets environments on a GPU, also tested on CPU arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from array_kinds import host, make_array, usable

import warpdyn as wd
from warpdyn.arrays.libraries import library_of
from warpdyn.functions.simulation.reset_on_device import reset_on_device

ENVS = 5

ROWS: dict[str, Any] = {
    "all": None,
    "mask": np.arange(ENVS) % 2 == 0,
    "int32": np.array([3, 1], np.int32),
    "int64": np.array([3, 1]),
}


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("on_device", [False, True])
@pytest.mark.parametrize("library", ["torch", "warp"])
def test_chosen_rows_are_reset(
    library: str, on_device: bool, rows: str, dtype: np.dtype, device: str
) -> None:
    """The values are one row of any dtype for all environments, a row per environment, or zeros."""
    usable(library, device)
    rng = np.random.default_rng(0)
    before = {"q": rng.normal(size=(ENVS, 3)), "v": rng.normal(size=(ENVS, 3))}
    before |= {"forces": rng.normal(size=(ENVS, 2, 3)), "none": np.zeros((ENVS, 0, 3))}
    before = {name: x.astype(dtype) for name, x in before.items()}
    arrays = {name: make_array(library, x, device) for name, x in before.items()}
    where = ROWS[rows]
    chosen = slice(None) if where is None else where
    count = ENVS if where is None else None if rows == "mask" else len(where)
    q, v = rng.normal(size=3).astype(np.float64), rng.normal(size=(ENVS, 3)).astype(np.float32)
    index = where
    if on_device and where is not None:
        index = make_array(library, where, device)
    values = {"q": make_array(library, q, device) if on_device else list(q), "v": v}
    reset_on_device(library_of(arrays["q"]), index, count, arrays, values)
    before["q"][chosen], before["v"][chosen], before["forces"][chosen] = q, v[chosen], 0.0
    for name, wanted in before.items():
        assert np.array_equal(host(arrays[name]), wanted), name


@pytest.mark.parametrize("library", ["torch", "warp"])
def test_values_for_chosen_rows_are_assigned_in_order(library: str, device: str) -> None:
    """Indices assign values in their order.

    A mask assigns them in the order of its rows, which are counted. Another number of rows is
    refused.
    """
    usable(library, device)
    values = np.float32([[1.0, 2.0], [3.0, 4.0]])
    for where, count, wanted in (
        (np.array([3, 1]), 2, [0, 3, 0, 1, 0]),
        (np.isin(np.arange(ENVS), [1, 3]), None, [0, 1, 0, 3, 0]),
    ):
        for index in (where, make_array(library, where, device)):
            q = make_array(library, np.zeros((ENVS, 2), np.float32), device)
            reset_on_device(library_of(q), index, count, {"q": q}, {"q": values})
            assert host(q)[:, 0].tolist() == wanted
            with pytest.raises(ValueError, match=r"q must be \(2,\) or \(2, 2\), got \(3, 2\)"):
                reset_on_device(
                    library_of(q), index, count, {"q": q}, {"q": np.zeros((3, 2), np.float32)}
                )


def test_a_wrong_width_is_refused_with_the_number_of_rows(device: str) -> None:
    """The error for a mask, whose rows are not counted, names the shape for all environments."""
    usable("torch", device)
    mask, q = ROWS["mask"], make_array("torch", np.zeros((ENVS, 2), np.float32), device)
    values = {"q": np.zeros((ENVS, 3), np.float32)}
    with pytest.raises(ValueError, match=r"q must be \(2,\) or \(5, 2\), got \(5, 3\)"):
        reset_on_device(library_of(q), mask, None, {"q": q}, values)


SCENE = wd.load_robot("cartpole").with_object(
    "cube", wd.description.Box(0.1, 0.1, 0.1), mass=0.5, pose=(1, 0, 0.05)
)


@pytest.mark.parametrize("library", ["torch", "warp"])
@pytest.mark.parametrize("rows", [None, "mask", "int64"])
def test_a_simulation_and_its_bodies_are_reset_by_one_launch(
    library: str, rows: str | None, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reset uses `start` or values. The results equal those on the host."""
    usable(library, device)
    where = None if rows is None else ROWS[rows]
    like = make_array(library, np.zeros(1, np.float32), device)
    points = wd.ContactPoints(SCENE).only("cube")
    sims = [wd.Simulation(SCENE, ENVS, points=points, like=like) for _ in range(2)]
    count = ENVS if where is None else len(np.arange(ENVS)[where])
    q = np.tile(SCENE.neutral, (count, 1)) + 0.01 * np.arange(count)[:, None]
    q = wd.normalize(SCENE, q)
    turn = np.array([0.0, 0.0, 0.6, 0.8])
    pose = np.concatenate([np.arange(3.0 * count).reshape(count, 3), np.tile(turn, (count, 1))], 1)
    actions = (
        lambda sim: sim.reset(where),
        lambda sim: sim.reset(where, q=q, v=np.arange(float(SCENE.nv))),
        lambda sim: sim.body("cube").reset(where),
        lambda sim: sim.body("cube").reset(where, pose=pose, velocity=np.arange(6.0)),
    )
    for action in actions:
        states = []
        for on_device, sim in zip((False, True), sims, strict=True):
            for _ in range(3):
                sim.step()
            with monkeypatch.context() as patched:
                if on_device:
                    patched.setattr(type(library_of(like)), "on_cuda", lambda *_: True)
                action(sim)
            states.append(sim.state())
        assert states[0].keys() == states[1].keys()
        for name, x in states[0].items():
            np.testing.assert_array_equal(states[1][name], x, err_msg=name)


def test_torch_knows_which_tensors_a_reset_has_written() -> None:
    torch = pytest.importorskip("torch")
    arrays = {"q": torch.ones(ENVS, 3), "v": torch.ones(ENVS, 3)}
    before = [x._version for x in arrays.values()]
    reset_on_device(library_of(arrays["q"]), None, None, arrays, {"q": [1.0, 2.0, 3.0]})
    assert all(x._version > k for x, k in zip(arrays.values(), before, strict=True))
