"""MJCF, MuJoCo's format: bodies, joints, classes, actuators, meshes and what includes bring."""
