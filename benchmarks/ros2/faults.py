"""Thousands of random faults for an enabled node over DDS, of more than 120 kinds.

Every command is checked (`command_checks`): finite, within the effort limits of the URDF, at the
allowed rate. After each fault the node must be alive, and a stop must have ended with zeros. When good
states continue (after a stop also ~/reset and ~/enable), the node must return to its earlier command.
"""

from __future__ import annotations

import time
from array import array
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointCommand
from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
from rcl_interfaces.srv import SetParameters
from rclpy.action import ActionClient
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import warpdyn as wd
from ros2_node.demo.processes import Child, Client, ProcessError, ros_arguments

from . import fault_inputs, fault_processes
from .arm import ARM, Q, arm_urdf
from .command_checks import CommandChecks
from .fault_goals import ACTION, GOALS, GOALS_ONCE
from .fault_messages import BYTES, DESCRIPTIONS, INPUTS, REFERENCES, STATES, Kind, Send
from .fault_processes import STALE

LIMITS = np.array([87.0] * 4 + [12.0] * 3)
"""Effort limits of the bundled panda [N·m]."""
SAME = 1e-9
"""How far a command may be from the one before a fault [N·m]."""
OFTEN = {
    **{**STATES, **BYTES, **REFERENCES, **INPUTS, **DESCRIPTIONS},
    **{**GOALS, **fault_inputs.OFTEN},
}
"""Kinds that are thrown again and again."""
ONCE = {**fault_processes.ONCE, **GOALS_ONCE, **fault_inputs.ONCE}
"""Kinds that are thrown once."""
KINDS: dict[str, Kind] = {**OFTEN, **ONCE}
HAND = "panda_hand"
LAWS: dict[str, dict[str, Any]] = {
    "joint_impedance": {"law": "joint_impedance", "law_inputs.stiffness": 200.0},
    "cartesian_impedance": {
        "law": "cartesian_impedance",
        "law_options": [f"frame={HAND}"],
        "law_inputs.stiffness": [500.0, 500.0, 500.0, 30.0, 30.0, 30.0],
    },
    "admittance": {
        "law": "admittance",
        "law_options": [f"frame={HAND}"],
        "law_inputs.virtual_mass": [5.0, 5.0, 5.0, 0.2, 0.2, 0.2],
        "law_inputs.virtual_damping": [200.0, 200.0, 200.0, 8.0, 8.0, 8.0],
        "law_inputs.virtual_stiffness": [2000.0, 2000.0, 2000.0, 80.0, 80.0, 80.0],
        "ft_deadband": [12.0, 2.0],  # weight of the hand, which the readings leave out
    },
}
"""Parameters of the laws."""
NAMED = {"another mode": ("joint_impedance", "cartesian_impedance", "admittance")}
"""Kinds that are not a fault under some laws."""
PATIENCE = 60.0


