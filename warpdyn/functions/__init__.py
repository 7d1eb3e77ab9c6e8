"""The public functions: their results, shapes, units and frames, and the source of each formula.

Arrays are NumPy, Torch, Warp or JAX, float32 or float64, on any device that Warp supports. Results
have the same array library, dtype and device.
They are `(B, n)` for B robots, or `(n,)` for one. `out=` takes an array for the result, or a tuple
of arrays if there are several results; the call then allocates nothing. `params=` takes the numbers
that differ between environments, from `model.params(...)`. Functions that use no number of the
model, such as `integrate` and conversions, do not have it.

RBDA is Featherstone, Rigid Body Dynamics Algorithms (2008).
"""
