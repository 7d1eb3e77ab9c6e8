"""Labels as metadata, and numbers that are none."""

from __future__ import annotations

import numpy as np
import pytest

from warpdyn.logs.records import Label, Labels, LogError, finite, join_names


def test_labels_say_what_they_are() -> None:
    """Shape, columns of their own, and all that is known."""
    label = Label("tau", (2,), np.dtype("f4"), {"unit": "N·m"}, ("tau_a", "tau_b"))
    said = Labels([label], {"model": "arm"}).as_metadata()
    assert said["model"] == "arm"
    assert said["columns"]["tau"] == {"shape": [2], "columns": ["tau_a", "tau_b"], "unit": "N·m"}


def test_a_row_that_is_not_finite_is_named() -> None:
    """By its number in the file; infinities of both signs do not hide each other."""
    x = np.zeros((5, 2))
    assert finite("q", x, 100) is x
    x[3] = np.inf, -np.inf
    with pytest.raises(LogError, match="column q is not finite in 1 rows, first in row 103"):
        finite("q", x, 100)
    huge = np.full((4, 2), 3e38, np.float32)  # the sum overflows, the numbers are numbers
    assert finite("q", huge, 0) is huge


def test_long_lists_are_cut() -> None:
    assert (
        join_names(["a", "b"]) == "a, b"
        and join_names(list("abcd"), 2) == "a, b ..."
        and join_names([]) == "nothing"
    )
