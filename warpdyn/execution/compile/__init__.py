"""Compilation of a program to a loaded kernel: the cache on disk, the compiler's process and its
headers."""
