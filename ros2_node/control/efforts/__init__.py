"""Measured joint torques: external torques, collisions, identification of a payload."""
