"""A call from its arrays to a kernel, and back."""
