"""Calls as operations that Torch, JAX and Warp differentiate: thin edges over `warpdyn.call.derived`.

Each module has one function `run(call, compute)`: `compute` runs a call on plain arrays. Reverse passes are recorded
kernels like any other; they read the inputs again and store nothing in between.
"""
