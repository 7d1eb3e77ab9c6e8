"""Figures of the ROS 2 node over DDS on this machine, a file for each thing measured."""
