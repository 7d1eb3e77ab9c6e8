"""Publishers of a topic, in refusals and in the diagnostics."""

from __future__ import annotations

from ros2_node.control.safety.topic_publishers import TopicPublishers, refusal, report

ALONE = TopicPublishers("joint_states", "/joint_states", 1)
NOBODY = TopicPublishers("odom", "/odom", 0)
TWO = TopicPublishers("commands", "/effort/commands", 2, ("/other", "/warpdyn"))


def test_at_most_one_publisher_gives_no_refusal():
    assert refusal([ALONE, NOBODY]) == ""
    assert report([ALONE, NOBODY]) == {"publishers of joint_states": "1", "publishers of odom": "0"}


def test_several_publishers_are_named_with_the_remedy():
    said = refusal([ALONE, TWO])
    assert said.startswith("/effort/commands has 2 publishers (/other, /warpdyn): end those")
    assert "allow_several_publishers" in said and "/joint_states" not in said
    assert report([TWO]) == {"publishers of commands": "2 (/other, /warpdyn)"}
