"""Tendons as data: they follow their joints through every change of a model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from robots import by_name

import warpdyn as wd
from warpdyn.model.lumping import build_tree
from warpdyn.model.tendons import Tendon

PANDA = by_name("panda").model
FIRST, SECOND = PANDA.joint_names[:2]
ROPE = Tendon("rope", ((FIRST, 2.0), (SECOND, -1.0)), armature=0.3, spring=4.0, damping=0.2)
TIED = replace(PANDA, tendons=(ROPE,))


def test_tendons_are_part_of_the_key_and_survive_other_changes() -> None:
    """Models with different tendons have different kernels."""
    assert TIED.key != PANDA.key
    assert TIED.with_payload(PANDA.link_names[-1], 1.0).tendons == (ROPE,)
    assert TIED.with_springs("description").tendons[0].effects.spring == 4.0
    assert TIED.with_friction(viscous="description").tendons[0].effects.viscous == 0.2


def test_a_locked_joint_adds_a_constant_to_the_length() -> None:
    """M is the submatrix, and the forces there are the same."""
    model = TIED.with_springs("description")
    left = model.reduce(PANDA.joint_names[1:], at={FIRST: 0.4})
    (rope,) = left.tendons
    assert rope.coefficients == ((SECOND, -1.0),) and rope.constant == 0.8
    q = PANDA.neutral + 0.1
    q[0] = 0.4
    still = np.zeros(PANDA.nv)
    whole = wd.oracle(wd.rnea, model, q, still, still)
    assert np.allclose(wd.oracle(wd.rnea, left, q[1:], still[1:], still[1:]), whole[1:], atol=1e-12)
    M = wd.oracle(wd.crba, model, q)
    assert np.allclose(wd.oracle(wd.crba, left, q[1:]), M[1:, 1:], atol=1e-12)


def test_tendons_follow_renamed_attached_and_detached_joints() -> None:
    """A tendon of a detached joint is removed."""
    renamed = TIED.rename(joints={FIRST: "turn"})
    assert renamed.tendons[0].coefficients[0] == ("turn", 2.0)
    pair = TIED.attach(TIED, PANDA.link_names[-1], prefix="b_")
    assert [tendon.name for tendon in pair.tendons] == ["rope", "b_rope"]
    assert pair.tendons[1].coefficients[0] == ("b_" + FIRST, 2.0)
    assert not TIED.detach(PANDA.joint(SECOND).child).tendons


def test_mimic_joints_count_as_their_leaders() -> None:
    """Their multiplier counts, and their offset is part of the length."""
    model = by_name("mimic_branches").model
    follower = next(joint for joint in model.joints if joint.mimic)
    leader, m = follower.mimic.joint, follower.mimic
    rope = Tendon("rope", ((follower.name, 3.0), (leader, 1.0)), constant=0.5)
    (cable,) = build_tree(replace(model, tendons=(rope,))).cables
    start = model.coordinates[leader]
    assert cable.columns == ((start.v.start, start.q.start, 3.0 * m.multiplier + 1.0),)
    assert cable.constant == 0.5 + 3.0 * m.offset
