"""Kinds of faults in poses, law inputs on topics, force-torque sensors, and filters."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from geometry_msgs.msg import PoseStamped, WrenchStamped
from std_msgs.msg import Float64MultiArray

from .fault_messages import Kind, Send
from .fault_processes import refusal

if TYPE_CHECKING:
    from .faults import Campaign

NAN, INF = float("nan"), float("inf")


def _pose(change: Callable[[Any], None]) -> Kind:
    """Fault with a changed pose of the hand; an empty pose if no law holds it."""

    def kind(c: Campaign) -> Send:
        message = deepcopy(c.home) if c.home is not None else PoseStamped()
        change(message)

        def send() -> None:
            c.publish("pose_reference", message)
            c.good()

        return send

    return kind


def _position(x: float) -> Kind:
    return _pose(lambda m: setattr(m.pose.position, "x", x))


def _by(step: float) -> Kind:
    return _pose(lambda m: setattr(m.pose.position, "x", m.pose.position.x + step))


def _no_quaternion(m: Any) -> None:
    m.pose.orientation.w = m.pose.orientation.x = m.pose.orientation.y = m.pose.orientation.z = 0.0


POSES: dict[str, Kind] = {
    "pose nan": _position(NAN),
    "pose inf": _position(INF),
    "pose of 1e308": _position(1e308),
    "pose of another frame": _pose(lambda m: setattr(m.header, "frame_id", "camera")),
    "pose without a quaternion": _pose(_no_quaternion),
    "pose of a quaternion nan": _pose(lambda m: setattr(m.pose.orientation, "w", NAN)),
    "pose of a quaternion of 1e200": _pose(lambda m: setattr(m.pose.orientation, "z", 1e200)),
    "pose far away": _by(5.0),
    "pose 2 cm away": _by(0.02),
    "poses in turn": lambda c: _in_turn(c, [_by(0.1)(c), _by(-0.1)(c)]),
}


def _in_turn(c: Campaign, sends: Sequence[Send]) -> Send:
    def send() -> None:
        for each in sends:
            each()

    return send


def _numbers(name: str, *numbers: float) -> Kind:
    """Fault with numbers on ~/law_inputs/<name>. A node without this input does not read them."""

    def kind(c: Campaign) -> Send:
        message = Float64MultiArray(data=array("d", numbers))

        def send() -> None:
            c.publish(f"law_inputs/{name}", message)
            c.good()

        return send

    return kind


LAW_INPUTS: dict[str, Kind] = {
    "stiffness nan": _numbers("stiffness", NAN),
    "stiffness inf": _numbers("stiffness", *[INF] * 6),
    "stiffness of 1e308": _numbers("stiffness", *[1e308] * 6),
    "stiffness negative": _numbers("stiffness", *[-100.0] * 6),
    "stiffness of no numbers": _numbers("stiffness"),
    "stiffness of 500 numbers": _numbers("stiffness", *[1.0] * 500),
    "stiffness of three numbers": _numbers("stiffness", 1.0, 1.0, 1.0),
    "stiffness beyond its range": _numbers("stiffness", *[1e4] * 6),
    "stiffness zero": _numbers("stiffness", *[0.0] * 6),
    "stiffness halved and back": lambda c: _in_turn(
        c, [_numbers("stiffness", *[x] * 6)(c) for x in (100.0, 30.0)]
    ),
    "damping ratio nan": _numbers("damping_ratio", NAN),
    "damping ratio negative": _numbers("damping_ratio", -1.0),
    "damping ratio of 1e308": _numbers("damping_ratio", 1e308),
    "damping ratio 0.1": _numbers("damping_ratio", 0.1),
}


def _sensor(value: float, frame: str = "panda_hand", age: float = 0.0, among: bool = True) -> Kind:
    """Fault with a reading of the force-torque sensor. A node without the admittance law does not read it."""

    def kind(c: Campaign) -> Send:
        def send() -> None:
            message = WrenchStamped()
            message.header.frame_id = frame
            c.stamp(message, -age)
            message.wrench.force.x = message.wrench.torque.z = value
            c.publish("ft_wrench", message)
            c.states.publish(c.state())
            if among:
                c.good()

        return send

    return kind


SENSOR: dict[str, Kind] = {
    "sensor nan": _sensor(NAN),
    "sensor inf": _sensor(INF, among=False),
    "sensor of 1e308 N": _sensor(1e308),
    "sensor of another frame": _sensor(0.0, "camera"),
    "sensor without a frame": _sensor(0.0, ""),
    "sensor of 10 s ago": _sensor(0.0, age=10.0),
    "sensor of a minute ahead": _sensor(0.0, age=-60.0),
    "sensor of 30 N": _sensor(30.0, among=False),
    "sensor of 3,000 N in turn": lambda c: _in_turn(c, [_sensor(x)(c) for x in (3e3, -3e3)]),
    "sensor silent": lambda c: lambda: c.states.publish(c.state()),
}

OFTEN: dict[str, Kind] = {**POSES, **LAW_INPUTS, **SENSOR}
"""Kinds that are sent again and again."""
ONCE: dict[str, Kind] = {
    "a position filter at run time": refusal("position_filter", 10.0),
    "a velocity filter nan": refusal("velocity_filter", NAN),
    "a torque filter at run time": refusal("torque_filter", 10.0),
    "a negative tolerance": refusal("trajectory.path_tolerance", -1.0),
    "a tolerance of speed nan": refusal("trajectory.stopped_velocity_tolerance", NAN),
    "a range of inputs of 1e308": refusal("law_input_range", 1e308),
    "a deadband of one number": refusal("ft_deadband", [1.0]),
    "a cutoff of the sensor nan": refusal("ft_cutoff", NAN),
}
"""Kinds that are thrown once."""
