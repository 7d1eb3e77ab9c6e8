"""Events that blend the commands, and the time between them."""

from __future__ import annotations

from ros2_node.control.blend_spacing import FLOAT_TIME, BlendSpacing


def test_one_blend_in_the_time_of_a_blend():
    """The time counts from the last event that blended, not from the last event."""
    spacing, step = BlendSpacing(), FLOAT_TIME / 4
    assert [spacing.may_blend(step * k) for k in range(9)] == [k % 4 == 0 for k in range(9)]


def test_an_event_before_the_last_blend_may_blend():
    """The steady clock of a robot that is enabled again may be another one."""
    spacing = BlendSpacing()
    assert spacing.may_blend(5.0) and spacing.may_blend(1.0)
    assert not spacing.may_blend(1.0) and spacing.may_blend(1.0 + FLOAT_TIME)
