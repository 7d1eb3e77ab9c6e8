"""Kinds of faults in processes, time and requests. Each runs once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from .arm import ARM, Q
from .fault_messages import Kind, Send

if TYPE_CHECKING:
    from .faults import Campaign

STALE = 0.5
"""The node's `state_timeout` [s]: short enough to starve it often, long enough for a busy machine."""
DRIVER = """
import sys, time, rclpy
from array import array
from sensor_msgs.msg import JointState
rclpy.init()
node = rclpy.create_node("driver")
states = node.create_publisher(JointState, "joint_states", 10)
q = array("d", map(float, sys.argv[2].split(",")))
while True:
    message = JointState(name=sys.argv[1].split(","), position=q, velocity=array("d", [0.0] * len(q)))
    message.header.stamp = node.get_clock().now().to_msg()
    states.publish(message)
    time.sleep(0.005)
"""


def _frozen(seconds: float, states: bool = True, times: int = 1) -> Kind:
    """Fault with a stopped node process. The arm's states continue or stop."""

    def kind(c: Campaign) -> Send:
        process = c.children[0].process.pid

        def send() -> None:
            for _ in range(times):
                os.kill(process, signal.SIGSTOP)
                try:
                    c.play_for(c.good if states else _nothing, seconds)
                finally:
                    os.kill(process, signal.SIGCONT)
                c.play_for(c.good, 0.02)

        return send

    return kind


def _frozen_and_moved(c: Campaign) -> Send:
    """Fault with a stopped node process while the arm moves."""
    process, seconds = c.children[0].process.pid, float(c.random.uniform(0.05, 1.0))
    q, speed = Q.copy(), c.random.uniform(-0.5, 0.5, 7)

    def send() -> None:
        os.kill(process, signal.SIGSTOP)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            q[:] += 0.002 * speed
            c.play(lambda: c.states.publish(c.state(q, velocity=speed)), 1)
        os.kill(process, signal.SIGCONT)
        c.play(lambda: c.states.publish(c.state(q)), 20)

    return send


def _nothing() -> None:
    pass


def _silence(seconds: float) -> Kind:
    return lambda c: lambda: c.play_for(_nothing, seconds)


def _slow(period: float) -> Kind:
    """Fault with states at a low rate."""

    def kind(c: Campaign) -> Send:
        def send() -> None:
            for _ in range(5):
                c.good()
                c.play_for(_nothing, period)

        return send

    return kind


def _late(delay: float) -> Kind:
    """Fault with a burst of delayed states."""

    def kind(c: Campaign) -> Send:
        def send() -> None:
            messages = []
            end = time.monotonic() + delay
            while time.monotonic() < end:
                messages.append(c.state())
                c.play(_nothing, 1)
            for message in messages:
                c.states.publish(message)
            c.play_for(c.good, 0.02)

        return send

    return kind


def _driver(end: int, size: float, seconds: float = STALE * 1.5) -> Kind:
    """Fault with another publisher that ends or freezes. Its positions differ by up to a size [rad]."""

    def kind(c: Campaign) -> Send:
        text = ",".join(map(str, Q + c.random.uniform(-size, size, 7)))

        def send() -> None:
            process = subprocess.Popen([sys.executable, "-c", DRIVER, ",".join(ARM), text])
            try:
                before = c.node.count_publishers("joint_states")
                while c.node.count_publishers("joint_states") == before:
                    c.play(c.good, 1)
                c.play_for(c.good, 0.2)
                os.kill(process.pid, end)
                c.play_for(_nothing, seconds)
            finally:
                process.kill()
                process.wait()

        return send

    return kind


def _request(*requests: tuple[str, bool | None], rest: float = 0.0) -> Kind:
    def kind(c: Campaign) -> Send:
        def send() -> None:
            for service, on in requests:
                c.ask(f"warpdyn/{service}", on)
                c.play_for(c.good, rest)

        return send

    return kind


