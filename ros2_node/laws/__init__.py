"""The laws that come with the node: kernels as a user's own are, which `law` takes by their names."""
