"""Logs as columns of numbers, read in parts: Parquet, NPZ, CSV, and joint states of bags; no
robot."""
