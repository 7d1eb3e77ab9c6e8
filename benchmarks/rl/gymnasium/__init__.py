"""Gymnasium's MuJoCo environments as tasks of `warpdyn.rl`, and how policies carry over."""
