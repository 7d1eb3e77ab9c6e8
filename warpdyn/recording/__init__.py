"""Algorithms run on symbols: the recorded program, and derivatives of it."""
