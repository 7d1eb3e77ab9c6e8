"""Logs as columns of numbers, part by part: Parquet, NPZ, CSV, and joint states of bags; no robot."""
