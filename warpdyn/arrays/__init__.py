"""Arrays of NumPy, Torch, JAX and Warp and their memory, independent of any robot."""

from .protocol import A, Array, Library, View

__all__ = ["A", "Array", "Library", "View"]
