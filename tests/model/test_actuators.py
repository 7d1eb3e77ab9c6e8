"""Actuators of a model: data that follow its joints through changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from robots import by_name

import warpdyn as wd
from warpdyn.model.actuators import Actuator
from warpdyn.model.lumping import build_tree

PANDA = wd.load_robot("panda")
FIRST, SECOND = PANDA.joint_names[:2]
PULL = Actuator("pull", ((FIRST, 2.0), (SECOND, -1.0)), (3.0, 0.0, 0.0), (0.0, -3.0, -0.1))
MOVED = replace(PANDA, actuators=(PULL,))


def test_actuators_are_part_of_the_key() -> None:
    """Kernels are found by this key. The effort limits of driven joints are part of it, too."""
    assert (
        len({PANDA.key, MOVED.key, replace(PANDA, actuators=(replace(PULL, forces=(-1, 1)),)).key})
        == 3
    )
    assert MOVED.with_limits(FIRST, effort=1.0).key != MOVED.key
    assert PANDA.with_limits(FIRST, effort=1.0).key == PANDA.key
    assert MOVED.with_payload(PANDA.link_names[-1], 1.0).actuators == (PULL,)


def test_a_locked_joint_adds_a_constant_to_the_length() -> None:
    """The constant is its position times its arm. An actuator of locked joints only is removed."""
    (left,) = MOVED.reduce(PANDA.joint_names[1:], at={FIRST: 0.4}).actuators
    assert left.arms == ((SECOND, -1.0),) and left.constant == 0.8
    assert not MOVED.reduce(PANDA.joint_names[2:]).actuators


def test_actuators_follow_renamed_attached_and_detached_joints() -> None:
    """An actuator of a detached joint is removed."""
    assert MOVED.rename(joints={FIRST: "turn"}).actuators[0].arms[0] == ("turn", 2.0)
    pair = MOVED.attach(MOVED, PANDA.link_names[-1], prefix="b_")
    assert [each.name for each in pair.actuators] == ["pull", "b_pull"]
    assert pair.actuators[1].arms[0] == ("b_" + FIRST, 2.0)
    assert not MOVED.detach(PANDA.joint(SECOND).child).actuators


def test_mimic_joints_have_their_own_actuator_entry() -> None:
    """The entry contains how the joint follows its leader."""
    model = by_name("mimic_branches").model
    follower = next(joint for joint in model.joints if joint.mimic)
    m = follower.mimic
    push = Actuator("push", ((follower.name, 3.0), (m.joint, 1.0)))
    tree = build_tree(replace(model, actuators=(push,)))
    start = model.coordinates[m.joint]
    first, second = tree.driven
    assert first[:4] == (start.v.start, start.q.start, m.multiplier, m.offset)
    assert second[:4] == (start.v.start, start.q.start, 1.0, 0.0)
    assert tree.actuators[0].arms == ((0, 3.0), (1, 1.0))
    assert np.isinf(tree.actuators[0].forces).all()
