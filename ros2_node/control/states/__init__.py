"""Measured states: messages of joints, base and external wrench, their checks, and the arrays they fill."""
