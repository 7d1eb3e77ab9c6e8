"""Actuators of a model: data that goes along with its joints."""

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


def test_another_actuator_is_another_model() -> None:
    """Kernels are found by a key that knows them, and the bounds of the joints that they push."""
    assert (
        len({PANDA.key, MOVED.key, replace(PANDA, actuators=(replace(PULL, forces=(-1, 1)),)).key})
        == 3
    )
    assert MOVED.with_limits(FIRST, effort=1.0).key != MOVED.key
    assert PANDA.with_limits(FIRST, effort=1.0).key == PANDA.key
    assert MOVED.with_payload(PANDA.link_names[-1], 1.0).actuators == (PULL,)


def test_what_is_held_counts_in_the_length() -> None:
    """A joint that is locked, at its position; an actuator of locked joints alone is gone."""
    (left,) = MOVED.reduce(PANDA.joint_names[1:], at={FIRST: 0.4}).actuators
    assert left.arms == ((SECOND, -1.0),) and left.constant == 0.8
    assert not MOVED.reduce(PANDA.joint_names[2:]).actuators


def test_names_go_with_them() -> None:
    """Renamed and attached; gone with a joint that is detached."""
    assert MOVED.rename(joints={FIRST: "turn"}).actuators[0].arms[0] == ("turn", 2.0)
    pair = MOVED.attach(MOVED, PANDA.link_names[-1], prefix="b_")
    assert [each.name for each in pair.actuators] == ["pull", "b_pull"]
    assert pair.actuators[1].arms[0] == ("b_" + FIRST, 2.0)
    assert not MOVED.detach(PANDA.joint(SECOND).child).actuators


def test_followers_are_pushed_by_themselves() -> None:
    """A joint that follows another has an entry of its own, with how it follows."""
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
