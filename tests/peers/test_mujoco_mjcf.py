"""MuJoCo on an MJCF file agrees with the oracle for every kind of joint, base and constraint."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from mjcf_texts import ARM, GRIPPER, INERTIAL, LOOSE, SPHERICAL, TEXTS, WALKER, body, load
from states import states

import warpdyn as wd
from warpdyn.peers.mujoco import MuJoCo
from warpdyn.peers.peer import NotComparable

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed (pip install mujoco)")

ROUNDING = 1e-10
"""Relative to the largest entry; MuJoCo makes inertias diagonal and normalises quaternions."""


def read(tmp_path: Path, text: str, **options: object) -> tuple[wd.Model, MuJoCo]:
    file = tmp_path / "robot.xml"
    file.write_text(text)
    model = load(file, **options)
    return model, MuJoCo(model, file)


def agrees(model: wd.Model, peer: MuJoCo) -> None:
    """Check fk of its links, jacobian, crba, rnea and, without mimic joints, aba."""
    s, there = states(model, 3), model.link_indices(peer.links)
    for q, v, a, tau in zip(s.q, s.v, s.a, s.tau, strict=True):
        pairs = [
            (peer.fk(q)[there], wd.oracle(wd.fk, model, q)[there]),
            (peer.crba(q), wd.oracle(wd.crba, model, q)),
            (peer.rnea(q, v, a), wd.oracle(wd.rnea, model, q, v, a)),
        ]
        for frame in peer.links[-3:]:
            truth = wd.oracle(wd.jacobian, model, q, frame=frame)
            pairs.append((peer.jacobian(q, frame), truth))
        if not any(joint.mimic for joint in model.joints) and not peer.held:
            pairs.append((peer.aba(q, v, tau), wd.oracle(wd.aba, model, q, v, tau)))
        for mine, truth in pairs:
            near = ROUNDING * max(1.0, np.abs(truth).max())
            np.testing.assert_allclose(mine, truth, rtol=0, atol=near)


@pytest.mark.parametrize("quaternion", ["xyzw", "wxyz"])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_results_agree_with_the_oracle(tmp_path: Path, text: str, quaternion: str) -> None:
    """Our five files have several joints in a body, ball and free joints, sites, mimic joints, and
    a fixed joint."""
    model, peer = read(tmp_path, text, quaternion=quaternion)
    agrees(model, peer)
    assert all(name in peer.links or ":" in name for name in model.link_names)


@pytest.mark.parametrize("text", [ARM, LOOSE, SPHERICAL], ids=["arm", "loose", "spherical"])
def test_bodies_and_joints_need_no_names(tmp_path: Path, text: str) -> None:
    """They are found by their order."""
    for word in ("body", "joint", "freejoint"):
        for name in (
            "pitch",
            "yaw",
            "upper",
            "left",
            "cube",
            "thrown",
            "slipping",
            "a",
            "ball",
            "c",
        ):
            text = text.replace(f'<{word} name="{name}"', f"<{word}")
    model, peer = read(tmp_path, text)
    assert any(name.startswith("joint") for name in model.joint_names)
    assert any(name.startswith("body") for name in peer.links)
    agrees(model, peer)


def test_the_base_is_free_or_fixed_as_in_the_model(tmp_path: Path) -> None:
    """Free joints are fixed where the model fixes them, and a body without a joint becomes free
    where the model's is."""
    for text, floating in ((WALKER, False), (LOOSE, False), (body(INERTIAL), True)):
        model, peer = read(tmp_path, text, floating_base=floating)
        assert peer.robot.nv == model.nv == {WALKER: 7, LOOSE: 2}.get(text, 6)
        agrees(model, peer)


def test_only_the_dynamics_is_compared(tmp_path: Path) -> None:
    """Springs, dampers, gravity compensation, fluid, contacts, disabled gravity, actuators and
    missing shape files have no effect on the results."""
    extra = (
        '<option density="1000" viscosity="1" gravity="0 0 -9.81"><flag gravity="disable"/></option>'
        '<asset><mesh name="m" file="no.stl"/><texture name="t" file="no.png" type="2d"/>'
        '<material name="p" texture="t"/></asset>'
    )
    after = (
        '<actuator><motor joint="j" ctrlrange="-1 1"/></actuator><contact><exclude body1="b" body2="c"/></contact>'
        '<tendon><fixed name="f"><joint joint="j" coef="1"/></fixed></tendon>'
        '<equality><tendon tendon1="f" active="true"/></equality>'
        '<sensor><jointpos joint="j"/></sensor><keyframe><key qpos="0 0"/></keyframe>'
    )
    inside = (
        f'<joint name="j" axis="0 1 0" stiffness="5" damping="3" frictionloss="1" armature="0.2"/>{INERTIAL}'
        f'<geom type="mesh" mesh="m" material="p"/><site name="s" pos="0 0 1" material="p"/>'
        f'<body name="c" pos="1 0 0" gravcomp="1"><joint name="k"/>{INERTIAL}</body>'
    )
    text = body(inside).replace("<worldbody>", extra + "<worldbody>")
    model, peer = read(tmp_path, text.replace("</mujoco>", after + "</mujoco>"), loops="cut")
    agrees(model, peer)
    assert "s" in peer.links


