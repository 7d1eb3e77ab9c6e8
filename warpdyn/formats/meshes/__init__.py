"""Meshes that descriptions name: surfaces, convex hulls and materials."""
