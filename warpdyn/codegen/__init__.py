"""A recorded program as C++, for the CPU and for CUDA."""
