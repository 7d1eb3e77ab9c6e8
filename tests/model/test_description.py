"""Records of a description: inertia of links, chains of mimic joints, clamped positions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hand_models import ROUND_OFF, TURN, hand, homogeneous
from robots import Robot

from warpdyn.model.description import Joint, Link, fixed_joint, leading_joint
from warpdyn.model.joints import KINDS
from warpdyn.model.poses_and_limits import Limits


def test_link_inertia_converts_to_algebra() -> None:
    """`symmetric` has the rows of `inertia`. About the origin the inertia is larger by m (c.c 1 - c
    c^T)."""
    rows = ((0.3, 0.01, 0.02), (0.01, 0.4, 0.03), (0.02, 0.03, 0.5))
    link = Link("a", 2.0, (0.1, 0.2, 0.3), rows)
    assert tuple(tuple(row) for row in link.symmetric.rows) == rows
    c = np.array(link.com)
    wanted = np.array(rows) + 2.0 * (c @ c * np.eye(3) - np.outer(c, c))
    assert np.allclose(
        [list(row) for row in link.spatial_inertia.J.rows], wanted, rtol=ROUND_OFF, atol=0
    )


def test_leading_joint_composes_chains_of_mimic_joints(robot: Robot) -> None:
    """An independent joint is its own leader."""
    by_name = {joint.name: joint for joint in robot.model.joints}
    for joint in robot.model.joints:
        leader, multiplier, offset = leading_joint(joint, by_name)
        assert by_name[leader].mimic is None
        if joint.mimic is None:
            assert (leader, multiplier, offset) == (joint.name, 1.0, 0.0)
        else:
            _, inner, start = leading_joint(by_name[joint.mimic.joint], by_name)
            assert multiplier == joint.mimic.multiplier * inner
            wanted = joint.mimic.multiplier * start + joint.mimic.offset
            assert offset == pytest.approx(wanted, abs=ROUND_OFF)


def test_a_fixed_joint_has_no_coordinates_and_a_pose() -> None:
    """The pose may be any of the accepted kinds."""
    joint = fixed_joint("j", "a", "b", homogeneous(TURN))
    assert not joint.kind.nv and joint.pose == TURN and not joint.is_bounded
    assert hand().joint("wrist").is_bounded and not hand().joint("slide").is_bounded
    assert replace(hand().joint("wrist"), limits=Limits()).is_bounded is False


@pytest.mark.parametrize("library", [float, np.array, pytest.param("torch"), pytest.param("jax")])
def test_a_joint_clamps_its_position(library: object) -> None:
    """The position may be a number, or an array of any library that has clip. Without limits it
    does not change."""
    if isinstance(library, str):
        module = pytest.importorskip("torch" if library == "torch" else "jax.numpy")
        library = module.tensor if library == "torch" else module.array
    joint = Joint("j", KINDS["revolute"], "a", "b", limits=Limits(-1.0, 2.0))
    for position, kept in ((-3.0, -1.0), (0.5, 0.5), (9.0, 2.0)):
        assert float(joint.clamp(library(position))) == kept  # type: ignore[operator]
    free = Joint("j", KINDS["continuous"], "a", "b")
    assert float(free.clamp(library(1e3))) == 1e3  # type: ignore[operator]
    with pytest.raises(ValueError, match=r'joint "p" \(planar\) has 3 coordinates; clamp a whole'):
        Joint("p", KINDS["planar"], "a", "b").clamp(0.0)
