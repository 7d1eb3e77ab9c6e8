"""Execution of calls: from arrays to a kernel, and back."""
