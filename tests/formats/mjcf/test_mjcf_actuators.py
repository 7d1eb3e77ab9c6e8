"""MJCF: effort limits from actuators, compared with the largest forces of MuJoCo's."""

from __future__ import annotations

import math
import warnings

import mujoco
import numpy as np
import pytest
from mjcf_texts import INERTIAL, load

import warpdyn as wd
from warpdyn.formats.mjcf.mjcf import load_mjcf
from warpdyn.model.names import ModelError, ModelWarning


def arm(actuators: str, extra: str = "", joint: str = "", compiler: str = "") -> str:
    return (
        f"<mujoco><compiler {compiler}/>{extra}<worldbody><body><joint name='a' {joint}/>{INERTIAL}"
        f"<body pos='1 0 0'><joint name='b' type='slide'/>{INERTIAL}</body></body></worldbody>"
        f"<actuator>{actuators}</actuator></mujoco>"
    )


CLASSES = """<default><motor gear="3"/><default class="strong"><general forcerange="-40 50"/></default>
  <default class="weak"><position kp="50" forcerange="-4 4"/></default></default>"""
TENDON = '<tendon><fixed name="t"><joint joint="a" coef="0.5"/><joint joint="b" coef="-2"/></fixed></tendon>'


@pytest.mark.parametrize(
    ("actuators", "extra", "limits"),
    [
        ('<motor joint="a" ctrlrange="-2 3" gear="10"/>', "", (30, math.inf)),
        ('<motor joint="a" ctrlrange="-2 3" gear="10 7 8 1 2 3"/>', "", (30, math.inf)),
        ('<motor joint="a" forcerange="-5 1" ctrlrange="-9 9" gear="-2"/>', "", (10, math.inf)),
        ('<motor joint="a" forcerange="-50 50" ctrlrange="-1 1"/>', "", (1, math.inf)),
        ('<motor jointinparent="a" ctrlrange="0 1"/><motor joint="b"/>', "", (1, math.inf)),
        ('<motor joint="a" ctrlrange="-1 1" ctrllimited="false"/>', "", (math.inf, math.inf)),
        ('<position joint="a" kp="9" ctrlrange="-1 1"/>', "", (math.inf, math.inf)),
        ('<position joint="a" kp="9" ctrlrange="-1 1" forcerange="-7 7"/>', "", (7, math.inf)),
        ('<velocity joint="b" kv="9" forcerange="-7 7"/>', "", (math.inf, 7)),
        ('<general joint="a" gainprm="20 0 0" ctrlrange="-2 1"/>', "", (40, math.inf)),
        (
            '<general joint="a" gainprm="20" ctrlrange="-2 1" biastype="affine"/>',
            "",
            (math.inf,) * 2,
        ),
        ('<general joint="a" ctrlrange="-2 1" dyntype="integrator"/>', "", (math.inf,) * 2),
        ('<general joint="a" ctrlrange="-2 1" dyntype="filter"/>', "", (2, math.inf)),
        (
            '<motor joint="a" ctrlrange="-1 1"/><motor joint="a" ctrlrange="-2 2"/>',
            "",
            (3, math.inf),
        ),
        ('<motor joint="a" ctrlrange="-1 1"/><motor joint="a"/>', "", (math.inf, math.inf)),
        ('<motor joint="a" ctrlrange="-1 1"/>', CLASSES, (3, math.inf)),
        ('<general joint="a" class="strong"/>', CLASSES, (150, math.inf)),
        ('<general joint="b" class="weak" ctrlrange="-1 1"/>', CLASSES, (math.inf, 12)),
        ('<motor tendon="t" ctrlrange="-3 3" gear="2"/>', TENDON, (3, 12)),
        (
            '<motor tendon="t" ctrlrange="-3 3"/><motor joint="b" ctrlrange="-1 1"/>',
            TENDON,
            (1.5, 7),
        ),
        (
            '<motor site="s" ctrlrange="-3 3"/><adhesion body="x" ctrlrange="0 1"/>',
            "",
            (math.inf,) * 2,
        ),
    ],
)
def test_effort_limits_are_ranges_times_gears(
    actuators: str, extra: str, limits: tuple[float, ...]
) -> None:
    """The range is that of the force, or of the control if the force is control times gain. Several
    actuators add up, also through fixed tendons."""
    assert load(arm(actuators, extra)).effort_limit.tolist() == list(limits)


