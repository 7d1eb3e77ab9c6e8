"""Topics, messages, parameters and diagnostics of ROS 2, and how they are wired to the node."""
