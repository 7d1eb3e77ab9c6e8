"""Figures of the ROS 2 node over DDS on this machine: `python -m benchmarks.ros2`; a file for each thing measured."""
