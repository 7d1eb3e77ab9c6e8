"""Algorithms of robots with long branches of revolute joints, in sweeps along the bodies: the step
from a body to its parent is recorded once, so that a program grows with the number of joints."""
