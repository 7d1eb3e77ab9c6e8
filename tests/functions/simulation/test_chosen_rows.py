"""Rows of a simulation chosen by a user."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.arrays.libraries import library_of
from warpdyn.execution.config import config
from warpdyn.functions.simulation.chosen_rows import ChosenRows

ENVS = 4


@pytest.fixture
def chosen_rows() -> ChosenRows:
    return ChosenRows(library_of(np.zeros(1)), ENVS)


def test_rows_are_chosen_by_none_a_mask_or_indices(chosen_rows: ChosenRows) -> None:
    """Their number is known, except that of a mask."""
    assert chosen_rows.rows(None) == (slice(None), ENVS)
    mask = np.array([True, False, False, True])
    assert chosen_rows.rows(mask)[0] is mask and chosen_rows.rows(mask)[1] is None
    index, count = chosen_rows.rows([2, 0])
    assert index.tolist() == [2, 0] and count == 2
    assert chosen_rows.rows([])[1] == 0


@pytest.mark.parametrize(
    ("where", "error", "match"),
    [
        (np.ones(3, bool), ValueError, r"a mask must be \(4,\)"),
        ([4], IndexError, "environments 0 to 3; got 4"),
        ([-1], IndexError, "got -1"),
        ([0.5], TypeError, "list of whole numbers"),
        ([[0]], TypeError, r"\(1, 1\)"),
    ],
)
def test_invalid_rows_are_refused(
    chosen_rows: ChosenRows, where: Any, error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match):
        chosen_rows.rows(where)


def test_values_are_given_for_all_rows_or_for_the_chosen_ones(chosen_rows: ChosenRows) -> None:
    one, all_of_them, two = np.ones(3), np.arange(12.0).reshape(4, 3), np.ones((2, 3))
    assert chosen_rows.check_values("q", one, 3, None) is one
    rows = chosen_rows.rows([2, 0])
    assert (
        chosen_rows.check_values("q", all_of_them, 3, rows).tolist() == all_of_them[[2, 0]].tolist()
    )
    assert chosen_rows.check_values("q", two, 3, rows) is two
    mask = chosen_rows.rows(np.array([True, False, False, True]))
    assert chosen_rows.check_values("q", two, 3, mask) is two
    with pytest.raises(ValueError, match=r"q must be \(3,\) or \(2, 3\), got \(3, 3\)"):
        chosen_rows.check_values("q", np.ones((3, 3)), 3, rows)


def test_complex_values_are_refused(chosen_rows: ChosenRows) -> None:
    """Their imaginary parts would be dropped."""
    with pytest.raises(TypeError, match="tau must be real numbers, got complex128"):
        chosen_rows.check_values("tau", np.ones((4, 3)) * 1j, 3, None)


def test_torch_uint8_rows_are_refused(chosen_rows: ChosenRows) -> None:
    """Torch reads them as a mask, NumPy as indices. Other integers are indices in both."""
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match=r"torch\.uint8, a mask in Torch and indices elsewhere"):
        chosen_rows.rows(torch.tensor([1, 0, 1, 0], dtype=torch.uint8))
    like = torch.zeros(4, 1)
    rows, count = ChosenRows(library_of(like), ENVS).rows(np.array([3, 0, 1, 1], np.uint8))
    like[torch.as_tensor(rows)] = 1.0
    assert count == 4 and like.ravel().tolist() == [1.0, 1.0, 0.0, 1.0]
    values = torch.arange(12.0).reshape(4, 3)
    chosen_values = chosen_rows.check_values(
        "q", values, 3, chosen_rows.rows(np.array([3, 1], np.uint8))
    )
    assert chosen_values.tolist() == values[[3, 1]].tolist()


def test_masks_of_another_library_choose_the_same_rows(chosen_rows: ChosenRows) -> None:
    """Values may be given for all environments or for the chosen ones.

    A mask of the same library is used unchanged.
    """
    torch = pytest.importorskip("torch")
    mask = torch.tensor([True, False, False, True])
    rows = chosen_rows.rows(mask)
    assert isinstance(rows[0], np.ndarray)
    assert ChosenRows(library_of(mask), ENVS).rows(mask)[0] is mask
    values = np.arange(12.0).reshape(4, 3)
    assert chosen_rows.check_values("q", values, 3, rows).tolist() == values[[0, 3]].tolist()


def test_values_for_all_environments_need_indices_in_order(chosen_rows: ChosenRows) -> None:
    """Row k could belong to environment k or to the k-th index if the indices had another order."""
    values = np.arange(12.0).reshape(4, 3)
    in_order = chosen_rows.rows([0, 1, 2, 3])
    assert chosen_rows.check_values("q", values, 3, in_order).tolist() == values.tolist()
    for where in ([3, 2, 1, 0], [0, 0, 1, 1]):
        with pytest.raises(ValueError, match=r"q has a row for each of 4 environments, and where"):
            chosen_rows.check_values("q", values, 3, chosen_rows.rows(where))


def test_indices_on_a_gpu_are_checked_in_debug_mode_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading them would wait for the device. Debug mode names indices of no environment."""
    library = library_of(np.zeros(1))
    monkeypatch.setattr(type(library), "on_cuda", lambda *_: True)
    chosen, where = ChosenRows(library, ENVS), np.array([1, 9, 2])
    index, count = chosen.rows(where)
    assert index is where and count == 3
    monkeypatch.setattr(config, "debug", True)
    with pytest.raises(IndexError, match="there are environments 0 to 3; got 9"):
        chosen.rows(where)


def test_values_that_are_no_numbers_are_refused() -> None:
    """Targets of None were NaN, and the robots were reset."""
    model = wd.load_robot("double_pendulum")
    sim = wd.Simulation(model, 2, points=[], control=wd.PD(1.0, 1.0))
    with pytest.raises(TypeError, match=r"targets must be an array of numbers.* got \[None, 0.0\]"):
        sim.step([None, 0.0])  # type: ignore[arg-type]
