"""What the node does with joint states, free of ROS."""
