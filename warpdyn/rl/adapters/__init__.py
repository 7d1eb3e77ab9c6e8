"""Adapters of tasks: Gymnasium's registry, TensorBoard and MuJoCo's simulation."""
