"""MJCF, MuJoCo's format: bodies, joints, classes, actuators, meshes and included files."""
