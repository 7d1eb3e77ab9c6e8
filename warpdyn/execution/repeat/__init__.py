"""Repeated calls without the overhead of the first: remembered arguments, and C functions that
compare them."""
