"""The public functions: their results, shapes, units and frames, and the source of each formula.

Arrays are NumPy, Torch, Warp or JAX, float32 or float64, on any device that Warp supports. Results
have the same array library, dtype and device.
`(B, n)` for B robots, or `(n,)` for one. `out=` takes an array for the result, or a tuple of arrays
where there are several results. Nothing is allocated then. `params=` takes the numbers that differ
between environments, from `model.params(...)`. Functions that use no number of the model (steps,
conversions) do not have it.

RBDA is Featherstone, Rigid Body Dynamics Algorithms (2008).
"""
