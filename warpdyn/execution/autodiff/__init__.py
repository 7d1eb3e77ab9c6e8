"""Calls as differentiable operations of Torch, JAX and Warp."""
