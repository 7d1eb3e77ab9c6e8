"""Kinds of faults in FollowJointTrajectory goals: their contents, their times, and the ends of clients."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointComponentTolerance, JointTolerance
from trajectory_msgs.msg import JointTrajectory, MultiDOFJointTrajectoryPoint

from .arm import ARM, Q
from .fault_messages import REST, STEP, Kind, Send, waypoint

if TYPE_CHECKING:
    from .faults import Campaign

NAN, INF = float("nan"), float("inf")
ACTION = "warpdyn/follow_joint_trajectory"
CLIENT = """
import sys, rclpy
from rclpy.action import ActionClient
from control_msgs.action import FollowJointTrajectory
from trajectory_msgs.msg import JointTrajectoryPoint
rclpy.init()
node = rclpy.create_node("goals")
client = ActionClient(node, FollowJointTrajectory, sys.argv[1])
client.wait_for_server()
goal = FollowJointTrajectory.Goal()
goal.trajectory.joint_names = sys.argv[2].split(",")
q = [float(x) for x in sys.argv[3].split(",")]
point = JointTrajectoryPoint(positions=q, velocities=[0.0] * len(q))
point.time_from_start.sec = 5
goal.trajectory.points = [point]
client.send_goal_async(goal)
print("sent", flush=True)
rclpy.spin(node)
"""
"""A client in a process of its own, with a goal of five seconds."""


def goal(
    *points: Any, names: Sequence[str] = ARM, seconds: int | None = None, **fields: Any
) -> FollowJointTrajectory.Goal:
    """A goal. seconds: the stamp of its trajectory."""
    trajectory = JointTrajectory(joint_names=list(names), points=list(points))
    if seconds is not None:
        trajectory.header.stamp.sec = seconds
    return FollowJointTrajectory.Goal(trajectory=trajectory, **fields)


def _and_back(time: float = 0.2, **fields: Any) -> FollowJointTrajectory.Goal:
    """A motion away from Q and back."""
    away, back = (
        waypoint(Q + STEP, REST, time=time),
        waypoint(Q, REST, time=2.0 * time),
    )
    return goal(away, back, **fields)


def _goal(make: Callable[[Campaign], FollowJointTrajectory.Goal]) -> Kind:
    """Fault with a goal that is drawn for each message, between good states."""

    def kind(c: Campaign) -> Send:
        def send() -> None:
            c.goals.send_goal_async(make(c))
            c.good()

        return send

    return kind


def _of(message: FollowJointTrajectory.Goal) -> Kind:
    return _goal(lambda c: message)


def _tolerance(**numbers: float) -> list[JointTolerance]:
    return [JointTolerance(name=name, **numbers) for name in ARM]


def _long_time(seconds: int) -> FollowJointTrajectory.Goal:
    point = waypoint(Q + STEP, REST)
    point.time_from_start.sec = seconds
    return goal(point)


def _multi_dof() -> FollowJointTrajectory.Goal:
    message = _and_back()
    message.multi_dof_trajectory.points = [MultiDOFJointTrajectoryPoint()]
    return message


GOALS: dict[str, Kind] = {
    "goal": _of(_and_back()),
    "goal nan": _of(goal(waypoint(Q * NAN, time=1.0))),
    "goal inf": _of(goal(waypoint(Q, REST + INF, time=1.0))),
    "goal of 1e308": _of(goal(waypoint(Q + 1e308, REST - 1e308, REST + 1e308, 1.0))),
    "goal of velocities of 1e308": _of(
        goal(waypoint(Q + STEP, REST + 1e308, time=0.5), waypoint(Q, REST, time=1.0))
    ),
    "goal of accelerations nan": _of(goal(waypoint(Q, REST, REST * NAN, 1.0))),
    "goal whose times go back": _of(goal(waypoint(Q, time=1.0), waypoint(Q, time=0.5))),
    "goal of equal times": _of(goal(waypoint(Q, time=1.0), waypoint(Q + STEP, time=1.0))),
    "goal of a negative time": _of(_long_time(-5)),
    "goal of 68 years": _of(_long_time(2**31 - 1)),
    "goal at one time": _of(goal(waypoint(Q + STEP, time=0.0))),
    "goal too fast": _of(goal(waypoint(Q + 0.2, REST, time=0.01))),
    "goal beyond the limits": _of(goal(waypoint(Q + 3.0, REST, time=9.0))),
    "goal that ends moving": _of(goal(waypoint(Q, REST + 0.5, time=1.0))),
    "goal with efforts": _of(goal(waypoint(Q, REST, time=1.0, effort=REST))),
    "goal of another joint": _of(goal(waypoint([0.0], time=1.0), names=["wheel"])),
    "goal of three joints": _of(goal(waypoint(Q[:3] + STEP[:3], REST[:3], time=0.3), names=ARM[:3])),
    "goal of a joint twice": _of(goal(waypoint(Q, time=1.0), names=[*ARM[:6], ARM[0]])),
    "goal without joints": _of(goal(waypoint(), names=[])),
    "goal of another length": _of(goal(waypoint(Q[:3], time=1.0))),
    "goal without points": _of(goal()),
    "goal of 3,000 points": _of(goal(*(waypoint(Q, REST, time=0.01 * k) for k in range(1, 3001)))),
    "goal of the past": _of(_and_back(seconds=5)),
    "goal of 2038": _of(_and_back(seconds=2**31 - 2)),
    "goal that starts elsewhere": _of(goal(waypoint(Q + 1.0), waypoint(Q, time=9.0))),
    "goal of any numbers": _goal(
        lambda c: goal(waypoint(c.random.uniform(-3, 3, 7), c.random.normal(0, 2, 7), time=0.5))
    ),
    "goal of tolerances nan": _of(_and_back(path_tolerance=_tolerance(position=NAN))),
    "goal of speed tolerances nan": _of(_and_back(goal_tolerance=_tolerance(velocity=NAN))),
    "goal of infinite tolerances": _of(_and_back(path_tolerance=_tolerance(position=INF, velocity=INF))),
    "goal of negative tolerances": _of(_and_back(path_tolerance=_tolerance(position=-1.0, velocity=-1.0))),
    "goal of tolerances of 1e308": _of(_and_back(goal_tolerance=_tolerance(position=1e308, velocity=1e308))),
    "goal of the least tolerance": _of(_and_back(path_tolerance=_tolerance(position=5e-324))),
    "goal of a speed tolerance": _of(_and_back(path_tolerance=_tolerance(velocity=0.01))),
    "goal of a stopped speed": _of(_and_back(goal_tolerance=_tolerance(velocity=1e-300))),
    "goal of a tolerance of acceleration": _of(_and_back(path_tolerance=_tolerance(acceleration=1.0))),
    "goal of tolerances twice": _of(_and_back(path_tolerance=2 * _tolerance(position=0.1))),
    "goal of tolerances of another joint": _of(
        _and_back(goal_tolerance=[JointTolerance(name="wheel", position=1.0)])
    ),
    "goal of tolerances of components": _of(_and_back(component_path_tolerance=[JointComponentTolerance()])),
    "goal of several freedoms": _of(_multi_dof()),
    "goal of a negative patience": _of(_and_back(goal_time_tolerance=Duration(sec=-(2**31)))),
    "goal of a long patience": _of(_and_back(goal_time_tolerance=Duration(sec=2**31 - 1))),
}  # fmt: skip
"""Kinds that are sent again and again."""


def _begin_goal(c: Campaign, message: FollowJointTrajectory.Goal, client: Any = None) -> Any:
    """Send a goal between good states and return its handle."""
    sent = (client or c.goals).send_goal_async(message)
    while not sent.done():
        c.play(c.good, 1)
    return sent.result()


def _in_a_goal(then: Callable[[Campaign, Any], None], rest: float = 0.05) -> Kind:
    """Fault with an event during a goal of five seconds."""

    def kind(c: Campaign) -> Send:
        def send() -> None:
            handle = _begin_goal(c, _and_back(5.0))
            c.play_for(c.good, float(c.random.uniform(0.0, rest)))
            then(c, handle)
            c.play_for(c.good, 0.05)

        return send

    return kind


def _cancel_in_a_stop(c: Campaign, handle: Any) -> None:
    c.ask("warpdyn/enable", False)
    handle.cancel_goal_async()


def _stop_in_a_cancel(c: Campaign, handle: Any) -> None:
    handle.cancel_goal_async()
    c.ask("warpdyn/enable", False)


def _cancel_again_and_again(c: Campaign, handle: Any) -> None:
    for _ in range(20):
        handle.cancel_goal_async()
        c.play(c.good, 1)


def _freeze(c: Campaign, handle: Any) -> None:
    process = c.children[0].process.pid
    os.kill(process, signal.SIGSTOP)
    try:
        c.play_for(c.good, float(c.random.uniform(0.05, 1.0)))
    finally:
        os.kill(process, signal.SIGCONT)


def _jump_back(c: Campaign, handle: Any) -> None:
    """The arm follows the goal for some time and jumps back."""
    c.play_for(lambda: c.states.publish(c.state(Q + 0.02 * STEP)), 0.1)


def _by_topic(topic: str) -> Callable[[Campaign, Any], None]:
    def then(c: Campaign, handle: Any) -> None:
        points = [] if topic == "empty" else [waypoint(Q, REST, time=0.3)]
        name = "reference" if topic == "reference" else "trajectory"
        c.publish(name, JointTrajectory(joint_names=list(ARM), points=points))

    return then


def _two_clients(c: Campaign) -> Send:
    """Fault with two clients whose goals replace each other."""

    def send() -> None:
        for k in range(6):
            client = (c.goals, c.other_goals)[k % 2]
            _begin_goal(c, _and_back(0.5 + 0.1 * k), client)
            c.play(c.good, int(c.random.integers(1, 10)))

    return send


def _client_ends(end: int) -> Kind:
    """Fault with a client in another process that ends or freezes during its goal."""

    def kind(c: Campaign) -> Send:
        def send() -> None:
            text = ",".join(map(str, Q + STEP))
            process = subprocess.Popen(
                [sys.executable, "-c", CLIENT, ACTION, ",".join(ARM), text],
                stdout=subprocess.PIPE,
            )
            try:
                assert process.stdout is not None
                os.set_blocking(process.stdout.fileno(), False)
                while not process.stdout.read():
                    c.play(c.good, 5)
                c.play_for(c.good, 0.2)
                os.kill(process.pid, end)
                c.play_for(c.good, 0.3)
            finally:
                process.kill()
                process.wait()

        return send

    return kind


GOALS_ONCE: dict[str, Kind] = {
    "goal cancelled on its way": _in_a_goal(lambda c, handle: handle.cancel_goal_async()),
    "goal cancelled at once": _in_a_goal(lambda c, handle: handle.cancel_goal_async(), rest=0.0),
    "goal cancelled twenty times": _in_a_goal(_cancel_again_and_again),
    "goal cancelled in a stop": _in_a_goal(_cancel_in_a_stop),
    "goal cancelled before a stop": _in_a_goal(_stop_in_a_cancel),
    "goal and a stop": _in_a_goal(lambda c, handle: c.ask("warpdyn/enable", False)),
    "goal and reset": _in_a_goal(lambda c, handle: c.ask("warpdyn/reset")),
    "goal and reload": _in_a_goal(lambda c, handle: c.ask("warpdyn/reload")),
    "goal and SIGSTOP": _in_a_goal(_freeze),
    "goal and silence": _in_a_goal(lambda c, handle: c.play_for(lambda: None, 0.75)),
    "goal and an arm that jumps": _in_a_goal(_jump_back),
    "goal and ~/trajectory": _in_a_goal(_by_topic("trajectory")),
    "goal and ~/reference": _in_a_goal(_by_topic("reference")),
    "goal and a trajectory without points": _in_a_goal(_by_topic("empty")),
    "goals of two clients": _two_clients,
    "a client is killed in a goal": _client_ends(signal.SIGKILL),
    "a client freezes in a goal": _client_ends(signal.SIGSTOP),
}
"""Kinds that are thrown once."""
