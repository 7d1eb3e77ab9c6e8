"""A ros2_control controller for one robot: the node's guards in C++, and a package around exported dynamics."""
