"""A leading and a following arm, both simulated, over DDS."""

from __future__ import annotations

from harness import ForkedChild

from ros2_node.demo.teleoperating import teleoperate


def test_the_follower_follows_the_leader(monkeypatch):
    """The test takes 1.2 simulated seconds. The simulations wait for their nodes, so load has no
    effect."""
    monkeypatch.setattr("ros2_node.demo.teleoperating.Child", ForkedChild)
    patient = {"state_timeout": 10.0, "reference_timeout": 0.0}
    led = teleoperate(1.2, feedback=10.0, parameters=patient)
    assert led.swing > 0.1, "the hand led a joint by more than 5 degrees"
    assert led.error < 0.1
