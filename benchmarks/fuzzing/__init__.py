"""Random inputs that look for silent differences. `python -m benchmarks.fuzzing --help` lists the generators."""
