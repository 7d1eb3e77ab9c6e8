"""Generation of C++ from recorded programs, for the CPU, for CUDA and for export."""
