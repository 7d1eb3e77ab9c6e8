"""The algorithms, each written once: loops over the bodies of one robot, on numbers or on symbols."""
