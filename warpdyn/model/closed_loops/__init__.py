"""Closed loops as data: constraints of a description, and those of a tree."""
