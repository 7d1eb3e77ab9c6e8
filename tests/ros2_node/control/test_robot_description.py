"""Which model the parameters and the topic describe."""

from __future__ import annotations

import pytest
from fleets import MODEL, wheel_text

from ros2_node.control.robot_description import load_model
from ros2_node.control.settings import Settings


def test_text_wins_over_file_and_file_over_topic(tmp_path):
    """robot_description, then robot_description_file, then the topic."""
    file = tmp_path / "other.urdf"
    file.write_text(wheel_text().replace('"wheel"', '"from_file"'))
    text, topic = wheel_text(), wheel_text().replace('"wheel"', '"from_topic"')
    both = {"robot_description": text, "robot_description_file": str(file)}
    assert load_model(Settings.of(both), topic).name == "wheel"
    assert load_model(Settings.of({"robot_description_file": str(file)}), topic).name == "from_file"
    assert load_model(Settings.of(), topic).name == "from_topic"


def test_a_bundled_robot_stands_on_a_fixed_base():
    model = load_model(Settings.of({"robot_description_file": "panda"}))
    assert model.name == "panda" and model.joint_names == MODEL.joint_names


def test_the_payload_is_not_part_of_the_model():
    """It is numbers beside it, so that another load needs no other model."""
    values = {"robot_description_file": "panda", "payload.mass": 2.0, "payload.link": "panda_hand"}
    assert load_model(Settings.of(values)).total_mass == MODEL.total_mass


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "is empty"),
        ("  \n", "is empty"),
        ("hello", "begins with 'hello': send the text of a URDF file"),
        (wheel_text("fixed"), "wheel has no moving joint"),
    ],
)
def test_what_cannot_be_used_says_why(text, said):
    with pytest.raises(ValueError, match=said):
        load_model(Settings.of(), text)
