"""Arithmetic of numbers or symbols: scalars, small systems, quaternions, spatial vectors."""
