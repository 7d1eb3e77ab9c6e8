"""Gymnasium's MuJoCo environments as tasks of `warpdyn.rl`, and the transfer of policies."""
