"""MJCF: actuator laws from default classes, compared with MuJoCo's own forces."""

from __future__ import annotations

import itertools

import mujoco
import numpy as np
import pytest
from mjcf_texts import INERTIAL, load

import warpdyn as wd
from warpdyn.formats.mjcf.mjcf import load_mjcf
from warpdyn.model.names import ModelError

DEFAULTS = {
    "none": "",
    "motor": '<motor ctrlrange="-70 70" gear="3"/>',
    "position": '<position kp="9" kv="2"/>',
    "inheritrange": '<position kp="9" inheritrange="0.7"/>',
    "velocity": '<velocity kv="5"/>',
    "intvelocity": '<intvelocity kp="7" kv="3"/>',
    "damper": '<damper kv="5" ctrlrange="0 2"/>',
    "general": '<general gainprm="4 5 6" biastype="affine" biasprm="1 -2 -3"/>',
    "affine": '<general gainprm="4 5 6" gaintype="affine" biastype="affine" biasprm="1 -2 3"/>',
    "cylinder": '<cylinder timeconst="2" area="3" bias="4 5 6"/>',
    "muscle": '<muscle scale="100"/>',
    "adhesion": '<adhesion gain="4" ctrlrange="0 1"/>',
    "damped": '<position kp="9" dampratio="1"/>',
    "filtered": '<position kp="9" timeconst="0.1"/>',
}
ACTUATORS = (
    *("<motor/>", "<position/>", '<position kp="3"/>', '<position kv="3"/>', '<position kv="0"/>'),
    *("<velocity/>", '<velocity kv="3"/>', "<general/>"),
    *('<general gainprm="8"/>', '<general biastype="affine"/>', '<general gaintype="affine"/>'),
    *('<general dyntype="none" gaintype="fixed" biastype="affine" biasprm="0 -4 -1"/>',),
    *('<damper ctrlrange="0 2"/>', '<damper kv="3" ctrlrange="0 2"/>'),
    *("<intvelocity/>", '<cylinder area="2"/>', "<muscle/>"),
)
STATES = ((0.3, 0.5, 1.0), (-0.9, -2.0, 30.0), (0.3, -2.0, 0.1))
"""Position, velocity and control."""

ACCURACY = 1e-12
"""Relative; MuJoCo and warpdyn compute the same line of arithmetic."""


def _text(defaults: str, actuator: str) -> str:
    actuator = actuator.replace("/>", ' joint="j"/>')
    return (
        f"<mujoco>{defaults}<worldbody><body><joint name='j' range='-60 70'/>{INERTIAL}</body></worldbody>"
        f"<actuator>{actuator}</actuator></mujoco>"
    )


def compare(defaults: str, actuator: str) -> str:
    """Compare the force with MuJoCo's; return "equal", or why there is nothing to compare."""
    text = _text(defaults, actuator)
    try:
        theirs = mujoco.MjModel.from_xml_string(text)
    except ValueError:
        return "MuJoCo refuses it"
    model = load(text)
    data = mujoco.MjData(theirs)
    if not model.actuators:
        assert any(line.startswith("ignored") for line in model.warnings)
        readable = max(theirs.actuator_gaintype[0], theirs.actuator_biastype[0]) <= 1
        damped = "dampratio" in defaults
        assert theirs.actuator_dyntype[0] or not readable or damped
        return "left out"
    for data.qpos[0], data.qvel[0], data.ctrl[0] in STATES:
        mujoco.mj_forward(theirs, data)
        ours = wd.oracle(wd.actuator_torques, model, data.qpos, data.qvel, data.ctrl)
        np.testing.assert_allclose(ours, data.qfrc_actuator, rtol=ACCURACY, atol=ACCURACY)
        assert abs(data.qfrc_actuator[0]) <= model.effort_limit[0] * (1 + ACCURACY)
    return "equal"


@pytest.mark.parametrize("kind", list(DEFAULTS))
def test_each_kind_of_default_acts_on_each_kind_of_actuator_as_in_mujoco(kind: str) -> None:
    """The force is MuJoCo's for every default and actuator, or a remark names the actuator."""
    found = [compare(f"<default>{DEFAULTS[kind]}</default>", actuator) for actuator in ACTUATORS]
    assert found.count("equal") >= 5, "the comparison has something to compare"


@pytest.mark.parametrize(("outer", "inner"), list(itertools.permutations(list(DEFAULTS)[2:10], 2)))
def test_nested_classes_and_classes_of_two_kinds_act_as_in_mujoco(outer: str, inner: str) -> None:
    """A class in a class, and a class with two elements, give MuJoCo's force."""
    first, second = DEFAULTS[outer], DEFAULTS[inner]
    nested = f'<default>{first}<default class="c">{second}</default></default>'
    for actuator in ACTUATORS[::3]:
        compare(nested, actuator.replace("/>", ' class="c"/>'))
        compare(nested, actuator)
        compare(f"<default>{first}{second}</default>", actuator)


