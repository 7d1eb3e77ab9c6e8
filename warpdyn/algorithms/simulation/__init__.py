"""One step of a robot on the ground: contacts, joint constraints and integrators."""
