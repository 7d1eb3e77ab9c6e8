"""Random inputs that search for silent differences. `python -m benchmarks.fuzzing --help` lists them."""
