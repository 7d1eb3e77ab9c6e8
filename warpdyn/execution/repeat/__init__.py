"""Repeated calls without the checks of the first: keys, plans and the cache of a function."""
