"""The ROS 2 node of warpdyn: joint_states in, torques and poses out.

Everything but `topics`, `parameters`, `node`, `plant`, `state_source` and `demo` is free of ROS and needs NumPy and
warpdyn only: a robot's messages become columns (`joint_states`, `references`), one kernel launch computes all robots
(`dynamics`), and what leaves is gated, ramped and limited (`robot`, `torque_output`).
"""
