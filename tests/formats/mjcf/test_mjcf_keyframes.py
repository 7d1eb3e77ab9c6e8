"""MJCF: keyframes as configurations, compared with MuJoCo's key_qpos."""

from __future__ import annotations

import numpy as np
import pytest
from mjcf_texts import ARM, GRIPPER, INERTIAL, LOOSE, SPHERICAL, WALKER, body, load

import warpdyn as wd
from warpdyn.formats.mjcf.mjcf import load_mjcf
from warpdyn.model.names import ModelError, ModelWarning
from warpdyn.model.structure import start_of


def keyframes(text: str, *keys: str) -> str:
    return text.replace("</mujoco>", f"<keyframe>{''.join(keys)}</keyframe></mujoco>")


@pytest.mark.parametrize("quaternion", ["xyzw", "wxyz"])
@pytest.mark.parametrize(
    "text", [ARM, WALKER, LOOSE, SPHERICAL], ids=["arm", "walker", "loose", "spherical"]
)
def test_configurations_equal_mujocos(text: str, quaternion: str) -> None:
    """Keyframes have a complete qpos, with quaternions of any length, or no qpos. Without it q is
    MuJoCo's qpos0."""
    mujoco = pytest.importorskip("mujoco")
    nq = mujoco.MjModel.from_xml_string(text).nq
    words = " ".join(f"{0.1 * (k + 1):g}" for k in range(nq))
    text = keyframes(text, f'<key name="home" qpos="{words}" ctrl=""/>', '<key time="1"/>')
    peer = mujoco.MjModel.from_xml_string(text)
    model = load(text, quaternion=quaternion)
    assert list(model.configurations) == ["qpos0", "home", "key1"]
    rows = (peer.qpos0, *peer.key_qpos)
    for row, q in zip(rows, model.configurations.values(), strict=True):
        named = dict(zip(model.q_names, q, strict=True))
        mine = [named[name] for name in load(text, quaternion="wxyz").q_names]
        np.testing.assert_allclose(mine, row, rtol=0, atol=1e-14)


def test_mimic_and_locked_joints_are_not_in_q() -> None:
    """qpos has every joint of the file, q only the independent ones."""
    model = load(keyframes(GRIPPER, '<key name="grip" qpos="1 2 3 4 5"/>'))
    assert model.joint_names == ("turn", "lead")
    assert model.configurations["grip"].tolist() == [1.0, 2.0]


def test_floating_base_applies_to_keyframes() -> None:
    """The coordinates of the file's free joint are skipped if floating_base is False.

    If it is True and the file has no free joint, the base is where the file draws the body.
    """
    walker = load(WALKER)
    q = " ".join(map(str, range(1, walker.nq + 1)))
    held = load(keyframes(WALKER, f'<key name="k" qpos="{q}"/>'), floating_base=False)
    free = load(keyframes(WALKER, f'<key name="k" qpos="{q}"/>'))
    np.testing.assert_array_equal(held.configurations["k"], free.configurations["k"][7:])
    box = body(INERTIAL, pos="1 2 3", quat="0 1 0 0")
    freed = load(keyframes(box, '<key name="k"/>'), floating_base=True)
    np.testing.assert_allclose(freed.configurations["k"], [1, 2, 3, 1, 0, 0, 0], atol=1e-15)


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ('<key name="k" qpos="1 2"/>', r"qpos has 2 numbers; the joints of this file have 1 coord"),
        ('<key name="k" qpos="x"/>', r'qpos is "x"'),
        ('<key name="k"/><key name="k"/>', r'two keyframes are named "k"'),
    ],
)
def test_invalid_keyframes_are_refused(key: str, said: str) -> None:
    """The message names the line of the key."""
    with pytest.raises(ModelError, match=rf"{said}.*\(line 1\)"):
        load_mjcf(keyframes(body(INERTIAL + '<joint name="j"/>'), key))


def test_a_zero_quaternion_becomes_the_identity() -> None:
    """MuJoCo does the same. There is a remark."""
    text = keyframes(
        body(INERTIAL + '<joint name="j" type="ball"/>'), '<key name="k" qpos="0 0 0 0"/>'
    )
    with pytest.warns(ModelWarning, match='keyframe "k": the quaternion of joint "j" is zero'):
        assert load_mjcf(text).configurations["k"].tolist() == [0, 0, 0, 1]


def test_the_base_joint_is_renamed_if_a_hinge_has_its_name() -> None:
    """The base's own joint then takes another name, in keyframes too."""
    model = wd.load(
        '<mujoco><worldbody><body name="a" pos="0 0 1"><freejoint/><geom size="0.1"/>'
        '<body name="b" pos="0.3 0 0"><joint name="floating_base"/><geom size="0.1"/></body></body>'
        '</worldbody><keyframe><key name="up" qpos="0 0 2 1 0 0 0 0.5"/></keyframe></mujoco>'
    )
    up = model.configurations["up"]
    assert model.base_joint == "floating_base_2"
    assert up[2] == 2.0 and up[-1] == 0.5


def test_qpos0_is_a_configuration_unless_a_keyframe_has_that_name() -> None:
    """Joints are at their `ref`, free joints where their bodies are drawn. A simulation starts
    there."""
    text = body(INERTIAL + '<joint name="j" ref="0.4"/>').replace(
        "<mujoco>", '<mujoco><compiler angle="radian"/>', 1
    )
    model = load(text)
    assert model.configurations["qpos0"] == pytest.approx([0.4])
    assert start_of(model) == pytest.approx([0.4])
    assert start_of(model.with_configuration("home", [0.1])) == pytest.approx([0.1])
    assert load(keyframes(text, '<key name="qpos0" qpos="2"/>')).configurations["qpos0"] == [2.0]
