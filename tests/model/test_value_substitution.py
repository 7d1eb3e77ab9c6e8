"""A model with other numbers, or symbols, in place of some of its numbers."""

from __future__ import annotations

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.model.value_substitution import TYPICAL, nominal_value, substitute_values, typical

MODEL = wd.load_robot("panda")


def test_values_replace_those_of_the_named_links_and_joints() -> None:
    """No other links and joints change."""
    names = {"mass": ("panda_link3", "panda_hand"), "viscous": ("panda_joint2",)}
    changed = substitute_values(MODEL, names, {"mass": [2.5, 0.25], "viscous": [0.7]})
    assert [x.mass for x in changed.links if x.name in names["mass"]] == [2.5, 0.25]
    others = zip(changed.links, MODEL.links, strict=True)
    assert all(a is b for a, b in others if a.name not in names["mass"])
    assert changed.joint("panda_joint2").effects[0].viscous == 0.7
    assert changed.joint("panda_joint3") is MODEL.joint("panda_joint3")


def test_placements_and_inertias_can_be_substituted() -> None:
    """A placement has a quaternion x y z w, an inertia six entries of a symmetric matrix."""
    names = {"placement": ("panda_joint1",), "inertia": ("panda_hand",)}
    half = np.sqrt(0.5)
    values = {"placement": [[1, 2, 3, 0, 0, half, half]], "inertia": [[1, 2, 3, 4, 5, 6]]}
    changed = substitute_values(MODEL, names, values)
    pose = changed.joint("panda_joint1").pose
    assert pose.position == (1, 2, 3)
    assert np.allclose(pose.rotation, [[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    assert changed.link("panda_hand").inertia == ((1, 2, 3), (2, 4, 5), (3, 5, 6))


def test_names_without_an_owner_and_names_twice_are_refused() -> None:
    """The values of a misspelt name had no effect, and only the last one of a name twice had."""
    mass = np.array([[5.0, 1.0]])
    for names, error, said in (
        (("panda_link5", "panda_link55"), KeyError, "no link named 'panda_link55'; did you mean"),
        (("panda_link5", "panda_joint5"), KeyError, "no link named 'panda_joint5'"),
        (("panda_link5", "panda_link5"), ValueError, 'mass of panda has link "panda_link5" twice'),
    ):
        with pytest.raises(error, match=said):
            substitute_values(MODEL, {"mass": names}, {"mass": mass[0]})
        params = wd.Params(MODEL, {"mass": mass}, {"mass": names})
        with pytest.raises(error, match=said):
            wd.gravity_torques(MODEL, np.zeros((1, 8)), params=params)


def test_the_friction_of_a_fixed_joint_is_zero() -> None:
    """A fixed joint has no effects, so each of their numbers is 0."""
    fixed = next(joint for joint in MODEL.joints if joint.kind.name == "fixed")
    assert not fixed.effects and nominal_value("viscous", fixed) == 0.0
    assert nominal_value("viscous", MODEL.with_friction(viscous=0.3).joint("panda_joint2")) == 0.3


def test_a_typical_robot_has_mass_if_masses_vary() -> None:
    """The model's own masses do not matter."""
    massless = MODEL.with_frame("tip", "panda_hand", (0.0, 0.0, 0.1))
    assert massless.link("tip").mass == 0.0
    assert typical(massless, {"mass": ("tip",)}).link("tip").mass == TYPICAL["mass"]
