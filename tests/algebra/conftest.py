"""Random numbers for the laws of the algebra."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture(params=range(8))
def draw(request: pytest.FixtureRequest) -> np.random.Generator:
    return np.random.default_rng(request.param)
