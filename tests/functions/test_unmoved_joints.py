"""Models with a joint that moves no inertia are refused with the remedy."""

from __future__ import annotations

import numpy as np
import pytest
from hand_made_urdf import joint, link, urdf

import warpdyn as wd
from warpdyn.functions.dynamics import mass_matrix_inverse, solve
from warpdyn.model.names import ModelError


def test_a_joint_that_moves_no_inertia_is_refused() -> None:
    """`aba` refuses such a joint, too. The message names the joint and suggests armature."""
    text = urdf("bare", link("a", 1.0), link("b"), joint("idle", "continuous", "a", "b"))
    model = wd.load_urdf(text)
    for call in (
        lambda: mass_matrix_inverse(model, np.zeros(1)),
        lambda: solve(model, np.zeros(1), np.zeros(1)),
    ):
        with pytest.raises(ModelError, match=r'"idle" moves no inertia.*with_armature.*"idle"'):
            call()


def test_a_free_base_without_mass_is_refused_without_suggesting_armature() -> None:
    """The only remedy of a massless base is mass."""
    model = wd.load_urdf(urdf("ghost", link("a")), floating_base=True)
    with pytest.raises(
        ModelError,
        match=r"floating_base.*moves no inertia.*give the links beyond it mass and inertia$",
    ):
        wd.aba(model, model.neutral, np.zeros(6), np.zeros(6))