def test_fixed_joints_of_a_constraint_chain_agree_with_mujoco(tmp_path: Path) -> None:
    """One joint is fixed, and another follows it. Both positions are constants of their
    references."""
    text = GRIPPER.replace('joint1="follow" joint2="lead"', 'joint1="follow" joint2="held"')
    model, peer = read(tmp_path, text)
    assert not model.joint("follow").kind.nv and not model.joint("held").kind.nv
    assert not model.joint("tip").kind.nv
    agrees(model, peer)
    with pytest.raises(NotComparable, match="is held by a constraint: other accelerations"):
        peer.aba(model.neutral, np.zeros(2), np.zeros(2))


def test_another_robot_is_refused(tmp_path: Path) -> None:
    """The file lacks the model's joints, MuJoCo cannot read it, or it lacks a link."""
    model, peer = read(tmp_path, ARM)
    with pytest.raises(NotComparable, match='no body or site "upper:shoulder"'):
        peer.jacobian(model.neutral, "upper:shoulder")
    file = tmp_path / "other.xml"
    file.write_text(body(INERTIAL + "<joint name='x'/>"))
    with pytest.raises(NotComparable, match='MuJoCo has no joint "'):
        MuJoCo(model, file)
    file.write_text(body("<joint name='shoulder' type='ball'/>" + INERTIAL))
    with pytest.raises(NotComparable, match='another kind of joint than "shoulder"'):
        MuJoCo(model, file)
    with pytest.raises(NotComparable, match="MuJoCo does not read it"):
        MuJoCo(model, tmp_path / "none.xml")


def test_the_rotors_of_a_tendon_have_the_velocity_of_the_state(tmp_path: Path) -> None:
    """Only inverse dynamics is called, with no pose of the same state before."""
    tip = f'<body name="b" pos="0.3 0 0.1"><joint name="k" axis="0 1 0"/>{INERTIAL}</body>'
    text = (
        f'<mujoco><worldbody><body name="a"><joint name="j" axis="0 1 0"/>{INERTIAL}{tip}</body></worldbody>'
        '<tendon><fixed name="t" armature="0.7"><joint joint="j" coef="2"/><joint joint="k" coef="-0.5"/></fixed>'
        "</tendon></mujoco>"
    )
    model, peer = read(tmp_path, text)
    s = states(model, 2)
    for q, v, a in zip(s.q, s.v, s.a, strict=True):
        truth = wd.oracle(wd.rnea, model, q, v, a)
        np.testing.assert_allclose(peer.rnea(q, v, a), truth, atol=ROUNDING * np.abs(truth).max())


def test_the_rotors_of_a_tendon_add_to_the_inertia(tmp_path: Path) -> None:
    """A robot that is only asked for its inertia has them, and a file is read whole on request."""
    text = (
        f'<mujoco><worldbody><body name="a"><joint name="j" axis="0 1 0"/>{INERTIAL}'
        f'<body name="b" pos="0.3 0 0.1"><joint name="k" axis="0 1 0"/>{INERTIAL}</body></body>'
        '</worldbody><actuator><motor joint="j"/></actuator><tendon><fixed name="t" armature="0.7">'
        '<joint joint="j" coef="2"/><joint joint="k" coef="-0.5"/></fixed></tendon></mujoco>'
    )
    model, peer = read(tmp_path, text)
    whole = MuJoCo(model, tmp_path / "robot.xml", whole=True)
    assert (peer.robot.nu, whole.robot.nu) == (0, 1)
    q = np.array([0.4, -0.9])
    for each in (peer, whole):
        np.testing.assert_allclose(each.crba(q), wd.oracle(wd.crba, model, q), atol=ROUNDING)
