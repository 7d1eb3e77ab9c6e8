"""A policy on a robot and in other programs: its step, and the record of it in a file."""
