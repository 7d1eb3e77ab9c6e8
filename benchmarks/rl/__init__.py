"""Trainings of several minutes and comparisons with other environments, with their results."""
