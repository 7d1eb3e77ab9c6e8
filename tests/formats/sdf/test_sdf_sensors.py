"""SDF: sensors and physics as data."""

from __future__ import annotations

import numpy as np
import pytest
from sdf_texts import link, load, model, robot, sdf, world

import warpdyn as wd
from warpdyn.model.names import ModelWarning

CAMERA = """
<sensor name="eye" type="camera"><pose relative_to="spot">0 0 0.1 0 0 0</pose><update_rate>30</update_rate>
<camera name="left"><horizontal_fov> 1.05 </horizontal_fov><image><width>640</width></image></camera></sensor>"""
FORCE = '<sensor name="wrist" type="force_torque"><force_torque><frame>child</frame></force_torque></sensor>'
ROBOT = (
    link("a", inside=CAMERA)
    + link("b", pose="0 0 1 0 0 0")
    + '<frame name="spot" attached_to="a"><pose>1 2 3 0 0 0</pose></frame>'
    + f'<joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz></axis>{FORCE}</joint>'
)
PHYSICS = """<gravity>0 0 -9.81</gravity><physics name="slow" type="dart"><max_step_size>0.01</max_step_size></physics>
<physics name="fast" default="true" type="ode"><max_step_size>0.001</max_step_size>
<ode><solver><iters>50</iters></solver></ode></physics>"""


def test_sensors_are_read_with_their_link_or_joint() -> None:
    """Poses are converted to the link's frame. Other values are stored by path."""
    loaded = load(robot(ROBOT))
    eye, wrist = loaded.sensors
    assert (eye.name, eye.kind, eye.link, eye.joint) == ("eye", "camera", "a", None)
    np.testing.assert_allclose(eye.pose.position, (1, 2, 3.1))
    assert dict(eye.said) == {
        "update_rate": "30",
        "camera/@name": "left",
        "camera/horizontal_fov": "1.05",
        "camera/image/width": "640",
    }
    assert (wrist.name, wrist.kind, wrist.link, wrist.joint) == ("wrist", "force_torque", None, "j")
    assert dict(wrist.said) == {"force_torque/frame": "child"}
    assert not loaded.physics


def test_links_of_sensors_have_the_names_of_the_loaded_model() -> None:
    """This is checked with several models in a world."""
    text = sdf(world(model(ROBOT, name="one"), model(ROBOT, name="two")))
    loaded = load(text, model="world")
    assert [s.link or s.joint for s in loaded.sensors] == ["one::a", "one::j", "two::a", "two::j"]
    for sensor in loaded.sensors:
        assert loaded.link(sensor.link) if sensor.link else loaded.joint(sensor.joint)


def test_physics_is_the_worlds_default_or_first_profile() -> None:
    """It includes the world's gravity."""
    said = load(sdf(world(PHYSICS, model(ROBOT)))).physics
    assert said == {
        "name": "fast",
        "default": "true",
        "type": "ode",
        "max_step_size": "0.001",
        "ode/solver/iters": "50",
        "gravity": "0 0 -9.81",
    }
    first = load(sdf(world(PHYSICS.replace('default="true"', ""), model(ROBOT)))).physics
    assert first["name"] == "slow"


def test_an_invalid_sensor_is_left_out() -> None:
    """There is a remark and no error, because no motion depends on it."""
    with pytest.warns(ModelWarning, match="this sensor is left out"):
        loaded = wd.load(robot(ROBOT.replace('relative_to="spot"', 'relative_to="nowhere"')))
    assert [s.name for s in loaded.sensors] == ["wrist"]
