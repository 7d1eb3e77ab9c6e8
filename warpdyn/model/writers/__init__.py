"""Descriptions written from a model: URDF and USD."""
