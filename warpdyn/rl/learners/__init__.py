"""Algorithms that improve a policy from the steps of its environments: our PPO, and rsl_rl's."""