class Campaign(Client):
    """Peer that causes the faults and checks every command."""

    def __init__(self, children: Sequence[Child], seed: int) -> None:
        super().__init__("faults", children)
        self.random = np.random.default_rng(seed)
        deep, make = QoSProfile(depth=1000), self.node.create_publisher
        self.states = make(JointState, "joint_states", deep)
        kinds = {
            "reference": JointTrajectory,
            "trajectory": JointTrajectory,
            "external_wrench": WrenchStamped,
            "twist": TwistStamped,
            "pose_reference": PoseStamped,
            "ft_wrench": WrenchStamped,
            "law_inputs/stiffness": Float64MultiArray,
            "law_inputs/damping_ratio": Float64MultiArray,
        }
        self._topics = {name: make(kind, f"warpdyn/{name}", deep) for name, kind in kinds.items()}
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.descriptions = make(String, "robot_description", latched)
        self.node.create_subscription(JointCommand, "warpdyn/commands", self._look, deep)
        self.setting: Any = self.node.create_client(SetParameters, "warpdyn/set_parameters")
        self.goals: Any
        self.other_goals: Any
        self.goals, self.other_goals = (
            ActionClient(self.node, FollowJointTrajectory, ACTION) for _ in range(2)
        )
        self.checks = CommandChecks(LIMITS)
        self.has_wrench_sensor = False
        """True if there is a force-torque sensor, whose readings come with the good states."""
        self.home: PoseStamped | None = None
        """The pose of a law's frame at Q, where there is such a law."""
        point = JointTrajectoryPoint(positions=Q.tolist())
        self._here = JointTrajectory(joint_names=list(ARM), points=[point])

    def _look(self, message: JointCommand) -> None:
        stamp = message.header.stamp
        self.checks.look(np.array(message.values), stamp.sec + 1e-9 * stamp.nanosec)

    def publish(self, topic: str, message: Any) -> None:
        """Send a message on one of the node's own topics."""
        self._topics[topic].publish(message)

    def state(self, q: Any = Q, names: Sequence[str] = ARM, **other: Any) -> JointState:
        """A message at rest, with `velocity`, `effort` and `stamp` [s]."""
        message = JointState(name=list(names), position=array("d", map(float, q)))
        velocity = other.get("velocity", [0.0] * len(q))
        message.velocity = array("d", map(float, velocity))
        message.effort = array("d", map(float, other.get("effort", ())))
        message.header.stamp = self.node.get_clock().now().to_msg()
        if "stamp" in other:
            seconds = float(other["stamp"])
            message.header.stamp.sec = int(seconds // 1)
            message.header.stamp.nanosec = int(seconds % 1 * 1e9)
        return message

    def stamp(self, message: Any, offset: float = 0.0) -> None:
        """Write the current time plus an offset [s] into a header."""
        time = self.node.get_clock().now().nanoseconds + round(1e9 * offset)
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(time, 10**9)

    def good(self) -> None:
        if self.has_wrench_sensor:
            message = WrenchStamped()
            message.header.frame_id = HAND
            self.stamp(message)
            self.publish("ft_wrench", message)
        self.states.publish(self.state())

    def play(self, send: Send, times: int) -> None:
        for _ in range(times):
            send()
            self.executor.spin_once(timeout_sec=0.002)

    def play_for(self, send: Send, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.play(send, 1)

    def ask(self, service: str, on: bool | None = None) -> Any:
        """Call a service while good states continue."""
        timer = self.node.create_timer(0.005, self.good)
        try:
            return self.call(service, on)
        finally:
            self.node.destroy_timer(timer)

    def recover(self, expected: np.ndarray | None) -> bool:
        """Return the node to its earlier torques. True if it had stopped."""
        stopped, end = False, time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.play(self.good, 3)
            answer = self.ask("warpdyn/enable", True)
            if not answer.success:
                stopped = True
                self.ask("warpdyn/reset")
                continue
            if answer.message.startswith("enabled"):
                stopped = True
            for k in range(200):
                if k % 20 == 0:
                    self.publish("reference", self._here)
                    if self.home is not None:
                        self.publish("pose_reference", self.home)
                self.play(self.good, 5)
                last = self.checks.last
                if expected is None or np.abs(last - expected).max() <= SAME:
                    return stopped
        raise ProcessError(
            f"the node did not recover: its command is {self.checks.last} and should be {expected}"
        )

    def set(self, name: str, value: Any) -> bool:
        """Set a parameter while good states continue. True if the node accepts it."""
        self.until(self.setting.service_is_ready, "set_parameters")
        request = SetParameters.Request(
            parameters=[Parameter(name, value=value).to_parameter_msg()]
        )
        future = self.setting.call_async(request)
        while not future.done():
            self.play(self.good, 1)
        return bool(future.result().results[0].successful)

    def among(self, fault: Send) -> Send:
        """Fault between good states or alone, as drawn."""

        def both() -> None:
            fault()
            self.good()

        return both if self.random.random() < 0.6 else fault

    def with_other_value(self, value: float) -> np.ndarray:
        """A good position with another value for one joint."""
        q = Q.copy()
        q[self.random.integers(7)] = value
        return q

    def throw(self, kind: str) -> None:
        """Run one fault of a kind."""
        times = 1 if kind in ONCE else int(self.random.integers(1, 30))
        self.play(KINDS[kind](self), times)


def home_of(urdf: Path) -> PoseStamped:
    """Pose of the hand at Q, as a reference."""
    model = wd.load(urdf)
    x, y, z, *quaternion = np.asarray(wd.fk(model, Q, frame=HAND, form="pose")).tolist()
    message = PoseStamped()
    message.header.frame_id = model.root
    p, o = message.pose.position, message.pose.orientation
    p.x, p.y, p.z = x, y, z
    o.x, o.y, o.z, o.w = quaternion
    return message


def faults(folder: Path, number: int = 2000, seed: int = 0, law: str = "") -> dict[str, Any]:
    """Random faults for an enabled panda in mode computed_torque, or under an impedance law.

    All kinds come in turn, in random order. Each stop must have ended with zeros.
    """
    parameters = {
        "robot_description_file": str(arm_urdf(folder)),
        **(LAWS[law] if law else {"mode": "computed_torque"}),
        "ramp_time": 0.05,
        "state_timeout": STALE,
        "allow_several_publishers": True,  # the drivers' states
        "command_type": "joint_command",  # the stamps determine the rate
        "twist_link": HAND,
        # Else a command that this busy process has not yet taken is replaced by the next one.
        "qos_overrides./warpdyn/commands.publisher.depth": 200,
    }
    kinds = [kind for kind in KINDS if law not in NAMED.get(kind, ())]
    node = Child("ros2_node.node", ros_arguments(parameters), folder / "node.log")
    campaign = Campaign([node], seed)
    if law in ("cartesian_impedance", "admittance"):
        campaign.home = home_of(arm_urdf(folder))
    campaign.has_wrench_sensor = law == "admittance"
    checks, stops, begun = campaign.checks, Counter[str](), time.monotonic()
    bad_ends, problems, thrown = 0, list[str](), Counter[str]()
    try:
        node.wait_for("ready:")
        campaign.until(campaign.states.get_subscription_count, "matching")
        campaign.recover(None)
        campaign.play_for(campaign.good, 0.5)
        expected = checks.last.copy()
        order: list[str] = []
        for k in range(number):
            order = order or [str(x) for x in campaign.random.permutation(kinds)]
            kind = order.pop()
            thrown[kind] += 1
            before, ends = checks.bad(), checks.ends
            campaign.throw(kind)
            node.check()
            stopped = campaign.recover(expected)
            stops[kind] += stopped
            if stopped and checks.ends == ends:
                bad_ends += 1
                problems.append(f"{k} {kind}: the node stopped without zeros")
            if checks.bad() != before:
                problems.append(f"{k} {kind}: {checks.bad() - before} bad commands")
            print(f"\r  {k + 1} of {number}, {checks.number} commands", end="", flush=True)
        print()
    finally:
        node.end()
        campaign.close()
    return {
        "faults": number,
        "law": law or "computed_torque",
        "seed": seed,
        "kinds": len(thrown),
        "seconds": round(time.monotonic() - begun),
        "stopped_by": {kind: n for kind, n in sorted(stops.items()) if n},
        "commands_checked": checks.number,
        "commands_not_finite": checks.not_finite,
        "commands_beyond_limits": checks.beyond,
        "commands_too_fast": checks.too_fast,
        "stops": sum(stops.values()),
        "stops_that_end_with_no_zeros": bad_ends,
        "largest_share_of_a_limit": checks.largest_share,
        "largest_share_of_the_rate": checks.largest_rate,
        "torque_after_each_fault": f"within {SAME:g} N·m of the one before",
        "problems": problems,
    }
