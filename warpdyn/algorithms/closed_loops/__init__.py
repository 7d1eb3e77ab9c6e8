"""Algorithms of robots with closed loops: equations of the loops, dynamics, closed configurations."""
