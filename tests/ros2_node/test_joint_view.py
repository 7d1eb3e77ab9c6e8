"""The node that shows a robot in the browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from nav_msgs.msg import Odometry
from rclpy.executors import ExternalShutdownException
from rclpy.parameter import Parameter as RosParameter
from sensor_msgs.msg import JointState
from std_msgs.msg import String

import warpdyn as wd
from ros2_node import joint_view
from ros2_node.control.states.base_state import BaseState
from ros2_node.demo.named_robot import urdf_text
from ros2_node.joint_view import RobotOnPage, ViewNode
from ros2_node.ros.process import BAD_START
from warpdyn import viewer

MODEL = wd.load_robot("double_pendulum")


@pytest.fixture
def node(context: Any, request: pytest.FixtureRequest) -> Iterator[ViewNode]:
    """The node with the parameters of a test, at any free port."""
    values = {"port": 0, **request.param}
    overrides = [RosParameter(name, value=x) for name, x in values.items()]
    made = ViewNode(context=context, parameter_overrides=overrides)
    yield made
    made.page.stop()
    made.destroy_node()


def drawn_configuration(node: ViewNode) -> np.ndarray:
    return node.page.robots["robot"].q[0]


@pytest.mark.parametrize("node", [{}], indirect=True)
def test_a_described_robot_follows_states_until_the_next_description(node: ViewNode) -> None:
    """A bad description changes nothing. A joint that a message leaves out does not move."""
    node._on_state(JointState(name=["elbow"], position=[0.1]))
    assert node.robot is None
    node._on_description(String(data=urdf_text("double_pendulum")))
    node._on_state(JointState(name=["elbow"], position=[0.7]))
    node._on_state(JointState(name=["shoulder"], position=[-0.2]))
    node._show()
    assert np.allclose(drawn_configuration(node), [-0.2, 0.7])
    first = node.robot
    node._on_description(String(data="<robot name='broken'/>"))
    assert node.robot is first
    node._on_description(String(data=urdf_text("double_pendulum").replace("elbow", "knee")))
    node._on_state(JointState(name=["knee"], position=[0.4]))
    node._show()
    assert np.allclose(drawn_configuration(node), [0.0, 0.4])
    texts = [x.text for x in node.robot.overlays._handles["gravity torques"][1:]]
    node._show_torques()
    moved = [x.text for x in node.robot.overlays._handles["gravity torques"][1:]]
    wanted = np.asarray(wd.gravity_torques(MODEL, drawn_configuration(node)[None].astype(float)))[0]
    assert np.allclose([float(x) for x in moved], wanted, rtol=6e-3) and moved != texts


@pytest.mark.parametrize(
    "node", [{"robot": "double_pendulum", "floating_base": True, "torques": False}], indirect=True
)
def test_a_free_base_follows_odometry(node: ViewNode) -> None:
    """Odometry of another frame is ignored."""
    message = Odometry(child_frame_id=MODEL.root)
    place = message.pose.pose
    place.position.x, place.position.z = 1.5, 0.25
    place.orientation.z = place.orientation.w = np.sqrt(0.5)
    node._on_odometry(message)
    node._on_state(JointState(name=["elbow"], position=[0.7]))
    node._show()
    assert np.allclose(
        drawn_configuration(node)[:7], [1.5, 0, 0.25, 0, 0, np.sqrt(0.5), np.sqrt(0.5)]
    )
    assert drawn_configuration(node)[-1] == pytest.approx(0.7)
    place.position.x, message.child_frame_id = 9.0, "camera"
    node._on_odometry(message)
    node._show()
    assert drawn_configuration(node)[0] == 1.5
    assert node.robot is not None and not node.robot.overlays._handles


FREE = {"robot": "double_pendulum", "port": 0}


def of_parameters(context: Any, **values: Any) -> ViewNode:
    overrides = [RosParameter(name, value=x) for name, x in {**FREE, **values}.items()]
    return ViewNode(context=context, parameter_overrides=overrides)


def test_a_recording_plays_and_no_topic_moves_the_robot(
    context: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log has the page's remarks and its address."""
    file = tmp_path / "swing.csv"
    file.write_text("time,shoulder,elbow\n0,0,0.1\n0.5,1,0.2\n2,3,0.4\n")
    lines: list[str] = []
    logger = SimpleNamespace(info=lines.append)
    monkeypatch.setattr(ViewNode, "get_logger", lambda self: logger)
    monkeypatch.setattr(viewer.Viewer, "remarks", ["a mesh is missing"])
    node = of_parameters(context, bag=str(file), topic="/arm")
    motion = node.page.player.motion
    np.testing.assert_allclose(motion.q[:, 0], [[0.0, 0.1], [1.0, 0.2], [3.0, 0.4]])
    np.testing.assert_allclose(motion.times, [0.0, 0.5, 2.0])
    assert lines == [
        f"{file}: 2 s of /arm",
        "a mesh is missing",
        f"double_pendulum at {node.page.address}; Ctrl-C ends it",
    ]
    topics = {subscription.topic_name for subscription in node.subscriptions}
    assert not topics & {"/joint_states", "/odom", "/robot_description"}
    assert len(list(node.timers)) == 1, "torques alone"
    node.page.stop()
    node.destroy_node()


def test_only_needed_topics_and_timers_are_created(context: Any) -> None:
    """A robot from a file needs no description. The page is drawn `rate` times a second, torques
    ten times."""
    for values, described, periods in (
        ({"rate": 50.0}, False, [0.02, 0.1]),
        ({"rate": 50.0, "torques": False}, False, [0.02]),
        ({"robot": "", "rate": 25.0}, True, [0.04, 0.1]),
    ):
        node = of_parameters(context, **values)
        topics = {subscription.topic_name for subscription in node.subscriptions}
        assert {"/joint_states", "/odom"} <= topics
        assert ("/robot_description" in topics) == described and (node.robot is None) == described
        assert sorted(timer.timer_period_ns * 1e-9 for timer in node.timers) == pytest.approx(
            periods
        )
        node.page.stop()
        node.destroy_node()


