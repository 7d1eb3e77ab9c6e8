"""Repeated calls without the cost of the first: remembered arguments, and C functions that compare them."""
