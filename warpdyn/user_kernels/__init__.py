"""User-defined kernels: a function of one robot in NumPy notation that runs for a whole batch.

`own_kernel` turns such a function into a warpdyn function. `values` has the arrays that it computes
with, and `one_robot` the robot that it calls.
"""