@pytest.mark.parametrize(
    "actuators",
    [
        '<motor joint="a" ctrlrange="-2 3" gear="10"/>',
        '<general joint="a" gainprm="20" ctrlrange="-2 1"/><motor joint="b" forcerange="-3 3"/>',
        '<motor tendon="t" ctrlrange="-3 3" gear="2"/><motor joint="b" class="strong"/>',
        '<position joint="a" class="weak" gear="2"/><general joint="b" class="weak"/>',
    ],
)
def test_mujocos_largest_force_equals_the_effort_limit(actuators: str) -> None:
    """qfrc_actuator is computed at extreme controls and states."""
    mujoco = pytest.importorskip("mujoco")
    text = arm(actuators, CLASSES + TENDON)
    model, there = load(text), mujoco.MjModel.from_xml_string(text)
    data, largest = mujoco.MjData(there), np.zeros(2)
    for signs in np.ndindex(*(2,) * there.nu):
        for far in (-1e3, 1e3):
            data.qpos[:], data.ctrl[:] = far, 1e3 * (2.0 * np.array(signs) - 1.0)
            mujoco.mj_forward(there, data)
            largest = np.maximum(largest, np.abs(data.qfrc_actuator))
    bounded = np.isfinite(model.effort_limit)
    assert bounded.any()
    np.testing.assert_allclose(largest[bounded], model.effort_limit[bounded], rtol=1e-12)


def test_actuatorfrcrange_of_the_joint_takes_precedence() -> None:
    """The ranges of actuators count only if the joint has no actuatorfrcrange."""
    motor = '<motor joint="a" ctrlrange="-2 2"/>'
    assert load(arm(motor, joint='actuatorfrcrange="-7 7"')).joint("a").limits.effort == 7
    assert load(arm(motor)).joint("a").limits.effort == 2


def test_effort_limits_from_actuators_are_remarked() -> None:
    """The remark names one joint, or counts several. Without such a limit there is no remark."""
    with pytest.warns(ModelWarning, match='effort limit of joint "a" comes from actuators'):
        load_mjcf(arm('<motor joint="a" ctrlrange="-1 1"/>'))
    both = '<motor joint="a" ctrlrange="-1 1"/><motor joint="b" ctrlrange="-1 1"/>'
    assert any("effort limit of 2 joints comes" in line for line in load(arm(both)).warnings)
    assert not load(arm('<motor joint="a"/>')).warnings


def test_a_range_needs_limited_without_autolimits() -> None:
    """MuJoCo requires the same. A decreasing range is refused."""
    with pytest.raises(
        ModelError, match="it has ctrlrange, but autolimits is off; write ctrllimited"
    ):
        load_mjcf(arm('<motor joint="a" ctrlrange="-1 1"/>', compiler='autolimits="false"'))
    with pytest.raises(ModelError, match="forcerange must be increasing, got 2 1"):
        load_mjcf(arm('<motor joint="a" forcerange="2 1" forcelimited="true"/>'))