def test_an_unknown_robot_leaves_no_page(context: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped: list[bool] = []
    stop = viewer.Viewer.stop
    monkeypatch.setattr(viewer.Viewer, "stop", lambda self: stopped.append(True) or stop(self))
    for floating in (False, True):
        with pytest.raises(ValueError, match="nonsense: there is no such file"):
            of_parameters(context, robot="nonsense", floating_base=floating)
        assert stopped.pop() and not stopped


def test_a_floating_base_robot_may_come_from_a_file_or_a_description(
    context: Any, tmp_path: Path
) -> None:
    file = tmp_path / "free.urdf"
    file.write_text(urdf_text("double_pendulum").replace("elbow", "knee"))
    node = of_parameters(context, robot=str(file), floating_base=True, torques=False)
    assert node.robot is not None and node.robot.model.joint_names == ("shoulder", "knee")
    assert node.robot.model.floating_base and node.robot.base is not None
    described = node._model("", urdf_text("double_pendulum"))
    assert described.floating_base and described.joint_names == ("shoulder", "elbow")
    node.page.stop()
    node.destroy_node()


@pytest.mark.parametrize("node", [{"torques": False}], indirect=True)
def test_messages_are_drawn_once_and_errors_are_logged(
    node: ViewNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same description again changes nothing. Odometry before a description, or of a fixed
    base, is ignored."""
    lines: list[str] = []
    say = lambda text, **options: lines.append(text)  # noqa: E731
    logger = SimpleNamespace(info=say, warning=say, error=say)
    monkeypatch.setattr(node, "get_logger", lambda: logger)
    node._show()
    node._show_torques()
    node._on_odometry(Odometry())
    text = String(data=urdf_text("double_pendulum"))
    node._on_description(text)
    first, updates = node.robot, []
    node._on_description(text)
    node._on_odometry(Odometry())
    assert node.robot is first and len(lines) == 1 and first is not None
    monkeypatch.setattr(first, "show", lambda: updates.append(True))
    for _ in range(2):
        node._show()
    assert updates == [True]
    node._on_state(JointState(name=["nose"], position=[1.0]))
    node._show()
    assert updates == [True] and lines[1:] == ["not shown: no_known_joint"]
    node._on_state(JointState(name=["elbow"], position=[1.0]))
    node._show()
    assert updates == [True, True]
    node._on_description(String(data="hello"))
    assert lines[-1].startswith("robot_description begins with 'hello'") and node.robot is first


def test_quaternions_are_in_the_models_order() -> None:
    """Odometry has w last."""
    shown: list[np.ndarray] = []
    for order, columns in (("xyzw", [3, 4, 5, 6]), ("wxyz", [4, 5, 6, 3])):
        model = wd.load_robot("double_pendulum", floating_base=True, quaternion=order)
        robot = RobotOnPage.__new__(RobotOnPage)
        robot.model, robot.page = model, SimpleNamespace(update=shown.append)  # type: ignore[assignment]
        robot.states = SimpleNamespace(q=np.zeros(model.nq))  # type: ignore[assignment]
        robot.base = BaseState(model.root)
        robot.show()
        np.testing.assert_array_equal(shown.pop(), np.zeros(model.nq))
        robot.base.place[:], robot.base.arrived = [1.0, 2.0, 3.0, 0.1, 0.2, 0.3, 0.9], 5.0
        robot.show()
        q = shown.pop()
        np.testing.assert_array_equal(q[:3], [1.0, 2.0, 3.0])
        np.testing.assert_array_equal(q[columns], [0.1, 0.2, 0.3, 0.9])


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Calls that would affect the process and rclpy."""
    calls: list[str] = []
    monkeypatch.setattr(joint_view, "tolerate_lost_output", lambda: calls.append("output"))
    monkeypatch.setattr(joint_view, "ending_signals", lambda: lambda: calls.count("spun") == 2)
    stand_in = SimpleNamespace(
        init=lambda args, signal_handler_options: calls.append(f"init {args}"),
        spin_once=lambda node, timeout_sec: calls.append("spun"),
        try_shutdown=lambda: calls.append("shutdown"),
    )
    monkeypatch.setattr(joint_view, "rclpy", stand_in)
    return calls


def test_the_process_shows_the_robot_until_a_signal(
    process: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page and the node are then closed. A robot that cannot be shown gives an exit code."""
    page = SimpleNamespace(stop=lambda: process.append("stopped"))
    made: list[Any] = [SimpleNamespace(page=page, destroy_node=lambda: process.append("destroyed"))]
    asked: list[Any] = []
    monkeypatch.setattr(joint_view, "make_node", lambda *given: asked.append(given) or made[0])
    assert joint_view.main(["a"]) == 0
    ends = ["stopped", "destroyed", "shutdown"]
    assert process == ["output", "init ['a']", "spun", "spun", *ends]
    assert asked == [(ViewNode, "warpdyn_view", (ValueError, OSError))]
    process.clear()

    def shut_down(node: Any, timeout_sec: float) -> None:
        raise ExternalShutdownException

    monkeypatch.setattr(joint_view.rclpy, "spin_once", shut_down)
    assert joint_view.main() == 0 and process == ["output", "init None", *ends]
    process.clear()
    made[0] = None
    assert joint_view.main() == BAD_START == 2 and process == ["output", "init None", "shutdown"]
