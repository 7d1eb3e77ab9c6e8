"""warpdyn compared with other libraries on one GPU: dynamics, standing robots, and contacts between bodies.

`python -m benchmarks.gpu_peers` runs each library in a process of its own (`__main__`). `dynamics`, `steps` and
`scenes` measure one library each, `timing` has the clock, and `tables` prints the results.
"""
