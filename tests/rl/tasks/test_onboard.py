"""Tasks whose policy has an IMU and encoders alone."""

from __future__ import annotations

import pytest

rl = pytest.importorskip("warpdyn.rl")

from warpdyn.rl.environment_step import EnvironmentStep
from warpdyn.rl.tasks.onboard import ONBOARD_HISTORY, ONBOARD_SENSED, onboard_groups

ONBOARD = {
    "humanoid_stand": "humanoid_stand_onboard",
    "humanoid_velocity": "humanoid_velocity_onboard",
    "quadruped_rough": "warpdyn.rl.tasks.rough_tasks:QuadrupedRoughOnboard",
    "quadruped_velocity": "quadruped_velocity_onboard",
}
"""Tasks with onboard sensors, by the task that they change."""


@pytest.mark.parametrize("name", ONBOARD)
def test_a_policy_observes_what_sensors_measure_and_its_critic_all(name: str) -> None:
    """Five observations without the velocity of the base; the rest is the task that they change."""
    task, whole = rl.make(ONBOARD[name]), rl.make(name)
    assert isinstance(task, type(whole)) and task.scales == whole.scales
    seen, known = (EnvironmentStep(x, 0).observation for x in (task, whole))
    terms = seen.entries["policy"]
    assert set(ONBOARD_SENSED) <= set(terms) and not {"velocity", "ground"} & set(terms)
    assert seen.shapes["policy"] == (5 * sum(terms.values()),)
    assert task.history == ONBOARD_HISTORY and set(task.sensed) == set(ONBOARD_SENSED)
    assert list(seen.entries["critic"]) == list(known.entries["policy"])


def test_hidden_terms_are_the_critics() -> None:
    groups = onboard_groups("joints", "command", hidden=("velocity", "height"))
    assert groups["policy"] == ("joints", "command")
    assert groups["critic"] == ("velocity", "height", "joints", "command")
    assert onboard_groups("joints", hidden_last=("ground",))["critic"] == (
        "velocity",
        "joints",
        "ground",
    )
