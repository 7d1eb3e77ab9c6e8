"""Memory of NumPy, Torch, JAX and Warp, whatever robot it is for."""

from .protocol import Array, Library, View

__all__ = ["Array", "Library", "View"]
