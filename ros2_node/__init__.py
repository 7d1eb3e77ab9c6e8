"""The ROS 2 node of warpdyn, which turns joint_states into torques and poses.

`control` does not use ROS and needs only NumPy and warpdyn. Messages become rows of a `State`
(`joint_states`, `setpoint`, `external_wrench`), one kernel launch computes all robots
(`fleet_dynamics`), outgoing torques are gated, ramped and limited (`robot`, `torque_output`), and a
`supervisor` answers requests. `ros` has topics, messages, parameters and diagnostics; its `outputs`
is the table of published outputs. `node` joins `control` and `ros`. `demo` has a simulated arm.
`joint_view` shows a robot in the browser.
"""

from __future__ import annotations

from .control.installed_command import command

run_node = command("ros2_node.node")
run_lifecycle_node = command("ros2_node.lifecycle_node")
run_view = command("ros2_node.joint_view")
