"""Users' own kernels: a function of one robot in NumPy's notation, run for all of them.

`own_kernel` makes such a function one of warpdyn's; `values` is what it computes with, `one_robot` what
it asks.
"""
