"""Models and parameters that do not fit each other are refused before anything is compiled."""

from __future__ import annotations

import pytest
from fleets import MODEL, panda_settings, wheel_text

import warpdyn as wd
from ros2_node.control.robot_check import check_robot


@pytest.mark.parametrize("change", [{}, {"joints": ["nose"]}, {"kp": [1.0]}])
def test_a_robot_is_checked_without_being_made(change):
    """What would be refused when it is made."""
    settings = panda_settings(**change)
    if not change:
        check_robot(MODEL, settings)
    else:
        with pytest.raises(ValueError):
            check_robot(MODEL, settings)


def test_what_does_not_fit_another_robot_is_refused_before_it_is_built():
    """Lists of friction and thresholds, and the link of the wrench, with the parameter's name."""
    felt = {"effort_source": "message"}
    for values, said in (
        ({"friction__coulomb": [1.0] * 8}, "friction.coulomb has 8 numbers"),
        ({**felt, "collision_threshold": [1.0] * 8}, "collision_threshold has 8 numbers"),
        ({**felt, "external_wrench_link": "panda_hand"}, "external_wrench_link 'panda_hand'"),
    ):
        check_robot(MODEL, panda_settings(**values))
        with pytest.raises(ValueError, match=said):
            check_robot(wd.load_urdf(wheel_text()), panda_settings(**values))
