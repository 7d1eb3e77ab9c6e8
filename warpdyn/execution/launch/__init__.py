"""Launch of a kernel: batch shape, results, the argument vector, threads and checks of states."""