@pytest.mark.parametrize(
    ("defaults", "actuator"),
    [
        ('<position kp="9" inheritrange="0.7"/>', '<position ctrlrange="-1 1"/>'),
        ('<position kp="9" ctrlrange="-1 1"/>', '<position inheritrange="1"/>'),
        ('<motor ctrlrange="-1 1"/>', '<position inheritrange="1"/>'),
        ('<position kp="9" inheritrange="0.7"/>', '<general ctrlrange="-1 1"/>'),
        ('<position kp="9" inheritrange="0.7"/>', '<position ctrllimited="false"/>'),
        ('<position inheritrange="1"/>', '<motor ctrlrange="-70 70"/>'),
        ('<motor ctrlrange="-1 1"/><intvelocity inheritrange="0.5"/>', "<velocity/>"),
    ],
)
def test_the_range_that_is_written_last_applies(defaults: str, actuator: str) -> None:
    """An inherited range does not move a motor, and gives way to a range that an element writes."""
    assert compare(f"<default>{defaults}</default>", actuator) == "equal"


def test_unused_gain_and_bias_numbers_are_ignored() -> None:
    """MuJoCo has room for ten numbers. Fixed and affine laws use three."""
    many = '<general gainprm="2 3 4 5 6" biastype="affine" biasprm="1 2 3 4 5"/>'
    assert compare("", many) == "equal"
    assert compare(f"<default>{many}</default>", '<general gainprm="7"/>') == "equal"


STATIC = '<general dyntype="none" gaintype="fixed" biastype="affine"/>'


@pytest.mark.parametrize(
    "default",
    [
        '<cylinder diameter="0.7" bias="1 2 3"/>',
        '<cylinder area="2"/>',
        '<muscle range="0.6 1.2" force="3"/>',
        '<muscle range="0.6 1.2"/>',
    ],
)
def test_default_numbers_of_every_shortcut_apply_to_general_actuators(default: str) -> None:
    """<general> with a static law takes its gain and bias from the class of another shortcut."""
    assert compare(f"<default>{default}</default>", STATIC) == "equal"


def test_an_actuator_with_a_default_class_of_dcmotor_is_ignored() -> None:
    """MuJoCo computes the gain and bias of such a class itself."""
    text = _text('<default><dcmotor motorconst="2"/></default>', STATIC)
    with pytest.warns(wd.ModelWarning, match="ignored an actuator with a class of <dcmotor>"):
        assert not load_mjcf(text).actuators


def test_a_damper_without_kv_gives_no_force() -> None:
    """MuJoCo's default of kv is 0 for a damper, 1 for a velocity servo."""
    assert compare("", '<damper ctrlrange="0 1"/>') == "equal"


LIMITING = ('<damper ctrlrange="0 2"/>', '<adhesion ctrlrange="0 2"/>')
"""MuJoCo limits the control of these two, whatever their class says of ctrllimited."""


@pytest.mark.parametrize("kind", ["general", "motor", "velocity", "position"])
@pytest.mark.parametrize("flag", ["", '<option><flag clampctrl="disable"/></option>'])
def test_the_control_of_a_damper_is_limited_in_every_class(flag: str, kind: str) -> None:
    """A class with ctrllimited="false" does not free the control of a damper. The flag does."""
    defaults = f'{flag}<default><{kind} ctrllimited="false"/></default>'
    assert compare(defaults, '<damper kv="3" ctrlrange="0 2"/>') == "equal"


@pytest.mark.parametrize("limiting", LIMITING)
@pytest.mark.parametrize("actuator", ["<motor/>", "<position/>", "<general/>"])
def test_classes_of_dampers_and_adhesion_limit_the_control(limiting: str, actuator: str) -> None:
    """Such a class limits the control of every actuator, until an element says otherwise."""
    free = '<motor ctrllimited="false"/>'
    inner = actuator.replace("/>", ' class="c"/>')
    nested = f'<default>{free}<default class="c">{limiting}</default></default>'
    assert compare(nested, inner) == "equal"
    assert compare(nested, inner.replace("/>", ' ctrllimited="false"/>')) == "equal"
    assert compare(nested, actuator.replace("/>", ' ctrlrange="0 2"/>')) == "equal"
    again = f'<default>{limiting}<default class="c">{free}</default></default>'
    assert compare(again, inner) == "equal"


@pytest.mark.parametrize(
    ("actuator", "message"),
    [
        ('<position kv="1" dampratio="1"/>', "both kv and dampratio"),
        ('<position kv="-1"/>', "kv is -1; it must be at least 0"),
        ('<damper kv="-1" ctrlrange="0 1"/>', "a damper needs kv of at least 0"),
        ('<position inheritrange="1" ctrlrange="-1 1"/>', "both ctrlrange and inheritrange"),
    ],
)
def test_laws_that_mujoco_refuses_are_refused(actuator: str, message: str) -> None:
    """The message contains the parameter and its value."""
    assert compare("", actuator) == "MuJoCo refuses it"
    with pytest.raises(ModelError, match=message):
        load(_text("", actuator))


def test_a_range_is_inherited_from_a_tendon() -> None:
    """inheritrange of an actuator on a tendon is a fraction of the tendon's range."""
    text = (
        f"<mujoco><worldbody><body><joint name='j' range='-60 70'/>{INERTIAL}</body></worldbody>"
        "<tendon><fixed name='t' range='-0.5 1.5'><joint joint='j' coef='2'/></fixed></tendon>"
        "<actuator><position tendon='t' kp='3' inheritrange='0.8'/></actuator></mujoco>"
    )
    (actuator,) = load(text).actuators
    expected = mujoco.MjModel.from_xml_string(text).actuator_ctrlrange[0]
    np.testing.assert_allclose(actuator.controls, expected, rtol=ACCURACY)
    with pytest.raises(ModelError, match="its target has no range"):
        load(text.replace("range='-0.5 1.5'", ""))