@pytest.mark.parametrize(
    ("actuators", "remark"),
    [
        ('<muscle joint="a"/>', "actuator <muscle>, whose force depends on more"),
        ('<cylinder joint="a"/>', "actuator <cylinder>, whose force depends on more"),
        ('<adhesion body="c" ctrlrange="0 1"/>', "actuator <adhesion>, whose force"),
        ('<general joint="a" dyntype="filter"/>', 'an actuator with dyntype="filter"'),
        ('<general joint="a" gaintype="muscle"/>', 'an actuator with gaintype="muscle"'),
        ('<general joint="a" biastype="user"/>', 'an actuator with biastype="user"'),
        ('<position joint="a" timeconst="0.1"/>', "a position servo with timeconst"),
        (
            '<position joint="a" dampratio="1"/>',
            "an actuator with dampratio, which depends on a mass",
        ),
        ('<motor site="s"/>', "an actuator of neither a joint nor a fixed tendon"),
        ('<motor tendon="r"/>', "an actuator of a spatial tendon"),
        ('<motor joint="ball"/>', "an actuator of a ball joint"),
    ],
)
def test_unsupported_actuators_are_remarked_and_others_are_read(
    actuators: str, remark: str
) -> None:
    """The other actuators keep the numbers of their places in the file."""
    ball = f"<body name='c'><joint name='ball' type='ball'/>{INERTIAL}</body></body></worldbody>"
    text = arm(f'{actuators}<motor joint="b"/>', CLASSES + TENDON)
    model = load(text.replace("</body></worldbody>", ball))
    assert [each.name for each in model.actuators] == ["actuator1"]
    assert any(remark in line for line in model.warnings), model.warnings


def test_actuator_names_are_unique() -> None:
    """Generated names avoid names of the file. Duplicate names and unknown joints are refused."""
    model = load(arm('<motor joint="a"/><motor name="actuator0" joint="b"/>'))
    assert [each.name for each in model.actuators] == ["actuator0_", "actuator0"]
    with pytest.raises(ModelError, match='two actuators are named "x"; rename one'):
        load(arm('<motor name="x" joint="a"/><motor name="x" joint="b"/>'))
    with pytest.raises(ModelError, match="its joint does not exist; correct the name"):
        load(arm('<motor joint="nowhere"/>'))


def test_ignored_force_ranges_are_remarked() -> None:
    """They are the range of a tendon, and an asymmetric range of a joint that several actuators
    drive."""
    tendon = TENDON.replace('name="t"', 'name="t" actuatorfrcrange="-1 1"')
    assert any("actuatorfrcrange of a tendon" in x for x in load(arm("", tendon)).warnings)
    model = load(arm('<motor joint="a"/>', joint='actuatorfrcrange="-3 7"'))
    assert any("larger bound of its actuatorfrcrange" in line for line in model.warnings)
    assert model.joint("a").limits.effort == 7
    assert model.actuators[0].forces == (-3, 7)
    two = load(arm('<motor joint="a"/><motor joint="a"/>', joint='actuatorfrcrange="-3 7"'))
    assert not two.actuators
    assert any('2 actuators of joint "a" are left out' in line for line in two.warnings)


@pytest.mark.parametrize("gear", [2.0, -0.5])
@pytest.mark.parametrize("force_range", ["", 'forcerange="-9 2"', 'forcerange="20 30"'])
def test_an_asymmetric_force_range_limits_forces_as_in_mujoco(
    gear: float, force_range: str
) -> None:
    """`qfrc_actuator` equals MuJoCo's for a joint whose actuatorfrcrange has unequal ends."""
    motor = f'<motor joint="a" gear="{gear}" {force_range}/>'
    text = arm(motor, joint='actuatorfrcrange="-3 7"')
    theirs = mujoco.MjModel.from_xml_string(text)
    data, model = mujoco.MjData(theirs), load(text)
    for data.ctrl[0] in (-20.0, -1.0, 1.0, 20.0):
        mujoco.mj_forward(theirs, data)
        ours = wd.oracle(wd.actuator_torques, model, data.qpos, data.qvel, data.ctrl)
        np.testing.assert_allclose(ours, data.qfrc_actuator, atol=1e-12)


