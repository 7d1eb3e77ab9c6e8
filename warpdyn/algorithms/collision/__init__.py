"""Gaps and contact points of two shapes."""
