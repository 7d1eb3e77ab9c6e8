"""The model that the parameters or the topic describe."""

from __future__ import annotations

import os
import threading
import time

import pytest
from fleets import MODEL, wheel_text

from ros2_node.control import robot_description
from ros2_node.control.fleet import LARGEST_TEXT
from ros2_node.control.robot_description import load_model
from ros2_node.control.settings.node_settings import Settings


def test_the_text_overrides_the_file_and_the_file_the_topic(tmp_path):
    """The order is robot_description, robot_description_file, the topic."""
    file = tmp_path / "other.urdf"
    file.write_text(wheel_text().replace('"wheel"', '"from_file"'))
    text, topic = wheel_text(), wheel_text().replace('"wheel"', '"from_topic"')
    both = {"robot_description": text, "robot_description_file": str(file)}
    assert load_model(Settings.of(both), topic).name == "wheel"
    assert load_model(Settings.of({"robot_description_file": str(file)}), topic).name == "from_file"
    assert load_model(Settings.of(), topic).name == "from_topic"


def test_a_bundled_robot_has_a_fixed_base():
    model = load_model(Settings.of({"robot_description_file": "panda"}))
    assert model.name == "panda" and model.joint_names == MODEL.joint_names
    legged = load_model(Settings.of({"robot_description_file": "quadruped"}))
    assert not model.floating_base and not legged.floating_base


def test_the_payload_is_not_part_of_the_model():
    """The payload is separate, so that another load needs no other model."""
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
def test_an_unusable_description_is_refused_with_the_reason(text, said):
    with pytest.raises(ValueError, match=said):
        load_model(Settings.of(), text)


def of_file(path):
    return load_model(Settings.of({"robot_description_file": str(path)}))


def test_a_pipe_or_a_device_is_refused_at_once(tmp_path):
    """Nothing is read from /dev/zero, and a FIFO is not opened."""
    os.mkfifo(tmp_path / "pipe.urdf")
    begun = time.monotonic()
    for path in ("/dev/zero", tmp_path / "pipe.urdf"):
        with pytest.raises(ValueError, match="is a pipe, a socket or a device; give the path"):
            of_file(path)
    with pytest.raises(ValueError, match="is a directory; give the path of a URDF file"):
        of_file(tmp_path)
    assert time.monotonic() - begun < robot_description.READING_TIME


def test_a_missing_file_is_named_with_the_bundled_robots(tmp_path):
    with pytest.raises(ValueError, match=r"nonsense: there is no such file; .* panda"):
        of_file("nonsense")
    for name, why in (("a\0b", "embedded null byte"), ("x" * 300, "File name too long")):
        with pytest.raises(ValueError, match=rf"cannot be read \({why}\)"):
            of_file(name)


def test_a_description_has_a_largest_size(tmp_path, monkeypatch):
    """A file, a parameter and the topic have the same limit. A text of just this size is read."""
    text = wheel_text()
    monkeypatch.setattr(robot_description, "LARGEST", len(text))
    file = tmp_path / "wheel.urdf"
    file.write_text(text)
    for model in (
        of_file(file),
        load_model(Settings.of({"robot_description": text})),
        load_model(Settings.of(), text),
    ):
        assert model.name == "wheel"
    file.write_text(text + " ")
    for load in (
        lambda: of_file(file),
        lambda: load_model(Settings.of({"robot_description": text + " "})),
        lambda: load_model(Settings.of(), text + " "),
    ):
        with pytest.raises(
            ValueError, match=r"has \d+ bytes, more than the \d+ bytes that are read"
        ):
            load()


def test_a_read_that_does_not_end_is_abandoned(monkeypatch):
    """The builder is free again after READING_TIME."""
    answer = threading.Event()
    monkeypatch.setattr(robot_description, "READING_TIME", 0.05)
    monkeypatch.setattr(robot_description, "read_description", lambda file: answer.wait(60.0))
    with pytest.raises(ValueError, match=r"robot.urdf: reading it took more than 0\.05 s"):
        of_file("robot.urdf")
    answer.set()


def test_a_xacro_file_is_expanded(tmp_path):
    """The suffix decides. A file that xacro cannot expand is refused with its name."""
    file = tmp_path / "wheel.urdf.xacro"
    text = wheel_text().replace('<robot name="wheel">', HEAD).replace('"spin"', '"${joint}"')
    file.write_text(text)
    assert of_file(file).joint_names == ("turn",)
    file.write_text(text.replace("${joint}", "${nobody}"))
    with pytest.raises(ValueError, match=r"wheel.urdf.xacro: xacro cannot expand it"):
        of_file(file)


HEAD = (
    '<robot name="wheel" xmlns:xacro="http://www.ros.org/wiki/xacro">'
    '<xacro:property name="joint" value="turn"/>'
)


def test_a_urdf_file_is_not_expanded(tmp_path):
    """Its names are not changed, also where xacro would read them as expressions."""
    file = tmp_path / "wheel.urdf"
    file.write_text(wheel_text().replace('"spin"', '"${1 + 1}"'))
    assert of_file(file).joint_names == ("${1 + 1}",)


def test_the_limits_have_the_documented_values():
    """They are 16 MiB and 10 s. The refusal of a text that is no description quotes its first forty
    characters."""
    assert robot_description.LARGEST == LARGEST_TEXT == 16 * 2**20
    assert robot_description.READING_TIME == 10.0
    with pytest.raises(ValueError) as error:
        load_model(Settings.of(), f"  {'x' * 41}  ")
    assert str(error.value) == (
        f"robot_description begins with '{'x' * 40}': send the text of a URDF file"
    )
