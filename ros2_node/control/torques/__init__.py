"""Torques of all robots in one launch: inverse dynamics, laws, policies, payload, friction."""
