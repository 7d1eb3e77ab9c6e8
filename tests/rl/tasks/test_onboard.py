"""Tasks whose policy observes an IMU and encoders only."""

from __future__ import annotations

import pytest

rl = pytest.importorskip("warpdyn.rl")

from warpdyn.rl.environment_step import EnvironmentStep
from warpdyn.rl.tasks.onboard import ONBOARD_HISTORY, ONBOARD_SENSED, onboard_groups

ONBOARD = {
    "humanoid_stand": "humanoid_stand_onboard",
    "humanoid_velocity": "humanoid_velocity_onboard",
    "quadruped_rough": "quadruped_rough_onboard",
    "quadruped_velocity": "quadruped_velocity_onboard",
}
"""Tasks with onboard sensors, by the task that they change."""


@pytest.mark.parametrize("name", ONBOARD)
def test_an_onboard_policy_observes_sensors_only_and_its_critic_all(name: str) -> None:
    """The policy has five observations and lacks the velocity of the base.

    The rest of the task is the same.
    """
    task, whole = rl.make(ONBOARD[name]), rl.make(name)
    assert isinstance(task, type(whole)) and task.scales == whole.scales
    seen, known = (EnvironmentStep(x, 0).observation for x in (task, whole))
    terms = seen.entries["policy"]
    assert set(ONBOARD_SENSED) <= set(terms) and not {"velocity", "ground"} & set(terms)
    assert seen.shapes["policy"] == (5 * sum(terms.values()),)
    assert task.history == ONBOARD_HISTORY and set(task.sensed) == set(ONBOARD_SENSED)
    assert list(seen.entries["critic"]) == list(known.entries["policy"])


def test_only_the_critic_observes_hidden_terms() -> None:
    groups = onboard_groups("joints", "command", hidden=("velocity", "height"))
    assert groups["policy"] == ("joints", "command")
    assert groups["critic"] == ("velocity", "height", "joints", "command")
    assert onboard_groups("joints", hidden_last=("ground",))["critic"] == (
        "velocity",
        "joints",
        "ground",
    )
