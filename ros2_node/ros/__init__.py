"""ROS 2 topics, messages, parameters and diagnostics, and their connection to the node."""
