"""Topics, parameters and diagnostics of ROS 2."""
