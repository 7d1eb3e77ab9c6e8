"""Simulation: steps, contact points, ground, drives, sensors and numbers that vary within a
batch."""
