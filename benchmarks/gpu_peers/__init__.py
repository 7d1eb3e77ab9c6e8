"""warpdyn compared with other libraries on one GPU: dynamics, standing robots, contacts between bodies.

`python -m benchmarks.gpu_peers` (`__main__`) runs each library in its own process. `dynamics`, `steps`
and `scenes` each measure one library, `timing` has the clock, and `tables` prints the results.
"""
