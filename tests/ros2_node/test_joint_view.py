"""The node that shows a robot in the browser: which robot, and where."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from nav_msgs.msg import Odometry
from rclpy.parameter import Parameter as RosParameter
from sensor_msgs.msg import JointState
from std_msgs.msg import String

import warpdyn as wd
from ros2_node.demo.named_robot import urdf_text
from ros2_node.joint_view import ViewNode

MODEL = wd.load_robot("double_pendulum")


@pytest.fixture
def node(context: Any, request: pytest.FixtureRequest) -> Iterator[ViewNode]:
    """With the parameters of a test, at any free port."""
    values = {"port": 0, **request.param}
    overrides = [RosParameter(name, value=x) for name, x in values.items()]
    made = ViewNode(context=context, parameter_overrides=overrides)
    yield made
    made.page.stop()
    made.destroy_node()


def drawn(node: ViewNode) -> np.ndarray:
    return node.page.robots["robot"].q[0]


@pytest.mark.parametrize("node", [{}], indirect=True)
def test_a_described_robot_follows_and_gives_way_to_the_next(node: ViewNode) -> None:
    """A bad description changes nothing; a joint that a message leaves out stays."""
    node._on_state(JointState(name=["elbow"], position=[0.1]))
    assert node.robot is None
    node._on_description(String(data=urdf_text("double_pendulum")))
    node._on_state(JointState(name=["elbow"], position=[0.7]))
    node._on_state(JointState(name=["shoulder"], position=[-0.2]))
    node._show()
    assert np.allclose(drawn(node), [-0.2, 0.7])
    first = node.robot
    node._on_description(String(data="<robot name='broken'/>"))
    assert node.robot is first
    node._on_description(String(data=urdf_text("double_pendulum").replace("elbow", "knee")))
    node._on_state(JointState(name=["knee"], position=[0.4]))
    node._show()
    assert np.allclose(drawn(node), [0.0, 0.4])
    texts = [x.text for x in node.robot.overlays._handles["gravity torques"][1:]]
    node._show_torques()
    moved = [x.text for x in node.robot.overlays._handles["gravity torques"][1:]]
    wanted = np.asarray(wd.gravity_torques(MODEL, drawn(node)[None].astype(float)))[0]
    assert np.allclose([float(x) for x in moved], wanted, rtol=6e-3) and moved != texts


@pytest.mark.parametrize(
    "node", [{"robot": "double_pendulum", "floating_base": True, "torques": False}], indirect=True
)
def test_a_free_base_is_where_odometry_says(node: ViewNode) -> None:
    """And not where a frame of another name is."""
    message = Odometry(child_frame_id=MODEL.root)
    place = message.pose.pose
    place.position.x, place.position.z = 1.5, 0.25
    place.orientation.z = place.orientation.w = np.sqrt(0.5)
    node._on_odometry(message)
    node._on_state(JointState(name=["elbow"], position=[0.7]))
    node._show()
    assert np.allclose(drawn(node)[:7], [1.5, 0, 0.25, 0, 0, np.sqrt(0.5), np.sqrt(0.5)])
    assert drawn(node)[-1] == pytest.approx(0.7)
    place.position.x, message.child_frame_id = 9.0, "camera"
    node._on_odometry(message)
    node._show()
    assert drawn(node)[0] == 1.5
    assert node.robot is not None and not node.robot.overlays._handles
