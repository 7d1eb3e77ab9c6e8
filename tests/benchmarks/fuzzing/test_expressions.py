"""python -m benchmarks.fuzzing expressions: its random functions, and the errors it notices."""

from __future__ import annotations

from itertools import islice
from random import Random
from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from benchmarks.fuzzing import expressions as fuzzing
from benchmarks.fuzzing.expression_texts import draw


def test_a_seed_and_number_determine_the_text() -> None:
    """So a finding can be reproduced from its seed and number."""
    bodies = [draw(Random(f"3 {k}")) for k in range(30)]
    assert bodies == [draw(Random(f"3 {k}")) for k in range(30)]
    assert len({*bodies}) == 30


def test_texts_give_numpys_values_and_derivatives(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test covers a few texts, statement by statement. The command covers thousands, and
    compiled ones."""
    monkeypatch.setattr(fuzzing, "compiled_difference", lambda *_: None)
    outcomes = [*islice(fuzzing.expressions(11), 60)]
    assert [x.reproduction for x in outcomes if x.kind == "different"] == []
    assert sum(x.kind == "equal" for x in outcomes) > 50


def test_a_wrong_value_and_a_wrong_derivative_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is in the function, or only in its derivative."""
    assert fuzzing.outcome("return np.sin(x)", Random(0))[0].kind == "equal"
    kept = np.sin
    with monkeypatch.context() as patch:
        patch.setattr(
            fuzzing, "by_numpy", lambda text, arrays, dtype=float: kept(arrays["x"]) + 1e-6
        )
        found, _ = fuzzing.outcome("return np.sin(x)", Random(0))
        assert (found.kind, found.reason) == ("different", "values")
    with monkeypatch.context() as patch:
        run = fuzzing.with_seeds

        def double_results(*given: Any) -> Any:
            return {name: np.multiply(2.0, x).tolist() for name, x in run(*given).items()}

        patch.setattr(fuzzing, "with_seeds", double_results)
        found, _ = fuzzing.outcome("return np.sin(x)", Random(0))
        assert (found.kind, found.reason) == ("different", "jvp")


def test_rounding_divided_by_zero_is_no_difference() -> None:
    """3 pi - 0.25 pi - 2.75 pi is a positive, negative or no rounding error: NumPy's sums in single
    and double precision differ in its sign."""
    body = "return np.einsum('ij,j->i', M, np.arctan2(x, y)) / 0.0"
    text = fuzzing.function_of(body)
    one = {
        "x": np.zeros(3),
        "y": -np.ones(3),
        "M": np.array([[3.0, -0.25, -2.75], [-2.75, 0.75, -2.5], [-3.0, 2.5, 0.0]]),
        "s": np.array(1.0),
    }
    kernel = wd.kernel(fuzzing.with_repeat(text))
    environments = [one] * fuzzing.ENVIRONMENTS
    assert fuzzing.difference(body, text, kernel, Random(0), environments) is None
    other = [{**one, "M": one["M"] + np.eye(3)}] * fuzzing.ENVIRONMENTS
    assert fuzzing.difference(body, lambda *_, **__: np.zeros(3), kernel, Random(0), other)


def test_refusals_are_counted_by_their_reason() -> None:
    """The reason has no line, file or numbers."""
    error = wd.kernels.RecordingError("<expression 7>:2: np.sort has no form of 12 entries")
    assert fuzzing.reason_of(error) == "np.sort has no form of N entries"
    assert fuzzing.outcome("return np.sort(x)", Random(0))[0].kind == "refused"
