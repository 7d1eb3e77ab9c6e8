"""Several bodies in one world: objects next to a robot, and which bodies move freely."""
