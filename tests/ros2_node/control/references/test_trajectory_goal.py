"""Goals of trajectories: their end, and the joints of their tolerances."""

from __future__ import annotations

import pytest

from ros2_node.control.references.trajectory_goal import (
    TrajectoryEnd,
    TrajectoryGoal,
    TrajectoryRefusedError,
)


def test_the_first_end_counts():
    goal = TrajectoryGoal()
    assert goal.end is None
    goal.finish(TrajectoryEnd.REPLACED, "replaced")
    goal.finish(TrajectoryEnd.STOPPED, "stopped")
    assert (goal.end, goal.text) == (TrajectoryEnd.REPLACED, "replaced")


@pytest.mark.parametrize("kind", ["", "_velocity"])
@pytest.mark.parametrize("which", ["path", "goal"])
def test_a_tolerance_is_for_a_joint_of_the_trajectory(which, kind):
    goal = TrajectoryGoal(**{which + kind: {"elbow": 0.1}})
    goal.check(["shoulder", "elbow"])
    with pytest.raises(TrajectoryRefusedError, match=f"{which}_tolerance is for elbow") as caught:
        goal.check(["shoulder"])
    assert caught.value.end is TrajectoryEnd.INVALID_JOINTS
