"""What a person moves a robot with: sliders, a frame that it reaches for, drawings."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import warpdyn as wd

viewer = pytest.importorskip("warpdyn.viewer")
BY_HAND = SimpleNamespace(client=object())
"""An event of a browser; a program's has no client."""


def call_back(handle: Any, event: Any) -> None:
    """What the page's server does when a person has changed something."""
    for each in handle._impl.update_cb:
        each(event)


def test_a_slider_moves_its_joint() -> None:
    """Mimic joints go with it, limits bound it; a button brings all back."""
    model = wd.load_robot("panda")
    page = viewer.show(model)
    try:
        controls, view = page.controls, page.robots["robot"]
        assert len(controls.sliders) == model.nq
        controls.sliders[3].value = -2.0
        call_back(controls.sliders[3], BY_HAND)
        assert view.q[0, 3] == pytest.approx(-2.0)
        controls._start_again()
        assert np.allclose(view.q[0], model.configurations["home"])
        assert controls.sliders[3].value == pytest.approx(view.q[0, 3], abs=1e-6)
    finally:
        page.stop()
