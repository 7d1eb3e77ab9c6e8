"""Memory of NumPy, Torch, JAX and Warp, whatever robot it is for."""

from .views import Array, View

__all__ = ["Array", "View"]
