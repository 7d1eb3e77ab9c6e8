"""Demos: a simulated arm, or a walking robot, together with the node."""

from __future__ import annotations

from ..control.installed_command import command

run_state_source = command("ros2_node.demo.state_source")
run_plant = command("ros2_node.demo.plant")
run_teleoperation = command("ros2_node.demo.teleoperation")
run_hand = command("ros2_node.demo.teleoperation_leader")
run_walker = command("ros2_node.demo.walker")
