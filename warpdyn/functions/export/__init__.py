"""Programs that leave Python: C and C++ headers, extension modules and kernels compiled ahead."""
