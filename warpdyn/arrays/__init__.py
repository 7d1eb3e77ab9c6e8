"""Memory of NumPy, Torch, JAX and Warp, whatever robot it is for."""

from .protocol import A, Array, Library, View

__all__ = ["A", "Array", "Library", "View"]
