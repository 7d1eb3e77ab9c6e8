"""Kinds of faults in messages: states, bytes, references, trajectories, twists, wrenches, descriptions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from geometry_msgs.msg import TwistStamped, WrenchStamped
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from .arm import ARM, Q

if TYPE_CHECKING:
    from .faults import Campaign

Send = Callable[[], None]
Kind = Callable[["Campaign"], Send]
"""A function that draws a fault, and returns what sends it once."""
NAN, INF = float("nan"), float("inf")
ODD = {"nan": NAN, "inf": INF, "-inf": -INF, "1e9": 1e9, "-1e300": -1e300, "9000": 9000.0}


def _state(make: Callable[[Campaign], JointState]) -> Kind:
    """Fault with a state that is drawn for each message, between good states or alone."""

    def kind(c: Campaign) -> Send:
        return c.among(lambda: c.states.publish(make(c)))

    return kind


def _near_position(c: Campaign, size: float) -> np.ndarray:
    return Q + c.random.uniform(-size, size, 7)


def _clock(c: Campaign, offset: float) -> float:
    return c.node.get_clock().now().nanoseconds * 1e-9 + offset


STATES: dict[str, Kind] = {
    **{f"position {n}": _state(lambda c, x=x: c.state(c.with_other_value(x))) for n, x in ODD.items()},
    **{
        f"velocity {n}": _state(lambda c, x=x: c.state(Q, velocity=c.with_other_value(x)))
        for n, x in ODD.items()
    },
    **{f"all positions {n}": _state(lambda c, x=x: c.state(np.full(7, x))) for n, x in ODD.items()},
    "all velocities nan": _state(lambda c: c.state(Q, velocity=[NAN] * 7)),
    "efforts nan": _state(lambda c: c.state(Q, effort=[NAN] * 7)),
    "efforts of another length": _state(lambda c: c.state(Q, effort=[1.0] * 3)),
    "positions of any length": _state(lambda c: c.state(c.random.uniform(-3, 3, c.random.integers(12)))),
    "no positions": _state(lambda c: c.state([], velocity=[0.0] * 7)),
    "velocities of any length": _state(
        lambda c: c.state(Q, velocity=c.random.uniform(-1, 1, c.random.integers(1, 7)))
    ),
    "no velocities": _state(lambda c: c.state(Q, velocity=[])),
    "empty message": _state(lambda c: c.state([], [])),
    "names without numbers": _state(lambda c: c.state([], velocity=[])),
    "a joint twice": _state(lambda c: c.state(Q, [*ARM[:6], ARM[0]])),
    "only other joints": _state(lambda c: c.state([1.0, 2.0], ["wheel", "door"])),
    "another joint first": _state(lambda c: c.state([NAN, *Q], ["wheel", *ARM])),
    "names in another order": _state(lambda c: c.state(Q[::-1], ARM[::-1])),
    "names of other positions": _state(lambda c: c.state(Q, ARM[::-1])),
    "a missing joint": _state(lambda c: c.state(Q[1:], ARM[1:])),
    "the last joint missing": _state(lambda c: c.state(Q[:6], ARM[:6])),
    "half of the joints": _state(lambda c: c.state(Q[:4], ARM[:4])),
    "names with zeros": _state(lambda c: c.state(Q, [f"{n}\0{c.random.integers(9)}" for n in ARM])),
    "names with lines": _state(lambda c: c.state(Q, [f"{n}\n" for n in ARM])),
    "empty names": _state(lambda c: c.state(Q, [""] * 7)),
    "long names": _state(lambda c: c.state(Q, [n * 200 for n in ARM])),
    "names in other letters": _state(lambda c: c.state(Q, [n.replace("a", "\u00e4") for n in ARM])),
    "500 joints": _state(lambda c: c.state([0.0] * 500, [f"j{k}" for k in range(500)])),
    "stamp zero": _state(lambda c: c.state(stamp=0)),
    "stamp of 1970": _state(lambda c: c.state(stamp=5)),
    "stamp anywhere": _state(lambda c: c.state(stamp=int(c.random.integers(0, 2**31 - 1)))),
    "stamp of 2038": _state(lambda c: c.state(stamp=2**31 - 2)),
    "stamp before 1970": _state(lambda c: c.state(stamp=-5)),
    **{
        f"stamp {x:+g} s": _state(lambda c, x=x: c.state(stamp=_clock(c, x)))
        for x in (-10.0, -1.0, -0.3, -0.05, 0.5, 10.0)
    },
    **{f"moved by {x:g} rad": _state(lambda c, x=x: c.state(_near_position(c, x))) for x in (0.02, 0.1, 0.3, 1.0, 3.0)},
    "one joint by 0.4 rad": _state(lambda c: c.state(c.with_other_value(Q[3] + 0.4))),
    "positions in degrees": _state(lambda c: c.state(np.degrees(Q))),
    "other signs": _state(lambda c: c.state(-Q)),
    "all zero": _state(lambda c: c.state(0.0 * Q)),
    "beyond the limits": _state(lambda c: c.state(Q + 20.0)),
    "noise of 5 mrad": _state(lambda c: c.state(Q + c.random.normal(0.0, 0.005, 7))),
    "velocities of noise": _state(lambda c: c.state(Q, velocity=c.random.normal(0.0, 0.3, 7))),
    "a velocity of 1 rad/s at rest": _state(lambda c: c.state(Q, velocity=[1.0] * 7)),
    "velocities in degrees": _state(lambda c: c.state(Q, velocity=[57.3] * 7)),
}  # fmt: skip


def _drift(c: Campaign) -> Send:
    """Encoders that drift by 1 rad/s without a velocity."""
    q = Q.copy()

    def send() -> None:
        q[:] += 0.002
        c.states.publish(c.state(q))

    return send


def _same_again(c: Campaign) -> Send:
    message = c.state()
    return lambda: c.states.publish(message)


def _in_parts(c: Campaign) -> Send:
    def send() -> None:
        c.states.publish(c.state(Q[:4], ARM[:4]))
        c.states.publish(c.state(Q[4:], ARM[4:]))

    return send


def _alternating(c: Campaign) -> Send:
    other = Q + c.random.uniform(-0.5, 0.5, 7)

    def send() -> None:
        c.states.publish(c.state(other))
        c.good()

    return send


def _flood(c: Campaign) -> Send:
    message = c.state()

    def send() -> None:
        for _ in range(50):
            c.states.publish(message)

    return send


STATES |= {
    "encoders that drift": _drift,
    "the same message again": _same_again,
    "a state in two messages": _in_parts,
    "two states in turn": _alternating,
    "a flood of one state": _flood,
}


def _bytes(change: Callable[[Campaign, bytearray], bytes]) -> Kind:
    """Fault with bytes on joint_states, drawn for each message."""

    def kind(c: Campaign) -> Send:
        whole = bytes(serialize_message(c.state()))
        return c.among(lambda: c.states.publish(change(c, bytearray(whole))))

    return kind


def _flip_bits(c: Campaign, data: bytearray, first: int = 0) -> bytes:
    for _ in range(6):
        data[int(c.random.integers(first, len(data)))] ^= int(c.random.integers(1, 256))
    return bytes(data)


def _put(data: bytearray, at: int, value: bytes) -> bytes:
    data[at : at + len(value)] = value
    return bytes(data)


BYTES: dict[str, Kind] = {
    "bytes cut off": _bytes(lambda c, d: bytes(d[: int(c.random.integers(1, len(d)))])),
    "bytes flipped": _bytes(_flip_bits),
    "bytes flipped in the numbers": _bytes(lambda c, d: _flip_bits(c, d, len(d) - 120)),
    "random bytes": _bytes(lambda c, d: c.random.bytes(200)),
    "one byte": _bytes(lambda c, d: b"\0"),
    "bytes of another order": _bytes(lambda c, d: _put(d, 0, b"\0\0")),
    "a length beyond all memory": _bytes(lambda c, d: _put(d, 16, b"\xff\xff\xff\x7f")),
    "100 kB of zeros": _bytes(lambda c, d: bytes(d[:4]) + bytes(100_000)),
}


def waypoint(q: Any = (), v: Any = (), a: Any = (), time: float = 0.0, effort: Any = ()) -> Any:
    """A point of a trajectory."""
    point = JointTrajectoryPoint(
        positions=list(map(float, q)),
        velocities=list(map(float, v)),
        accelerations=list(map(float, a)),
        effort=list(map(float, effort)),
    )
    point.time_from_start.sec, rest = int(time // 1), time % 1
    point.time_from_start.nanosec = int(rest * 1e9)
    return point


def _motion(
    topic: str, *points: Any, names: Sequence[str] = ARM, stamp: float | None = None
) -> Kind:
    """Fault with a message on ~/reference or ~/trajectory, between good states."""

    def kind(c: Campaign) -> Send:
        message = JointTrajectory(joint_names=list(names), points=list(points))
        if stamp is not None:
            message.header.stamp.sec = max(int(_clock(c, stamp)), 0)

        def send() -> None:
            c.publish(topic, message)
            c.good()

        return send

    return kind


STEP = np.array([0.05, -0.05, 0.05, 0.05, -0.05, 0.05, 0.05])
REST = np.zeros(7)
REFERENCES: dict[str, Kind] = {
    "reference nan": _motion("reference", waypoint(Q * NAN)),
    "reference of an infinite velocity": _motion("reference", waypoint(Q, REST + INF)),
    "reference of an acceleration of 1e9": _motion("reference", waypoint(Q, REST, REST + 1e9)),
    "reference too fast": _motion("reference", waypoint(Q, REST + 100.0)),
    "reference too sudden": _motion("reference", waypoint(Q, REST, REST + 200.0)),
    "reference far away": _motion("reference", waypoint(Q + 1.0)),
    "reference beyond the limits": _motion("reference", waypoint(Q + 3.0)),
    "reference near by": _motion("reference", waypoint(Q + STEP)),
    "reference that moves": _motion("reference", waypoint(Q, REST + 0.5, REST + 1.0)),
    "reference of another length": _motion("reference", waypoint(Q[:3])),
    "reference of a joint twice": _motion("reference", waypoint(Q), names=[ARM[0]] * 7),
    "reference of another joint": _motion("reference", waypoint(Q), names=[*ARM[:6], "wheel"]),
    "reference without points": _motion("reference"),
    "reference of two points": _motion("reference", waypoint(Q), waypoint(Q)),
    "reference without names": _motion("reference", waypoint(Q), names=[]),
    "trajectory": _motion("trajectory", waypoint(Q + STEP, REST, time=0.3), waypoint(Q, REST, time=0.6)),
    "trajectory of lines": _motion("trajectory", waypoint(Q + STEP, time=0.5)),
    "trajectory with accelerations": _motion("trajectory", waypoint(Q + STEP, REST, REST, 0.5)),
    "trajectory nan": _motion("trajectory", waypoint(Q * NAN, time=1.0)),
    "trajectory of infinite velocities": _motion("trajectory", waypoint(Q, REST + INF, time=1.0)),
    "trajectory whose times go back": _motion("trajectory", waypoint(Q, time=1.0), waypoint(Q, time=0.5)),
    "trajectory at one time": _motion("trajectory", waypoint(Q + STEP, time=0.0)),
    "trajectory too fast": _motion("trajectory", waypoint(Q + 0.2, REST, time=0.01)),
    "trajectory beyond the limits": _motion("trajectory", waypoint(Q + 3.0, REST, time=9.0)),
    "trajectory that ends moving": _motion("trajectory", waypoint(Q, REST + 0.5, time=1.0)),
    "trajectory with efforts": _motion("trajectory", waypoint(Q, REST, time=1.0, effort=REST)),
    "trajectory of another joint": _motion("trajectory", waypoint([0.0], time=1.0), names=["wheel"]),
    "trajectory of another length": _motion("trajectory", waypoint(Q[:3], time=1.0)),
    "trajectory of the past": _motion("trajectory", waypoint(Q, REST, time=1.0), stamp=-9.0),
    "trajectory of the future": _motion("trajectory", waypoint(Q, REST, time=1.0), stamp=9.0),
    "trajectory that starts elsewhere": _motion("trajectory", waypoint(Q + 1.0), waypoint(Q, time=9.0)),
    "trajectory of 3,000 points": _motion(
        "trajectory", *(waypoint(Q, REST, time=0.01 * k) for k in range(1, 3001))
    ),
    "trajectory cancelled": _motion("trajectory"),
}  # fmt: skip


def _wrench(value: float, frame: str) -> Kind:
    def kind(c: Campaign) -> Send:
        message = WrenchStamped()
        message.header.frame_id = frame
        message.wrench.force.x = message.wrench.torque.z = value

        def send() -> None:
            c.publish("external_wrench", message)
            c.good()

        return send

    return kind


def _twist(value: float, frame: str = "") -> Kind:
    def kind(c: Campaign) -> Send:
        message = TwistStamped()
        message.header.frame_id = frame
        message.twist.linear.x = message.twist.angular.z = value
        sign = float(c.random.choice([-1.0, 1.0]))
        message.twist.linear.y = sign * value

        def send() -> None:
            c.publish("twist", message)
            c.good()

        return send

    return kind


INPUTS: dict[str, Kind] = {
    "wrench nan": _wrench(NAN, "panda_hand"),
    "wrench inf": _wrench(INF, "panda_hand"),
    "wrench of 1e12 N": _wrench(1e12, "panda_hand"),
    "wrench on no link": _wrench(1.0, "nowhere"),
    "wrench without a frame": _wrench(1.0, ""),
    "wrench of 9 N": _wrench(9.0, "panda_hand"),
    "twist nan": _twist(NAN),
    "twist inf": _twist(INF),
    "twist of another frame": _twist(0.1, "camera"),
    "twist of 1e6 m/s": _twist(1e6),
    "twist": _twist(0.1),
    "twist of the hand": _twist(0.1, "panda_hand"),
}


def _description(text: str) -> Kind:
    def kind(c: Campaign) -> Send:
        def send() -> None:
            c.descriptions.publish(String(data=text))
            c.good()

        return send

    return kind


DESCRIPTIONS: dict[str, Kind] = {
    "description empty": _description(""),
    "description cut off": _description("<robot"),
    "description no XML": _description("no xml"),
    "description without links": _description("<robot name='x'/>"),
    "description a web page": _description("<html><body/></html>"),
    "description of control characters": _description("\u0001" * 99),
    "description of 20 MB": _description(" " * 20_000_000),
}
