"""Processing of joint states into torques, free of ROS."""
