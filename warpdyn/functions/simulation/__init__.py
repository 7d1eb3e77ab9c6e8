"""Simulation: steps, contact points, ground, drives, sensors and what a batch of robots varies."""
