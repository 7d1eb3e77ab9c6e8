"""Measurements of the ROS 2 node over DDS on this machine, one file for each case."""
