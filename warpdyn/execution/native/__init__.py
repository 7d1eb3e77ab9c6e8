"""Repeated calls from Python to a kernel in one C function: an optional folder that `execution/fast_paths`
alone enters, on tested versions of CPython, NumPy, Torch and Warp."""
