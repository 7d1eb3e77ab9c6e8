"""The bundled tasks compute their published numbers.

Shipped policies, published curves and checkpoints depend on these numbers. After an intended change
`python tests/task_numbers.py` writes them anew, and the difference of the file shows what changed.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

pytest.importorskip("warpdyn.rl")
from task_numbers import FILE, TASKS, domain_randomisations, results_of, settings_of, task_of

PUBLISHED = json.loads(FILE.read_text())

SAME = 2e-6
"""The seven digits of the file, and rounding on another machine."""


@pytest.mark.parametrize("name", TASKS)
def test_a_task_has_its_published_settings(name: str) -> None:
    """Scales, gains, ranges, limits, recipe and all other attributes."""
    _compare(settings_of(task_of(name)), PUBLISHED["settings"][name])


@pytest.mark.parametrize("name", TASKS)
def test_a_task_computes_its_published_numbers(name: str) -> None:
    """The results of all its functions at and away from the beginning of an episode."""
    _compare(results_of(name), PUBLISHED["results"][name])


def test_domain_randomisations_have_their_published_numbers() -> None:
    _compare(domain_randomisations(), PUBLISHED["domain randomisation"])


def _compare(found: Any, published: Any, name: str = "") -> None:
    """Equal names and words in the same order, and equal numbers."""
    if isinstance(found, dict):
        assert list(found) == list(published), name
        for each, x in found.items():
            _compare(x, published[each], f"{name} {each}")
    elif isinstance(found, list) and any(isinstance(x, list | dict | str) for x in found):
        assert len(found) == len(published), name
        for k, (x, y) in enumerate(zip(found, published, strict=True)):
            _compare(x, y, f"{name}[{k}]")
    elif isinstance(found, bool | str) or found is None:
        assert found == published, name
    else:
        np.testing.assert_allclose(found, published, SAME, SAME, err_msg=name)
