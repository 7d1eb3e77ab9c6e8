"""Trainings that take minutes, and environments beside others', with their results."""
