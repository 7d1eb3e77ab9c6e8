"""The algorithms, each written once: loops over the bodies of a robot, evaluated on numbers or on
symbols."""
