"""A twist that moves the wanted pose of a law: axes, bounds, end and refusals."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from driven_arm import HAND
from fleets import MODEL, NAMES, chain_text, panda_settings

import warpdyn as wd
from ros2_node.control.references.setpoint import Setpoint
from ros2_node.control.references.twist_reference import (
    TwistReference,
    damped_solution,
)

ROOT = MODEL.root


class HeldPose:
    """A stand-in for the wanted pose of a law. It records how it is moved."""

    def __init__(self):
        self.quaternion, self.moves = np.array([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)]), []

    def move(self, twist, passed):
        self.moves.append((twist.copy(), passed))


def twist_of_pose(**values):
    """A twist reference that moves a pose, and its counts."""
    counts, pose = Counter(), HeldPose()
    setpoint = Setpoint(MODEL, NAMES, NAMES, Counter())
    settings = panda_settings(law="cartesian_impedance", **values)
    setpoint.change(settings)
    twist = TwistReference(MODEL, HAND, setpoint, pose, counts)
    twist.change(settings, True)
    return twist, pose, counts


FAST = {"twist_max_speed": [0.5, 2.0], "twist_max_acceleration": [1000.0, 1000.0]}


@pytest.mark.parametrize(
    ("frame", "axes", "turned"),
    [(HAND, "root", True), (ROOT, "link", False), ("", "link", True), ("", "root", False)],
)
def test_a_pose_moves_in_the_axes_of_itself_or_of_the_root(frame, axes, turned):
    """The wanted pose has a quarter turn about z here."""
    twist, pose, _ = twist_of_pose(**FAST, twist_axes=axes)
    assert twist.read(frame, (0.25, 0.0, 0.125), (0.0, 1.0, 0.0), 1.0, True) is None
    twist.follow(1.03125)
    ((moved, passed),) = pose.moves
    wanted = [0, 0.25, 0.125, -1, 0, 0] if turned else [0.25, 0, 0.125, 0, 1, 0]
    np.testing.assert_allclose(moved, wanted, atol=1e-12)
    assert passed == 0.03125


def test_a_twist_of_the_largest_speed_is_not_clipped():
    """Linear and angular velocity each have a bound. A faster one keeps its direction."""
    twist, _, counts = twist_of_pose(**FAST)
    twist.read(ROOT, (0.3, 0.4, 0.0), (0.0, 0.0, -2.0), 1.0, True)
    assert not counts
    np.testing.assert_allclose(twist._target, [0.3, 0.4, 0, 0, 0, -2.0])
    twist.read(ROOT, (0.6, 0.8, 0.0), (0.0, 0.0, -2.0), 1.0, True)
    assert counts == {"twist_clipped": 1}
    np.testing.assert_allclose(twist._target, [0.3, 0.4, 0, 0, 0, -2.0])
    twist.read(ROOT, (0.6, 0.8, 0.0), (0.0, 4.0, 0.0), 1.0, True)
    assert counts == {"twist_clipped": 3}


def test_the_velocity_grows_at_the_acceleration_limit():
    """A pause counts as at most a twentieth of a second, and a clock that runs back as no time."""
    twist, pose, _ = twist_of_pose(twist_max_speed=[0.5, 2.0], twist_max_acceleration=[1.0, 4.0])
    twist.read(ROOT, (0.5, 0.0, 0.0), (0.0, 0.0, 2.0), 1.0, True)
    speeds = [(1.03125, 0.03125), (1.125, 0.05), (1.0, 0.0), (1.03125, 0.03125)]
    linear = 0.0
    for now, passed in speeds:
        twist.follow(now)
        linear += passed
        moved, moved_for = pose.moves[-1]
        assert moved_for == passed
        np.testing.assert_allclose(moved, [linear, 0, 0, 0, 0, 4 * linear], atol=1e-12)


def test_a_twist_as_old_as_its_timeout_still_acts():
    """An older one decelerates to rest and releases the reference."""
    twist, pose, _ = twist_of_pose(**FAST, twist_timeout=0.25)
    twist.read(ROOT, (0.25, 0.0, 0.0), (0.0, 0.0, 0.0), 1.0, True)
    twist.follow(1.25)
    assert pose.moves[-1][0][0] == 0.25 and twist.active
    twist.follow(1.3125)
    assert not twist.active and len(pose.moves) == 1


def test_refusals_have_their_reason_in_words():
    """The causes are a law without a reference, a robot that is not enabled, another frame, and
    NaN."""
    twist, _, counts = twist_of_pose()
    for followed, frame, linear, enabled, said in (
        (
            False,
            ROOT,
            0.1,
            True,
            "law cartesian_impedance follows no twist: use computed_torque or an impedance law",
        ),
        (True, ROOT, 0.1, False, "the robot is not enabled: call ~/enable first"),
        (
            True,
            "camera",
            0.1,
            True,
            "frame_id 'camera' is neither panda_link0, nor panda_hand, nor empty",
        ),
        (True, ROOT, np.inf, True, "a number is not finite"),
    ):
        twist._followed = followed
        assert (
            twist.read(frame, (linear, 0.0, 0.0), (0.0,) * 3, 1.0, enabled) == said == twist.refusal
        )
    assert counts == {"twist_refused": 4} and not twist.active


def test_a_damped_solution_has_the_documented_gain():
    """A direction with the singular value 0.01 has the gain 25. From 0.02 on the gain is the
    inverse."""
    for felt, gain in ((0.01, 25.0), (0.02, 50.0), (0.04, 25.0)):
        J = np.zeros((6, 6))
        np.fill_diagonal(J, [1.0] * 5 + [felt])
        found = damped_solution(J, np.array([0.0] * 5 + [1.0]))
        np.testing.assert_allclose(found, [0.0] * 5 + [gain], atol=1e-9)


def test_the_refusal_lists_at_most_forty_links():
    chain, links = wd.load_urdf(chain_text(42)), ", ".join(f"l{k}" for k in range(40))
    with pytest.raises(ValueError) as error:
        TwistReference(chain, "nose", None, None, Counter())
    assert str(error.value) == f"twist_link 'nose' is not a link of chain, which has {links}"


def test_a_twist_that_moves_a_pose_does_not_move_joints():
    """Its end does not stop a motion of the joints."""
    twist, _, _ = twist_of_pose(**FAST)
    twist._setpoint.v[:] = 0.25
    twist.read(ROOT, (0.25, 0.0, 0.0), (0.0, 0.0, 0.0), 1.0, True)
    twist.end()
    assert not twist.active and (twist._setpoint.v == 0.25).all()
