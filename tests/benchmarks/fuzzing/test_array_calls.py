"""python -m benchmarks.fuzzing calls: its random calls, and some cases."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("jax")

from benchmarks.fuzzing import array_calls
from benchmarks.fuzzing.__main__ import GENERATORS
from benchmarks.fuzzing.array_calls import cases, outcomes
from benchmarks.fuzzing.array_layouts import LAYOUTS

ROBOTS = ("double_pendulum",)
"""Small, so that its kernels compile in a moment."""

COUNT = 200


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_calls_are_equal_or_refused() -> None:
    """A call gives the results of a plain call or an error, whatever memory the arrays use. The
    cases have both.
    """
    found = list(islice(cases(0, ROBOTS), COUNT))
    different = {x.reason: x.reproduction for x in found if x.kind == "different"}
    assert not different
    kinds = Counter(x.kind for x in found)
    assert kinds["equal"] > COUNT // 3 and kinds["refused"] > COUNT // 10


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_seed_gives_the_same_series() -> None:
    """So a finding can be reproduced from its seed and number."""
    assert [outcomes(3, k, ROBOTS) for k in range(3)] == [outcomes(3, k, ROBOTS) for k in range(3)]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_wrong_results_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that negates q gives another result, and the case is reported."""
    function, number = array_calls.FUNCTIONS["crba"]

    def wrong(model: Any, q: Any, **options: Any) -> Any:
        return function(model, -q if isinstance(q, np.ndarray) else q, **options)

    monkeypatch.setattr(array_calls, "FUNCTIONS", {"crba": (wrong, number)})
    monkeypatch.setattr(array_calls.wd, "vjp", lambda *_, **__: None)
    found = list(islice(cases(1, ROBOTS), 60))
    assert any(x.kind == "different" and "outcomes(1, " in x.reproduction for x in found)


@pytest.mark.parametrize("library", LAYOUTS)
def test_layouts_keep_the_values(library: str) -> None:
    """Each layout that is not refused has the values of its source, in its dtype."""
    x = np.random.default_rng(0).uniform(-2, 2, (3, 4))
    for name, layout in LAYOUTS[library].items():
        if layout.refused:
            continue
        array = layout.make(x, "float64")
        wanted = np.broadcast_to(x[0], x.shape) if layout.spread else 0 * x if layout.zero else x
        assert np.allclose(array_calls._host(array), wanted, rtol=1e-6), name


def test_the_command_has_the_generator() -> None:
    assert GENERATORS["calls"][0] is cases