def refusal(name: str, value: Any) -> Kind:
    """Fault with a parameter value that must be refused."""

    def kind(c: Campaign) -> Send:
        def send() -> None:
            if c.set(name, value):
                raise RuntimeError(f"{name} = {value!r} was accepted")

        return send

    return kind


def _change_and_reset(name: str, value: Any, back: Any) -> Kind:
    """Fault with a parameter value that is accepted and then reset."""

    def kind(c: Campaign) -> Send:
        def send() -> None:
            taken = c.set(name, value)
            c.play_for(c.good, float(c.random.uniform(0.0, 0.1)))
            if not (taken and c.set(name, back)):
                raise RuntimeError(f"{name} = {value!r} was refused")

        return send

    return kind


FREEZES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.6, 0.8, 1.0, 1.5, 2.0, 3.0, 5.0)
NAN = float("nan")
ONCE: dict[str, Kind] = {
    **{f"SIGSTOP {x * 1e3:g} ms": _frozen(x) for x in FREEZES},
    **{f"SIGSTOP {x * 1e3:g} ms, no states": _frozen(x, states=False) for x in (0.05, 0.3, 0.8, 2.0)},
    "SIGSTOP 50 ms, five times": _frozen(0.05, times=5),
    "SIGSTOP 300 ms, three times": _frozen(0.3, times=3),
    "SIGSTOP while the arm moves": _frozen_and_moved,
    **{f"silence {x:g} s": _silence(x) for x in (0.1, 0.3, 0.45, 0.55, 0.75, 1.5)},
    **{f"states every {x:g} s": _slow(x) for x in (0.02, 0.1, 0.3, 0.6)},
    **{f"states held back {x:g} s": _late(x) for x in (0.1, 0.3, 0.7)},
    "a driver is killed": _driver(signal.SIGKILL, 0.0),
    "a driver freezes": _driver(signal.SIGSTOP, 0.0),
    "a second driver, killed": _driver(signal.SIGKILL, 2.0),
    "a second driver, frozen": _driver(signal.SIGSTOP, 2.0),
    "a second driver near by": _driver(signal.SIGKILL, 0.05, 0.05),
    "enable false": _request(("enable", False)),
    "enable false and true": _request(("enable", False), ("enable", True)),
    "enable while enabled": _request(("enable", True), ("enable", True)),
    "enable in turn": _request(*[("enable", k % 2 == 1) for k in range(6)], rest=0.05),
    "reset while enabled": _request(("reset", None)),
    "parameter nan": refusal("torque_scale", NAN),
    "parameter beyond its range": refusal("torque_scale", 7.0),
    "parameter of another length": refusal("torque_scale", [1.0, 1.0]),
    "parameter negative": refusal("kp", -1.0),
    "parameter a text": refusal("kd", "much"),
    "a timeout of zero": refusal("state_timeout", 0.0),
    "a wider timeout": refusal("state_timeout", 5.0),
    "no torque rate": refusal("max_torque_rate", 0.0),
    "gravity of one number": refusal("gravity", [0.0]),
    "gravity inf": refusal("gravity", [0.0, 0.0, float("inf")]),
    "a payload on no link": refusal("payload.link", "nowhere"),
    "a payload without a link": refusal("payload.mass", 1.0),
    "a negative payload": refusal("payload.mass", -1.0),
    "another mode": refusal("mode", "gravity"),
    "a description that is none": refusal("robot_description", "<robot"),
    "a description of a device": refusal("robot_description_file", "/dev/zero"),
    "effort limits of another length": refusal("effort_limits", [1.0]),
    "joints at run time": refusal("joints", ["a"]),
    "a wider twist": refusal("twist_max_speed", [9.0, 9.0]),
    "other gains": _change_and_reset("kp", 400.0, 100.0),
    "other damping": _change_and_reset("kd", 40.0, 20.0),
    "gravity of another planet": _change_and_reset("gravity", [0.0, 0.0, -3.7], [0.0, 0.0, -9.81]),
    "gravity from the side": _change_and_reset("gravity", [5.0, 0.0, -8.0], [0.0, 0.0, -9.81]),
}  # fmt: skip