def remarks(actuators: str, extra: str = "", joint: str = "") -> tuple[str, ...]:
    """Warnings of a model with these actuators."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return load_mjcf(arm(actuators, extra, joint)).warnings


@pytest.mark.parametrize(
    ("actuators", "said"),
    [
        ('<engine joint="a"/>', "element <engine> of <actuator>"),
        ('<position joint="a" timeconst="0.1"/>', "a position servo with timeconst"),
        ('<general joint="a" dyntype="filter"/>', 'an actuator with dyntype="filter"'),
        (
            '<position joint="a" kp="1" dampratio="1"/>',
            "an actuator with dampratio, which depends on a mass; write kv",
        ),
        ('<general joint="a" gaintype="muscle"/>', 'an actuator with gaintype="muscle"'),
        ('<general joint="a" biastype="muscle"/>', 'an actuator with biastype="muscle"'),
        ('<motor site="s"/>', "an actuator of neither a joint nor a fixed tendon"),
        ('<motor tendon="rope"/>', "an actuator of a spatial tendon"),
        (
            '<intvelocity joint="a" actrange="-1 1"/>',
            "actuator <intvelocity>, whose force depends on more than control, position and velocity",
        ),
    ],
)
def test_each_ignored_actuator_is_remarked(actuators: str, said: str) -> None:
    """The remark gives the reason and the line."""
    assert [line for line in remarks(actuators) if "ignored" in line and said in line]
    assert not load(arm(actuators)).actuators


@pytest.mark.parametrize(
    ("gear", "forces"),
    [(2.0, (-3.0, 7.5)), (-2.0, (-7.5, 3.0)), (0.0, (-9.0, 9.0))],
)
def test_an_asymmetric_force_range_limits_its_actuator(
    gear: float, forces: tuple[float, float]
) -> None:
    """The ends are divided by the gear, and a negative gear exchanges them. An actuator without
    gear moves nothing."""
    model = load(
        arm(
            f'<motor name="m" joint="a" gear="{gear}" forcerange="-9 9"/>',
            joint='actuatorfrcrange="-6 15"',
        )
    )
    (actuator,) = model.actuators
    assert actuator.forces == pytest.approx(forces)
    free = load(arm('<motor joint="a" gear="2"/>', joint='actuatorfrcrange="-6 15"'))
    assert free.actuators[0].forces == pytest.approx((-3.0, 7.5))


def test_actuators_that_share_an_asymmetric_force_range_are_ignored() -> None:
    """So is an actuator of a tendon on the joint. Actuators of other joints are read."""
    several = '<motor name="m" joint="a"/><motor name="n" joint="a"/><motor name="k" joint="b"/>'
    said = (
        '2 actuators of joint "a" are left out: its actuatorfrcrange is wider one way, and holds for '
        "the sum of several"
    )
    frc = 'actuatorfrcrange="-6 15"'
    assert any(said in line for line in remarks(several, joint=frc))
    assert [x.name for x in load(arm(several, joint=frc)).actuators] == ["k"]
    tendon = '<motor name="m" tendon="t"/><motor name="k" joint="b"/>'
    assert [x.name for x in load(arm(tendon, TENDON, frc)).actuators] == ["k"]
    assert any('1 actuators of joint "a"' in line for line in remarks(tendon, TENDON, frc))


def test_actuators_without_a_name_are_numbered() -> None:
    """A generated name that the file uses gets an underscore."""
    text = '<motor joint="a"/><motor name="actuator2" joint="a"/><motor joint="b"/>'
    names = [each.name for each in load(arm(text)).actuators]
    assert names == ["actuator0", "actuator2", "actuator2_"]
    with pytest.raises(ModelError, match='two actuators are named "m"; rename one'):
        load(arm('<motor name="m" joint="a"/><motor name="m" joint="b"/>'))
    with pytest.raises(ModelError, match="its joint does not exist; correct the name"):
        load(arm('<motor joint="c"/>'))


@pytest.mark.parametrize(
    ("servo", "controls"),
    [
        ('<position joint="a" inheritrange="0.5"/>', (0.0, 1.5)),
        ('<position tendon="t" inheritrange="2"/>', (-4.0, 8.0)),
        ('<position joint="a" inheritrange="1" ctrllimited="false"/>', (-math.inf, math.inf)),
        ('<position joint="a" ctrlrange="-1 2" kp="3"/>', (-1.0, 2.0)),
    ],
)
def test_control_ranges_of_servos_are_read(servo: str, controls: tuple[float, float]) -> None:
    """A servo has its own range, or a fraction of the range of its joint or tendon about the
    middle."""
    ranged = TENDON.replace('name="t"', 'name="t" range="-1 5"').replace(
        "<tendon>", '<tendon><fixed name="u"><joint joint="a" coef="1"/></fixed>'
    )
    text = arm(servo, ranged, 'range="-0.75 2.25"', 'angle="radian"')
    (actuator,) = load(text).actuators
    assert actuator.controls == pytest.approx(controls)


@pytest.mark.parametrize("target", ['joint="b"', 'tendon="t"'])
def test_inheritrange_of_a_target_without_range_is_refused(target: str) -> None:
    with pytest.raises(ModelError, match="it has inheritrange, but its target has no range; write"):
        load(arm(f'<position {target} inheritrange="1"/>', TENDON))


def test_remarks_name_one_joint_and_count_several() -> None:
    """The remarks are on effort limits from actuators."""
    motors = '<motor joint="a" forcerange="-1 1"/>', '<motor joint="b" forcerange="-1 1"/>'
    said = "the effort limit of {} comes from actuators: range times gear"
    assert any(said.format('joint "a"') in line for line in remarks(motors[0]))
    assert any(said.format("2 joints") in line for line in remarks("".join(motors)))


@pytest.mark.parametrize("floating_base", [None, False])
def test_actuators_of_a_free_base_are_ignored(floating_base: bool | None) -> None:
    text = f"""<mujoco><worldbody><body><frame><freejoint name="f"/></frame>{INERTIAL}</body></worldbody>
    <actuator><motor joint="f" gear="0 0 1 0 0 0"/></actuator></mujoco>"""
    model = load(text, floating_base=floating_base)
    assert model.actuators == ()
    assert "ignored an actuator of a free joint (line 2)" in model.warnings


def test_an_actuator_with_a_delay_is_ignored() -> None:
    delayed = '<motor joint="a" delay="0.01" nsample="5"/>'
    assert "ignored an actuator with delay (line 1)" in remarks(delayed)


@pytest.mark.parametrize("word", ["pid", "orientation"])
def test_servos_with_several_controls_are_ignored(word: str) -> None:
    """They leave a joint without effort limit, and so does <general> of their class."""
    said = f"actuator <{word}>, whose force depends on more than control, position and velocity"
    text = arm(f'<{word} joint="a" ctrlrange="-1 1"/><motor joint="a" ctrlrange="-1 1"/>')
    model = load(text)
    assert [len(model.actuators), model.effort_limit[0]] == [1, math.inf]
    assert f"ignored {said} (line 1)" in model.warnings
    of_class = arm('<general joint="a" gaintype="fixed"/>', f"<default><{word}/></default>")
    assert any("ignored an actuator with" in line for line in load(of_class).warnings)


@pytest.mark.parametrize(("group", "disabled"), [("1", "1"), ("+1", "1"), ("", "0"), ("01", "2 1")])
def test_actuators_of_disabled_groups_do_not_count_in_effort_limits(
    group: str, disabled: str
) -> None:
    text = arm(
        f'<motor joint="a" ctrlrange="-1 1" group="{group}"/><motor joint="a" ctrlrange="-3 3" group="4"/>',
        f'<option actuatorgroupdisable="{disabled}"/>',
    )
    assert load(text).effort_limit[0] == 3.0
