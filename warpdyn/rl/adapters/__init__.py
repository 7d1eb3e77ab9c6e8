"""Tasks for Gymnasium's registry, TensorBoard and MuJoCo's simulation."""
