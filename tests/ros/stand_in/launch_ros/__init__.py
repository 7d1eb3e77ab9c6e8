"""A recording stand-in for the ROS package `launch_ros`."""
