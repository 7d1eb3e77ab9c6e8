"""The algorithms, each written once: loops over the bodies of a robot, on numbers or on symbols."""
