"""The public functions: what each computes, in what shapes, units and frames, and where the formula
stands.

Arrays are NumPy, Torch, Warp or JAX, float32 or float64, on any device that Warp has; results are
of the same kind.
`(B, n)` for B robots, or `(n,)` for one. `out=` takes an array for the result (a tuple of arrays
where there are several); nothing is allocated then. `params=` takes what differs from one
environment to the next, from `model.params(...)`; functions in which no number of the model enters
(steps, conversions) have none.

RBDA is Featherstone, Rigid Body Dynamics Algorithms (2008).
"""
