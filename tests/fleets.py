"""Fleets of the bundled panda without ROS, and the messages they read."""

from __future__ import annotations

from array import array
from collections import Counter

import numpy as np

import warpdyn as wd
from ros2_node.control.fleet import Fleet
from ros2_node.control.safety.gate import FAULTS, LOSSES
from ros2_node.control.settings.node_settings import Settings

MODEL = wd.load_robot("panda")
NAMES = list(MODEL.joint_names)
N = len(NAMES)
Q = np.array([0.3, -0.7, 0.2, -2.0, 0.4, 1.5, 0.1, 0.02])
LINK = """<link name="{}"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""


def panda_settings(**values):
    """Settings of the panda; `payload__mass` stands for the parameter `payload.mass`."""
    named = {name.replace("__", "."): x for name, x in values.items()}
    return Settings.of({"robot_description_file": "panda", **named})


def panda_fleet(robots=1, **values):
    return Fleet(panda_settings(**values), "", [Counter() for _ in range(robots)])


def feed(robot, now, q=Q, v=()):
    """Let a robot read a state."""
    return robot.read(NAMES, array("d", q), array("d", v), int(now * 1e9) + 1, now)


def launch(fleet, robot, now):
    """Compute, and ask the robot for its command, as the node does."""
    fleet.compute()
    answer = robot.command(now, now)
    return robot.command(now, now) if robot.note(0) else answer


def wheel_text(joint="continuous"):
    """URDF of one link that rotates on another."""
    return (
        f'<robot name="wheel">{LINK.format("a")}{LINK.format("b")}<joint name="spin" type="{joint}">'
        '<parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1" effort="0" velocity="0"/></joint></robot>'
    )


def fault_of(robot):
    """The text of a robot's latched fault, or ""."""
    return robot.gate.reason if robot.gate.phase in FAULTS else ""


def loss_of(robot):
    """The text of a robot's latched loss of state, or ""."""
    return robot.gate.reason if robot.gate.phase in LOSSES else ""


def chain_text(joints):
    """URDF of a chain. Joints j0, j1 ... rotate links l1, l2 ..., each on the previous one, l0
    first."""
    parts = [LINK.format("l0")]
    for k in range(joints):
        parts.append(
            f'{LINK.format(f"l{k + 1}")}<joint name="j{k}" type="continuous"><parent link="l{k}"/>'
            f'<child link="l{k + 1}"/></joint>'
        )
    return f'<robot name="chain">{"".join(parts)}</robot>'
