"""A model as text."""

from __future__ import annotations

from hand_models import hand
from robots import Robot

from warpdyn.model.describe import tree


def test_summary_draws_the_tree() -> None:
    """A line for the robot and one for each link, below its parent, with coordinates, limits and masses."""
    lines = hand().summary().splitlines()
    assert lines[0] == "hand: 6 links, 3 moving joints, nq = 5, nv = 5, fixed base, 6.8 kg"
    assert lines[1:] == [
        "base  5 kg",
        "├─ (fixed) ─ eye  0.3 kg",
        "└─ wrist q[0] (revolute -1..2) ─ palm  1 kg",
        "   ├─ slide q[1:4] (planar) ─ puck  0.1 kg",
        "   ├─ finger q[4] (prismatic 0..0.04) ─ left  0.2 kg",
        "   └─ follower (mimics finger x 1 + 0) ─ right  0.2 kg",
    ]


def test_every_link_has_a_line_below_its_parents(robot: Robot) -> None:
    """One line for the robot, one a link; a joint's name and columns stand before the link it carries."""
    head, *lines = robot.model.summary().splitlines()
    assert head.startswith(f"{robot.model.name}: ") and len(lines) == robot.model.nlinks
    assert repr(robot.model) == f"<Model {head}>"
    for name in robot.model.joint_names:
        column = robot.model.coordinates[name].q.start
        assert any(f"{name} q[{column}" in line for line in lines)


def test_a_line_that_is_too_long_is_two() -> None:
    """The link comes below its joint, with the branch that goes on from it; limits are left out."""
    assert tree(hand(), 37) == [
        "base  5 kg",
        "├─ (fixed) ─ eye  0.3 kg",
        "└─ wrist q[0] (revolute) ─ palm  1 kg",
        "   ├─ slide q[1:4] (planar)",
        "   │     puck  0.1 kg",
        "   ├─ finger q[4] (prismatic)",
        "   │     left  0.2 kg",
        "   └─ follower (mimics finger)",
        "         right  0.2 kg",
    ]
    lines = tree(hand(), 36)
    assert lines[2:4] == ["└─ wrist q[0] (revolute)", "   │  palm  1 kg"]
