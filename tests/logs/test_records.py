"""Labels as metadata, and checks of finite numbers."""

from __future__ import annotations

import numpy as np
import pytest

from warpdyn.logs.records import Label, Labels, LogError, finite, join_names


def test_metadata_describe_the_labels() -> None:
    """They have the shape, separate columns, and everything that is known."""
    label = Label("tau", (2,), np.dtype("f4"), {"unit": "N·m"}, ("tau_a", "tau_b"))
    said = Labels([label], {"model": "arm"}).as_metadata()
    assert said["model"] == "arm"
    assert said["columns"]["tau"] == {"shape": [2], "columns": ["tau_a", "tau_b"], "unit": "N·m"}


def test_the_first_row_that_is_not_finite_is_reported() -> None:
    """It is reported by its number in the file. Infinities of both signs do not cancel."""
    x = np.zeros((5, 2))
    assert finite("q", x, 100) is x
    x[3] = np.inf, -np.inf
    with pytest.raises(LogError, match="column q is not finite in 1 rows, first in row 103"):
        finite("q", x, 100)
    huge = np.full((4, 2), 3e38, np.float32)  # the sum overflows, the numbers are numbers
    assert finite("q", huge, 0) is huge


def test_long_lists_of_names_are_shortened() -> None:
    assert (
        join_names(["a", "b"]) == "a, b"
        and join_names(list("abcd"), 2) == "a, b ..."
        and join_names([]) == "nothing"
    )
