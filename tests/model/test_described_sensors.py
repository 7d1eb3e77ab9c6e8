"""Sensors as data: they follow their links and joints through every change of a model."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest
from robots import by_name

from warpdyn.model import Model
from warpdyn.model.described_sensors import DescribedSensor
from warpdyn.model.description import Link

PANDA = by_name("panda").model
ON_LINK = DescribedSensor("imu", "imu", link="panda_hand", said=(("update_rate", "100"),))
ON_JOINT = DescribedSensor("torque", "force_torque", joint="panda_joint2")
NOWHERE = DescribedSensor("time", "clock")
SEEING = replace(PANDA, sensors=(ON_LINK, ON_JOINT, NOWHERE), physics={"timestep": "0.002"})


def test_sensors_are_not_part_of_the_key() -> None:
    assert SEEING.key == PANDA.key


def test_sensors_follow_renamed_and_attached_links() -> None:
    renamed = SEEING.rename(links={"panda_hand": "palm"}, joints={"panda_joint2": "shoulder"})
    assert [(s.link, s.joint) for s in renamed.sensors] == [
        ("palm", None),
        (None, "shoulder"),
        (None, None),
    ]
    pair = SEEING.attach(SEEING, "panda_hand", prefix="b_")
    assert [s.name for s in pair.sensors] == [
        "imu",
        "torque",
        "time",
        "b_imu",
        "b_torque",
        "b_time",
    ]
    assert (pair.sensors[3].link, pair.sensors[4].joint) == ("b_panda_hand", "b_panda_joint2")


def test_sensors_of_detached_links_are_removed() -> None:
    left = SEEING.detach("panda_hand")
    assert left.sensors == (ON_JOINT, NOWHERE) and left.physics == {"timestep": "0.002"}
    assert SEEING.reduce(["panda_joint1"]).sensors == SEEING.sensors
    assert pickle.loads(pickle.dumps(SEEING)).sensors == SEEING.sensors


def test_settings_of_a_simulator_are_read_only() -> None:
    """A changed table would change a model that others may share."""
    model = Model.assemble("r", [Link("base")], [], physics={"timestep": "0.002"})
    with pytest.raises(TypeError, match="does not support item assignment"):
        model.physics["timestep"] = "0.1"  # type: ignore[index]
    copied = pickle.loads(pickle.dumps(model))
    assert copied == model and dict(copied.physics) == {"timestep": "0.002"}
    assert repr(copied.physics) == "{'timestep': '0.002'}"
