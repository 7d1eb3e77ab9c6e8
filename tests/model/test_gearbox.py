"""Gearbox joints: angles relative to the reference link, in both forms of descriptions, and
refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from robots import by_name
from states import states

import warpdyn as wd
from warpdyn.model.description import Gearbox, Mimic
from warpdyn.model.joints import KINDS
from warpdyn.model.poses_and_limits import Pose


def angle(
    model: wd.Model, q: np.ndarray, reference: str, link: str, axis: np.ndarray
) -> np.ndarray:
    """The rotation of `link` relative to `reference` about their common `axis`, computed from
    poses."""
    T = wd.oracle(wd.fk, model, np.vstack([q, model.neutral]), frames=[reference, link])[
        :, :, :3, :3
    ]
    relative = np.swapaxes(T[:, 0], 1, 2) @ T[:, 1]
    turn = relative[:-1] @ relative[-1].T
    skew = 0.5 * np.stack(
        [
            turn[:, 2, 1] - turn[:, 1, 2],
            turn[:, 0, 2] - turn[:, 2, 0],
            turn[:, 1, 0] - turn[:, 0, 1],
        ]
    )
    assert np.allclose(
        np.abs(axis @ skew), np.linalg.norm(skew, axis=0), atol=1e-12
    )  # about that axis alone
    return np.arctan2(axis @ skew, 0.5 * (np.trace(turn, axis1=1, axis2=2) - 1))


def wrap(x: np.ndarray) -> np.ndarray:
    return (x + np.pi) % (2 * np.pi) - np.pi


def test_gearbox_angles_have_the_ratio() -> None:
    """theta_2 = -ratio theta_1 holds for a planet on an arm and for two wheels in a frame, with any
    signs of their axes."""
    model = by_name("gears").model
    q = states(model, 7).q
    down = np.array(
        [0, 0, -1.0]
    )  # the planet's axis and the arm's, seen from the base at rest: tilted with the arm
    tilt = wd.oracle(wd.fk, model, model.neutral, frame="arm")[:3, :3]
    theta_1 = angle(model, q, "base", "arm", tilt @ down)
    theta_2 = angle(model, q, "base", "planet", tilt @ down)
    assert np.allclose(wrap(theta_2 + 2.5 * theta_1), 0, atol=1e-12)
    tilt = wd.oracle(wd.fk, model, model.neutral, frames=["arm", "motor"])
    about = (tilt[0, :3, :3].T @ tilt[1, :3, :3])[:, 1]
    theta_1, theta_2 = angle(model, q, "arm", "motor", about), angle(model, q, "arm", "tip", -about)
    assert np.allclose(wrap(theta_2 + 0.2 * theta_1), 0, atol=1e-12)


def test_a_gearbox_leaves_one_coordinate() -> None:
    """The joint that closes the loop is removed, and the driven joint follows. A gearbox that
    carries its child follows too."""
    model = by_name("gears").model
    assert model.q_names == ("crank", "drive") and "mesh" not in [
        joint.name for joint in model.joints
    ]
    assert model.joint("driven").mimic == Mimic("drive", 0.2, 0.0)
    assert model.joint("rolling").mimic == Mimic("crank", -3.5, 0.0)


def test_assembling_again_changes_nothing() -> None:
    """The joints of a model make the same model."""
    model = by_name("gears").model
    again = wd.Model.assemble(model.name, model.links, model.joints)
    assert again.joints == model.joints and again.key == model.key


def test_geared_dynamics_equal_those_of_the_constrained_free_robot() -> None:
    """The inertia is that of the free robot at the rates that the gears impose."""
    model = by_name("gears").model
    free = replace(model, joints=tuple(replace(joint, mimic=None) for joint in model.joints))
    s = states(model, 3)
    G = np.zeros((free.nv, model.nv))
    for name, column, ratio in (
        ("crank", 0, 1),
        ("drive", 1, 1),
        ("driven", 1, 0.2),
        ("rolling", 0, -3.5),
    ):
        G[free.coordinates[name].v, column] = ratio
    wanted = G.T @ wd.oracle(wd.crba, free, s.q @ G.T) @ G
    assert np.max(np.abs(wd.oracle(wd.crba, model, s.q) - wanted)) <= 1e-13


def wheels(**changed) -> wd.Model:
    """Two geared wheels on a frame. Arguments replace parts of the gearbox joint."""
    links = [wd.Link(name, 1.0) for name in ("frame", "small", "large", "lamp")]
    turn, z = KINDS["continuous"], (0.0, 0.0, 1.0)
    joints = [
        wd.Joint("in", turn, "frame", "small", Pose((0.1, 0, 0)), z),
        wd.Joint("out", turn, "frame", "large", Pose((-0.1, 0, 0)), z),
        wd.Joint("slide", KINDS["prismatic"], "large", "lamp", axis=z),
    ]
    gear = wd.Joint(
        "gear", KINDS["gearbox"], "small", "large", axis=z, gearbox=Gearbox(3.0, "frame")
    )
    return wd.Model.assemble("wheels", links, [*joints, replace(gear, **changed)])


@pytest.mark.parametrize(
    ("axis", "axis2", "multiplier"), [(1, 1, -3), (-1, 1, 3), (1, -1, 3), (-1, -1, -3)]
)
def test_the_signs_of_axes_decide_the_sign_of_the_ratio(
    axis: float, axis2: float, multiplier: float
) -> None:
    """Each angle is about its own axis."""
    model = wheels(axis=(0.0, 0.0, axis), axis2=(0.0, 0.0, axis2))
    assert model.joint("out").mimic == Mimic("in", multiplier, 0.0)


def test_the_reference_may_be_the_driving_wheel() -> None:
    """Relative to the wheel, the frame rotates in the opposite direction."""
    links = [wd.Link(name, 1.0) for name in ("frame", "small", "hand")]
    z = (0.0, 0.0, 1.0)
    joints = [
        wd.Joint("in", KINDS["continuous"], "frame", "small", axis=z),
        wd.Joint("gear", KINDS["gearbox"], "frame", "hand", axis=z, gearbox=Gearbox(3.0, "small")),
    ]
    model = wd.Model.assemble("m", links, joints)
    assert model.joint("gear").mimic == Mimic("in", 4.0, 0.0)  # hand - small = -3 (frame - small)
    joints[1] = replace(joints[1], axis2=(1.0, 0.0, 0.0))
    with pytest.raises(wd.ModelError, match=r'joint "gear": its axis2 must be parallel .* is 0; '):
        wd.Model.assemble("m", links, joints)


REFUSED = {
    "unknown reference": ({"gearbox": Gearbox(3.0, "nowhere")}, 'its reference link "nowhere" does not exist'),
    "no gearbox": ({"gearbox": None}, "a gearbox joint needs its ratio and its reference link"),
    "ratio not a number": ({"gearbox": Gearbox(float("nan"), "frame")}, "the ratio is nan; it must be finite"),
    "nothing between": ({"gearbox": Gearbox(3.0, "small")}, 'one joint must turn .* the moving joints are: none'),
    "a slide between": ({"gearbox": Gearbox(3.0, "lamp")}, 'the moving joints are: "slide", "out", "in"; choose'),
    "axes askew": ({"axis": (0.6, 0.0, 0.8)}, 'the axis of joint "in" must be parallel to the axis .* is 0.8'),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_invalid_gearboxes_are_refused(what: str) -> None:
    """The message is one line with the joint and the remedy."""
    given, text = REFUSED[what]
    with pytest.raises(wd.ModelError, match=f'joint "gear": .*{text}'):
        wheels(**given)


def test_two_gears_on_one_wheel_are_refused() -> None:
    """A joint can follow only one other."""
    model = wheels()
    gear = wd.Joint(
        "gear",
        KINDS["gearbox"],
        "small",
        "large",
        axis=(0.0, 0.0, 1.0),
        gearbox=Gearbox(3.0, "frame"),
    )
    with pytest.raises(wd.ModelError, match='it moves joint "out", which follows another already'):
        wd.Model.assemble("twice", model.links, [*model.joints, gear])


def test_gears_of_joints_in_a_circle_are_refused() -> None:
    """They are refused before the search for a path to the root, which does not exist."""
    z, turn = (0.0, 0.0, 1.0), KINDS["continuous"]
    links = [wd.Link(name, 1.0) for name in ("a", "b", "c")]
    joints = [wd.Joint("ab", turn, "a", "b", axis=z), wd.Joint("ba", turn, "b", "a", axis=z)]
    gear = wd.Joint("gear", KINDS["gearbox"], "a", "b", axis=z, gearbox=Gearbox(2.0, "c"))
    words = 'joint "gear": joints form a closed loop through link "[ab]"; a robot must be a tree'
    with pytest.raises(wd.ModelError, match=words):
        wd.Model.assemble("circle", links, [*joints, gear])
