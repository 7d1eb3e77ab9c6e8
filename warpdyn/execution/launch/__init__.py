"""A kernel's launch: batch shape, results, the argument vector, threads and checks of states."""
